/**
 * A Vite plugin that puts the one script and the one style sheet of a page into its HTML.
 *
 * Invariants: the script stands after the data, at the end of the body; no closing tag inside it can end it early;
 * the page's policy lets run this script and no other, and nothing load over a network.
 * Absent on purpose: pages of several chunks, which cannot be opened from a file.
 */
import { createHash } from "node:crypto";
import type { Plugin } from "vite";

export function inlined(): Plugin {
  return {
    name: "prony-inlined",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = Object.values(bundle).find((entry) => entry.fileName.endsWith(".html"));
      if (page?.type !== "asset") throw new Error("there is no HTML in the bundle to put the script into");
      let styles = "";
      let scripts = "";
      for (const entry of Object.values(bundle)) {
        if (entry.fileName.endsWith(".css") && entry.type === "asset") styles += String(entry.source);
        else if (entry.type === "chunk") scripts += entry.code;
        else continue;
        delete bundle[entry.fileName];
      }
      const html = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>\s*/g, "")
        .replace(/<link rel="stylesheet"[^>]*>\s*/g, "");
      const style = `<style>${styles.replaceAll("</style", "<\\/style").trim()}</style>\n</head>`;
      const code = scripts.replaceAll("</script", "<\\/script").trim();
      // A function as the replacement: `$` in the code is no pattern.
      page.source = html
        .replace(/<meta name="viewport"/, (viewport) => `${policyFor(code)}\n    ${viewport}`)
        .replace("</head>", () => style)
        .replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
    },
  };
}

/** ECharts sets styles of elements, so those within the page are allowed; scripts are by their hash. */
function policyFor(code: string): string {
  const hash = createHash("sha256").update(code).digest("base64");
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<meta http-equiv="Content-Security-Policy" content="${policy}" />`;
}
