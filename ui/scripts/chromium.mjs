/**
 * The Chromium of the system: where it is, and how it is started for tests, pictures and measurements.
 *
 * Invariants: nothing of its own is fetched in the background; no sandbox, because tests run as root in containers, and
 * only files and loopback pages are opened.
 */
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

/** Its path, or undefined where it is not installed; the environment's CHROMIUM comes first. */
export const CHROMIUM = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path && existsSync(path));

/** What to say where it is missing. */
export const MISSING = "chromium is not installed (apt-get install chromium)";

/** One browser. */
export const launch = () =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
