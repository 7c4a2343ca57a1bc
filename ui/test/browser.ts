/**
 * What the browser tests share: Chromium, pages made of fixtures, and what a page is watched for.
 *
 * Invariants: every page is opened from a file; a request or an error of the page fails the test that opened it;
 * nothing waits for a time, only for what must happen.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { CHROMIUM, MISSING, launch } from "../scripts/chromium.mjs";
import { reportOf } from "../scripts/fixture.mjs";
import type { PageFile } from "../src/schema/page";

export const UI = resolve(import.meta.dirname, "..");
const MADE = join(UI, "test/made");
const SHOTS = join(UI, "shots");

/** Why the tests cannot run here; nothing where they can. */
export const missing: string | null = !CHROMIUM
  ? MISSING
  : existsSync(join(UI, "dist/report.html"))
    ? null
    : "dist/report.html is not built (make ui)";

export { launch };

export const fixture = (name: string): PageFile =>
  JSON.parse(readFileSync(join(UI, `fixtures/${name}.json`), "utf8")) as PageFile;

/** A page under watch. */
export interface Watched {
  page: Page;
  /** Errors and warnings of the console, exceptions, and requests that left the file. */
  faults: string[];
  /** Fails where there are any, and closes. */
  done: () => Promise<void>;
}

/** As those of the browser; `isBusy`: the browser is never idle, until [`idle`] says so. */
export interface OpenOptions extends BrowserContextOptions {
  isBusy?: boolean;
}

type Held = typeof globalThis & { held: (() => void)[] };

/** In the page: keeps what waits for idle time. */
function holdIdle() {
  const held: (() => void)[] = [];
  Object.assign(globalThis, { held, requestIdleCallback: (run: () => void) => held.push(run) });
}

/** Lets a busy browser be idle until nothing waits for it any more. */
export const idle = (page: Page) =>
  page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const { held } = globalThis as Held;
    for (let run = held.shift(); run; run = held.shift()) {
      run();
      await frame();
    }
  });

/** Opens the report of `data` from a file of its own. */
export async function open(
  browser: Browser,
  name: string,
  data: unknown,
  { isBusy = false, ...options }: OpenOptions = {},
): Promise<Watched> {
  mkdirSync(MADE, { recursive: true });
  const file = join(MADE, `${name}.html`);
  writeFileSync(file, reportOf(data));
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    colorScheme: "light",
    ...options,
  });
  if (isBusy) await context.addInitScript(holdIdle);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`exception: ${error.stack ?? error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (url !== `file://${file}` && !url.startsWith("data:") && !url.startsWith("blob:"))
      faults.push(`request: ${url}`);
  });
  await page.goto(`file://${file}`);
  await page.waitForSelector("h1");
  const done = async () => {
    expect(faults).toEqual([]);
    await context.close();
  };
  return { page, faults, done };
}

/** Less than what is made before it comes into view (`NEAR` of `lazy.tsx`). */
const STEP = 800;

/** Scrolls through the page until every section is made and the end stays the end. */
export async function readAll(page: Page) {
  await page.evaluate(async (step) => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (let y = 0; y < document.documentElement.scrollHeight; y += step) {
      scrollTo({ top: y, behavior: "instant" });
      await frame();
    }
    scrollTo({ top: 0, behavior: "instant" });
    await frame();
  }, STEP);
  await page.waitForFunction(() => document.querySelector(".later") === null);
}

/** Makes everything that paper would have, on the screen. */
export const asForPaper = (page: Page) => page.evaluate(() => void dispatchEvent(new Event("beforeprint")));

interface ChartElement extends Element {
  __pronyOption?: () => unknown;
}

/** A series as ECharts holds it, as far as it is data. */
export interface ShownSeries {
  name: string;
  data: unknown[];
  markLine?: { data: { xAxis?: number; yAxis?: number }[] };
  markArea?: { data: { xAxis?: number; yAxis?: number }[][] };
}

/** The series of each chart of one kind within `scope`, in the order of the page. */
export async function seriesOf(page: Page, kind: string, scope = "main"): Promise<ShownSeries[][]> {
  // What is no data (functions, what refers to itself) is left behind in the page.
  const text = await page.$$eval(`${scope} [data-chart="${kind}"]`, (elements) =>
    JSON.stringify(
      (elements as ChartElement[]).map((element) => {
        const option = element.__pronyOption?.() as { series?: Record<string, unknown>[] } | undefined;
        const marks = (of: unknown) =>
          of && { data: JSON.parse(JSON.stringify((of as { data: unknown }).data)) as unknown };
        return (option?.series ?? []).map(({ name, data, markLine, markArea }) => ({
          name,
          data,
          markLine: marks(markLine),
          markArea: marks(markArea),
        }));
      }),
    ),
  );
  return JSON.parse(text) as ShownSeries[][];
}

/** What people and programs find in the table with this caption. */
export interface ShownTable {
  head: string[];
  /** The rows, without those that only say more of the row above. */
  rows: string[][];
  /** Headings of groups, and lines that say more of a row. */
  groups: string[];
  below: string[];
}

export async function tableOf(page: Page, caption: string): Promise<ShownTable> {
  const table = page.getByRole("table", { name: caption, exact: true }).first();
  await table.waitFor();
  return table.evaluate((element) => {
    const text = (of: Element) => (of.textContent ?? "").replaceAll("\u00a0", " ");
    const texts = (selector: string) => [...element.querySelectorAll(selector)].map(text);
    const rows = [...element.querySelectorAll("tbody tr:not(.group, .reason)")];
    return {
      head: texts("thead th"),
      rows: rows.map((row) => [...row.children].map(text)),
      groups: texts("tr.group"),
      below: texts("tr.reason"),
    };
  });
}

/** All numbers that the charts of one kind hold in their data. */
export async function numbersOf(page: Page, kind: string): Promise<Set<number>> {
  const found = await page.$$eval(`[data-chart="${kind}"]`, (elements) => {
    const numbers: number[] = [];
    const walk = (value: unknown, depth: number) => {
      if (typeof value === "number") numbers.push(value);
      else if (value !== null && typeof value === "object" && depth < 8) {
        for (const one of Object.values(value)) walk(one, depth + 1);
      }
    };
    for (const element of elements as ChartElement[]) {
      const option = element.__pronyOption?.() as { series?: { data?: unknown }[] } | undefined;
      for (const series of option?.series ?? []) walk(series.data, 0);
    }
    return numbers;
  });
  return new Set(found);
}

/** Where pictures for people are kept. */
export function shotPath(name: string): string {
  mkdirSync(SHOTS, { recursive: true });
  return join(SHOTS, `${name}.png`);
}

export const shot = (page: Page, name: string) => page.screenshot({ path: shotPath(name), fullPage: true });
