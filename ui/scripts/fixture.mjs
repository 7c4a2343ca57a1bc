/**
 * Makes report pages for tests and for looking at: puts the data of a run into the built page, as the binary does.
 *
 * Usage: node scripts/fixture.mjs PAGE.json OUT.html, or
 *        node scripts/fixture.mjs RUN-FOLDER OUT.html   (run.json and analysis.json only: no details, no profiles)
 * Invariant: the data is escaped as `prony` escapes it: nothing in it can end the script element.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const UI = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const PLACE = "__PRONY_PAGE__";

/** The page of a run folder without its details. */
export function pageOfFolder(folder) {
  const read = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
  const run = read("run.json");
  return {
    schema: "prony.page/3",
    prony: run.versions.prony ?? "",
    lang: "en",
    run,
    analysis: read("analysis.json"),
    details: [],
    profiles: [],
    profiles_refused: [],
  };
}

/** `<`, `>`, `&` and the line ends of JavaScript as escapes, which JSON knows. */
export const escaped = (page) =>
  JSON.stringify(page).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** The whole report. */
export function reportOf(page) {
  const html = readFileSync(join(UI, "dist/report.html"), "utf8");
  if (html.split(PLACE).length !== 2) throw new Error(`dist/report.html must have ${PLACE} once`);
  return html.replace(PLACE, () => escaped(page));
}

/** A page file, or the one of a run folder. */
export const pageOf = (path) =>
  existsSync(join(path, "run.json")) ? pageOfFolder(path) : JSON.parse(readFileSync(path, "utf8"));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , from, to] = process.argv;
  if (!from || !to) throw new Error("usage: node scripts/fixture.mjs PAGE.json|RUN-FOLDER OUT.html");
  writeFileSync(to, reportOf(pageOf(from)));
}
