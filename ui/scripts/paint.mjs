/**
 * Measures when the largest part of a page is painted (largest contentful paint), in headless Chromium.
 *
 * Usage: node scripts/paint.mjs [--loads 7] FILE_OR_URL...
 * Prints for each the median, the extremes and the element that was painted, as JSON lines; exit code 2 where Chromium
 * is missing.
 * Invariants: every load is a fresh context, so nothing is cached; only files and loopback URLs are opened.
 * Absent on purpose: a limit. A time is no pass mark here; the figures belong into a note with their machine.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { CHROMIUM, MISSING, launch } from "./chromium.mjs";

/** The browser gives the last candidate once nothing is painted for so long. */
const SETTLED_MS = 500;

const { values, positionals } = parseArgs({
  options: { loads: { type: "string", default: "7" } },
  allowPositionals: true,
});
if (!CHROMIUM || positionals.length === 0) {
  console.error(CHROMIUM ? "name a file or a loopback URL" : MISSING);
  process.exit(2);
}

/** Collects candidates in the page; runs before anything of it. */
const observe = () => {
  window.painted = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const element = entry.element?.id || entry.element?.tagName || "";
      window.painted.push({ ms: entry.startTime, element, at: performance.now() });
    }
  }).observe({ type: "largest-contentful-paint", buffered: true });
};

async function once(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(observe);
  await page.goto(url, { waitUntil: "load" });
  await page.waitForFunction(
    (ms) => window.painted.length > 0 && performance.now() - window.painted.at(-1).at > ms,
    SETTLED_MS,
  );
  const last = await page.evaluate(() => window.painted.at(-1));
  await context.close();
  return last;
}

const browser = await launch();
for (const name of positionals) {
  const url = /^http:\/\/(127\.|localhost|\[::1\])/.test(name) ? name : pathToFileURL(resolve(name)).href;
  const all = [];
  for (let load = 0; load < Number(values.loads); load += 1) all.push(await once(browser, url));
  all.sort((a, b) => a.ms - b.ms);
  const ms = all.map((one) => Math.round(one.ms));
  const middle = all[Math.floor(all.length / 2)];
  console.log(
    JSON.stringify({
      page: name,
      median_ms: Math.round(middle.ms),
      least_ms: ms[0],
      most_ms: ms.at(-1),
      element: middle.element,
    }),
  );
}
await browser.close();
