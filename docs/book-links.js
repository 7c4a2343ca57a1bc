// A preprocessor of mdBook: links that leave docs/ or lead to a folder become plain text, because the site has neither.
// It reads [context, book] as JSON from standard input and writes the book; every other text stays as it is. Links in
// code are none, but none of ours look like one. Nothing is fetched, and no file is written.

"use strict";

const path = require("path");

/** Whether a link of a page leads to what the site does not have: a folder, or a file outside of the documents. */
function leaves(page, link) {
  const file = link.split("#")[0];
  if (file === "" || /^[a-z]+:/i.test(file)) return false;
  if (path.posix.extname(file) === "") return true;
  return path.posix.normalize(path.posix.join(path.posix.dirname(page), file)).startsWith("..");
}

/** The page's text with such links as text; what was a bare path stays readable as one. */
function rewritten(page, content) {
  return content.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, picture, text, link) =>
    !picture && leaves(page, link) ? text : whole,
  );
}

function visit(items) {
  for (const item of items) {
    const chapter = item.Chapter;
    if (!chapter) continue;
    if (chapter.path) chapter.content = rewritten(chapter.path, chapter.content);
    visit(chapter.sub_items);
  }
}

if (process.argv[2] === "supports") {
  process.exit(0);
}
let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (part) => (text += part));
process.stdin.on("end", () => {
  const [, book] = JSON.parse(text);
  visit(book.items ?? book.sections);
  process.stdout.write(JSON.stringify(book));
});
