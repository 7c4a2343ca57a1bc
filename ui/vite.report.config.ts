/**
 * Builds `dist/report.html`: one file with its script and style inside, and the placeholder `__PRONY_PAGE__` that
 * the binary replaces by the data of a run.
 *
 * Invariants: nothing is loaded over a network; the same sources give the same bytes.
 * Absent on purpose: source maps (they would double the file) and hashes in names.
 */
import { resolve } from "node:path";
import { defineConfig } from "vite";
import { inlined } from "./scripts/inlined";

export default defineConfig({
  root: resolve(import.meta.dirname),
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [inlined()],
  build: {
    outDir: "dist",
    emptyOutDir: false,
    assetsInlineLimit: 100_000_000,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    target: "es2022",
    chunkSizeWarningLimit: 2500,
    rolldownOptions: {
      input: resolve(import.meta.dirname, "report.html"),
      output: { codeSplitting: false },
    },
  },
});
