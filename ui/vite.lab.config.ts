/**
 * Builds `dist/lab/`: `index.html` and its assets under relative names, which `prony serve` embeds.
 *
 * Invariants: no script stands inside the HTML, so that a policy without inline scripts can be sent with it.
 * Absent on purpose: anything from another origin.
 */
import { renameSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** Vite names the page after its source; a server wants `index.html`. */
function index(): Plugin {
  return {
    name: "prony-index",
    closeBundle() {
      const lab = resolve(import.meta.dirname, "dist/lab");
      renameSync(join(lab, "lab.html"), join(lab, "index.html"));
    },
  };
}

export default defineConfig({
  root: resolve(import.meta.dirname),
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [index()],
  build: {
    outDir: "dist/lab",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    target: "es2022",
    chunkSizeWarningLimit: 2500,
    rolldownOptions: { input: resolve(import.meta.dirname, "lab.html") },
  },
});
