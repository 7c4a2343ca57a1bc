/**
 * The built report in Chromium: what it shows is what it was given, and nothing else happens.
 *
 * Invariant: expected values are read from the page file, never written down here.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { many } from "../scripts/many.mjs";
import type {
  AgentSummary,
  CellSummary,
  FleetSummary,
  NotableRequest,
  PageFile,
  TrialRequest,
} from "../src/schema/page";
import {
  UI,
  asForPaper,
  fixture,
  idle,
  launch,
  missing,
  numbersOf,
  open,
  readAll,
  shot,
  shotPath,
} from "./browser";

const AXE = readFileSync(join(UI, "node_modules/axe-core/axe.min.js"), "utf8");
const FIXTURES = ["demo", "knee", "layers", "throttled", "gc"];

/** Every section once: a whole page, and of others what it has not. */
const AXED: Record<string, string[]> = {
  demo: ["html"],
  layers: ["#factors", "#layers"],
  gc: ["#findings", "#memory"],
  events: ["#events", "#time"],
  soak: ["#soak", "#environment"],
  search: ["#capacity"],
  profiles: ["#profiles"],
};

if (missing !== null) console.log(`skipped: the browser tests of the report, because ${missing}`);

const numbers = (values: (number | null | undefined)[]) =>
  values.filter((value): value is number => typeof value === "number");

/** Which numbers each kind of chart must hold. */
function expected(page: PageFile): Record<string, number[]> {
  const { analysis } = page;
  const KEY = ["throughput", "p50", "p99", "error_rate", "cpu_per_request", "memory"];
  const compared = analysis.comparisons.filter(
    ({ metric, basis, verdict }) => KEY.includes(metric) && basis !== "difference" && verdict !== "refused",
  );
  const layers = (analysis.layers ?? []).flatMap(({ metrics }) => metrics.flatMap((metric) => metric.layers));
  const rows = (analysis.capacity ?? []).flatMap((capacity) => capacity.rows);
  return {
    forest: numbers(compared.slice(0, KEY.length).map(({ ratio }) => ratio)),
    strips: numbers(
      analysis.trials.map(({ values }) => values.find(({ metric }) => metric === "p99")?.value),
    ),
    percentiles: analysis.cells.flatMap(({ curve }) =>
      curve.filter(({ quantile }) => quantile < 1).map(({ ns }) => ns),
    ),
    // What drains is no load any more, and is not drawn.
    overview: analysis.trials.flatMap(({ series }) =>
      series.filter(({ phase }) => phase && phase !== "drain").map((point) => point.throughput_per_s),
    ),
    ladder: numbers(rows.flatMap(({ throughput_per_s, p95_ns }) => [throughput_per_s.value, p95_ns.value])),
    waterfall: numbers(layers.flatMap(({ place }) => [place?.from_ns, place?.to_ns])),
    memory: numbers(
      analysis.cells.flatMap(({ memory_view: view }) =>
        view && view.ends_ns.length > 1 ? view.series.flatMap(({ values }) => values) : [],
      ),
    ),
    heat: page.details.slice(0, 1).flatMap(({ heat }) => heat?.rows.flat().filter((n) => n > 0) ?? []),
  };
}

/** A text without the spaces at which lines may not break. */
const said = async (page: Page, selector: string) =>
  (await page.textContent(selector))?.replaceAll("\u00a0", " ");

/** Two agents, of which the second delivered too little in two trials. */
function fleetOf(): FleetSummary {
  const gates = (failed: number) => [
    { gate: "fleet_share", trials: 6, failed },
    { gate: "fleet_clock", trials: 6, failed: 0 },
    { gate: "fleet_lag", trials: 6, failed: 0 },
    { gate: "fleet_steal", trials: 0, failed: 0 },
  ];
  const agent = (name: string, failed: number, more: Partial<AgentSummary>): AgentSummary => ({
    name,
    host: `${name}.internal`,
    share: 0.5,
    offset_ns: -420_000,
    bound_ns: 31_000,
    apart_ns: 0,
    delivered_least: 1,
    delivered_most: 1,
    pacer_lag_p99_ns: 12_000,
    response_p50_ns: 1_100_000,
    response_p99_ns: 2_300_000,
    reconnects: 0,
    gates: gates(failed),
    ...more,
  });
  const late = {
    delivered_least: 0.97,
    delivered_most: 0.995,
    steal_share: 0.07,
    p99_of_others: { ratio: 1.4, interval: { low: 1.21, high: 1.62 }, p: 0.0316 },
  };
  const text = {
    id: "agents.compared.differs",
    text: "Agent load-2 differs most: its p99 was 1.40 times that of the others.",
    args: {
      agent: "load-2",
      quantile: "p99",
      ratio: "1.40",
      low: "1.21",
      high: "1.62",
      blocks: { id: "count.blocks", text: "6 blocks", args: { n: "6" } },
    },
  };
  return {
    trials: 6,
    agents: [agent("load-1", 0, {}), agent("load-2", 2, late)],
    p50_spread: 1.1,
    p99_spread: 1.4,
    compared: { blocks: 6, blocks_needed: 6, differ: ["load-2"], text },
  };
}

/** Lists a request of each kind; the slowest has spans, each within the one before. Names are those of a hostile target. */
function plantRequests(cell: CellSummary, name: string) {
  const one = (number: number, more: Partial<NotableRequest>): TrialRequest => ({
    trial: 3,
    request: {
      request: number,
      name,
      intended_ns: 5_000_000,
      wait_ns: 40_000,
      response_ns: 12_000_000,
      status: 200,
      trace: { trace_id: number.toString(16).padStart(32, "0"), span_id: "0".repeat(16), sampled: true },
      ...more,
    },
  });
  const slowest = one(17, {});
  cell.notable = {
    slowest: [slowest],
    slowest_sampled: [one(18, {})],
    failures: [one(19, { status: 500, error: "unexpected_status" })],
  };
  const times = { duration_ns: 8_000_000, self_ns: 3_000_000, self_share: 0.25 };
  const spans = Array.from({ length: 12 }, (_, depth) => ({ name, service: name, depth, ...times }));
  const { trial, request } = slowest;
  cell.spans = [{ trial, cell: cell.cell, request, outside_ns: 4_000_000, spans, spans_left_out: 5 }];
}

/** Opens the folds within these places, whose content is made then. */
async function openFolds(page: Page, places: string[]) {
  const folds = places.map((place) => `${place} details`).join();
  await page.$$eval(folds, (all) => all.forEach((one) => one.setAttribute("open", "")));
  await page.waitForFunction(
    (of) => [...document.querySelectorAll(of)].every((fold) => fold.children.length > 1),
    folds,
  );
}

/** What axe finds serious in these places, of all its rules or of some. */
async function seriousOf(page: Page, places: string[], rules?: string[]): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(
    async ([include, runOnly]) => {
      interface Violation {
        id: string;
        impact: string;
        nodes: { html: string; failureSummary: string }[];
      }
      interface Axe {
        run: (places: string[], options: { runOnly?: string[] }) => Promise<{ violations: Violation[] }>;
      }
      const absent = include.filter((place) => document.querySelector(place) === null);
      const { axe } = window as unknown as { axe: Axe };
      const { violations } = await axe.run(include, runOnly ? { runOnly } : {});
      const serious = violations
        .filter(({ impact }) => ["serious", "critical"].includes(impact))
        .map(({ id, nodes }) => {
          const where = nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`);
          return `${id}: ${where.join(" | ")}`;
        });
      return [...absent.map((place) => `${place} is not there`), ...serious];
    },
    [places, rules] as const,
  );
}

/** Elements that no report has: what foreign markup would have become. */
const foreign = (page: Page) =>
  page.evaluate(() => ({
    elements: document.querySelectorAll("img, iframe, object, embed, form, video, audio, base, marquee")
      .length,
    hit: (window as { hit?: unknown }).hit ?? null,
  }));

/** Every text of the document in place of which an attack stands, but for those that programs read. */
function hostile(page: PageFile, text: string): PageFile {
  const copy = structuredClone(page);
  const { analysis, run } = copy;
  // What has no id is translated by its text.
  const said = { text };
  Object.assign(analysis, { question: text, answer: said });
  Object.assign(analysis.belief, { summary: said });
  for (const note of analysis.belief.notes) Object.assign(note, { text: said, remedy: said });
  for (const cell of analysis.cells)
    Object.assign(cell, { label: text + cell.label, target: text + cell.target, load: text });
  for (const one of analysis.comparisons) {
    Object.assign(one, { a_target: text + one.a_target, b_target: text + one.b_target, load: text });
  }
  for (const claim of analysis.claims) Object.assign(claim, { text, evidence: said });
  for (const trial of analysis.trials) Object.assign(trial, { outcome: "void", reasons: [text] });
  const findings = [...(analysis.findings ?? []), ...(analysis.why ?? []).flatMap((why) => why.findings)];
  for (const finding of findings) {
    Object.assign(finding, {
      text: said,
      remedy: said,
      source: text,
      evidence: [{ what: said, value: said, limit: said, from: text }],
    });
  }
  for (const why of analysis.why ?? [])
    Object.assign(why, { label: text, answer: said, ruled_out: [{ cause: "swap", text: said }] });
  Object.assign(run, {
    id: text,
    started_wall: text,
    command: ["prony", text],
    experiment_text: text,
    versions: { [text]: text },
  });
  Object.assign(run.plan, { name: text });
  for (const fact of run.environment.facts)
    Object.assign(fact, { title: said, value: said, effect: said, remedy: said });
  copy.details = analysis.trials.slice(0, 2).map(({ id, cell, series }) => ({
    id,
    cell,
    t_ns: series.map(({ t_ns }) => t_ns),
    counters: [{ source: text, name: text, kind: "gauge", unit: null, values: series.map(() => 1) }],
    events: [{ t_ns: 1e9, ended_ns: 2e9, name: text }],
    log_tail: [text, "second line"],
  }));
  copy.profiles = [
    {
      cell: analysis.cells[0]!.cell,
      label: text,
      kind: "cpu",
      name: text,
      origin: text,
      unit: "samples",
      total: 10,
      frames: {
        name: "all",
        value: 10,
        children: [{ name: text, value: 10, children: [{ name: text, value: 5 }] }],
      },
      top: [{ function: text, flat: 5, flat_share: 0.5, cumulative: 10, cumulative_share: 1 }],
      notes: [said],
    },
  ];
  return copy;
}

/** Bins as the older fixtures have none: between neighbours of the curve lies what they differ by. */
const binsOf = (curve: PageFile["analysis"]["cells"][number]["curve"]) =>
  curve.slice(1).map(({ quantile, ns }, at) => ({
    from_ns: curve[at]!.ns,
    to_ns: Math.max(ns, curve[at]!.ns + 1),
    share: quantile - curve[at]!.quantile,
  }));

/** Width and number of distinct colours of a PNG, as the browser reads it. */
const colours = (page: Page, base64: string) =>
  page.evaluate(async (data) => {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const on = canvas.getContext("2d")!;
    on.drawImage(image, 0, 0);
    const pixels = new Uint32Array(on.getImageData(0, 0, image.width, image.height).data.buffer);
    return { width: image.width, colours: new Set(pixels).size };
  }, base64);

describe.skipIf(missing !== null)("report.html", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  it.each(FIXTURES)("shows the data of %s, without an error and without a request", async (name) => {
    const data = fixture(name);
    const { page, done } = await open(browser, name, data);
    expect(await said(page, "h1")).toBe(data.analysis.question);
    expect(await said(page, ".answer")).toBe(data.analysis.answer.text);
    await readAll(page);
    await shot(page, `${name}-light`);
    await asForPaper(page);
    for (const [kind, values] of Object.entries(expected(data))) {
      const shown = await numbersOf(page, kind);
      const lost = values.filter((value) => !shown.has(value));
      expect(
        lost.slice(0, 5),
        `${lost.length} of ${values.length} values of ${kind} are not in the page`,
      ).toEqual([]);
    }
    await done();
  });

  it("has values of each of these kinds of charts to look for", () => {
    const pages = FIXTURES.map((name) => expected(fixture(name)));
    for (const kind of Object.keys(pages[0]!)) {
      expect(
        pages.some((values) => (values[kind] ?? []).length > 0),
        kind,
      ).toBe(true);
    }
  });

  it("gives each chart as a picture with its heading, as wide as it is seen and not empty", async () => {
    for (const name of ["demo", "knee"]) {
      const data = fixture(name);
      for (const cell of data.analysis.cells) cell.histogram = binsOf(cell.curve);
      const { page, done } = await open(browser, `pictures-${name}`, data);
      await page.$$eval("details", (all) => all.forEach((fold) => fold.setAttribute("open", "")));
      await page.waitForSelector("[data-chart='histogram'] svg");
      await readAll(page);
      const charts = await page.locator("[data-chart]:has(.chart-plot:visible)").all();
      for (const chart of charts) {
        const kind = await chart.getAttribute("data-chart");
        const [file] = await Promise.all([
          page.waitForEvent("download"),
          // As a person does it: of clicks by script, Chromium allows a page ten downloads.
          chart.locator(".chart-save").press("Enter"),
        ]);
        expect(file.suggestedFilename()).toMatch(new RegExp(`${kind}\\.png$`));
        const picture = await colours(page, readFileSync(await file.path()).toString("base64"));
        const seen = await chart.locator(".chart-plot").evaluate((plot) => plot.clientWidth);
        expect(picture.width, kind!).toBe((seen + 32) * 2);
        expect(picture.colours, `${kind}: heading, axis and values`).toBeGreaterThan(8);
      }
      await done();
    }
  });

  it("leaves out what has no data, in the page and in the contents alike", async () => {
    const data = fixture("demo");
    const { page, done } = await open(browser, "left-out", data);
    const ids = await page.$$eval("main section", (all) => all.map(({ id }) => id));
    const links = await page.$$eval(".contents a", (all) => all.map((one) => one.getAttribute("href")));
    expect(links).toEqual(ids.map((id) => `#${id}`));
    for (const absent of ["agents", "soak", "layers", "events", "profiles", "factors"])
      expect(ids).not.toContain(absent);
    await done();
  });

  it("changes language and theme, and keeps the data as it is", async () => {
    const data = fixture("demo");
    const { page, done } = await open(browser, "switches", data);
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    await page.getByRole("button", { name: "中文" }).click();
    expect(await page.getAttribute("html", "lang")).toBe("zh-CN");
    expect(await page.textContent("#belief h2")).toBe("这些数字可信吗？");
    expect(await said(page, "h1")).toBe(data.analysis.question);
    await page.locator(".controls select").selectOption("dark");
    expect(await page.getAttribute("html", "data-theme")).toBe("dark");
    expect(await ground()).not.toBe(light);
    await readAll(page);
    await shot(page, "demo-dark-zh");
    await page.reload();
    await page.waitForSelector("h1");
    expect(await page.getAttribute("html", "lang"), "the choice is remembered").toBe("zh-CN");
    expect(await page.getAttribute("html", "data-theme")).toBe("dark");
    await done();
  });

  it("follows the theme of the system", async () => {
    const { page, done } = await open(browser, "system", fixture("demo"), { colorScheme: "dark" });
    expect(await page.getAttribute("html", "data-theme")).toBe("dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    await done();
  });

  it("opens in the language that the file asks for", async () => {
    const { page, done } = await open(browser, "opens-zh", { ...fixture("demo"), lang: "zh" });
    expect(await page.textContent("#belief h2")).toBe("这些数字可信吗？");
    await done();
  });

  it("tells the sentences of the analysis in Chinese, and has the very same ones back in English", async () => {
    const data = fixture("throttled");
    const { analysis } = data;
    const { page, done } = await open(browser, "told", { ...data, lang: "zh" });
    const answer = () => said(page, ".answer");
    expect(await answer()).toBe(
      "reference 在每秒 600 个请求（32 个连接）下的平均响应时间为 385 µs；无区间：需要 5 个试次，实有 2 个，请再运行 3 个区组。",
    );
    const [worst] = analysis.belief.notes;
    await page.$$eval("#belief .notes details", (all) =>
      all.forEach((fold) => fold.setAttribute("open", "")),
    );
    expect(await said(page, "#belief .notes li div p.remedy")).toBe("消除这些原因，再重新运行实验");
    expect(await page.textContent("#belief .notes li div")).toContain("3 个试次中有 1 个作废（试次 3）");
    expect(await said(page, "h1"), "the question is the user's").toBe(analysis.question);
    await readAll(page);
    const english = await page.locator("main [lang=en]").allTextContents();
    expect(
      english.filter((text) => / /.test(text) && !/^(METHOD|AMD|Intel)/.test(text)),
      "sentences left",
    ).toEqual([]);
    await page.keyboard.press("l");
    expect(await answer()).toBe(analysis.answer.text);
    expect(await said(page, "#belief .notes li div")).toContain(worst!.text.text);
    expect(await page.locator("main [lang=en]:not(.source, button)").count()).toBe(0);
    await done();
  });

  it("begins a sentence that stands alone with a capital, and none with a name that has none", async () => {
    const [sentence, name] = [fixture("events"), fixture("layers")];
    for (const data of [sentence, name]) {
      const { page, done } = await open(browser, "capital", data);
      const answer = data.analysis.answer.text;
      const isName = data.analysis.cells.some(({ target }) => answer.startsWith(target));
      expect(isName).toBe(data === name);
      const [first = ""] = answer;
      expect(await said(page, ".answer")).toBe((isName ? first : first.toUpperCase()) + answer.slice(1));
      const clauses = await page.locator(".answer .clause").allTextContents();
      expect(clauses).toHaveLength(answer.split("; ").length);
      await done();
    }
  });

  it("keeps a hostile sentence as text, and marks it as English on the Chinese page", async () => {
    const data = fixture("gc");
    const hostile = `<img src=x onerror="window.hacked=1"> ${"run 3 more blocks: ".repeat(300)}`;
    data.analysis.answer = { text: hostile };
    data.analysis.belief.summary = { text: hostile };
    const { page, done } = await open(browser, "told-hostile", { ...data, lang: "zh" });
    expect(await page.textContent(".answer [lang=en]")).toContain("<img src=x");
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    await done();
  });

  it("can be read with the keyboard alone", async () => {
    const { page, done } = await open(browser, "keyboard", fixture("demo"));
    const focused = () => page.evaluate(() => document.activeElement?.id ?? "");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("skip");
    expect(await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)).toBe("solid");
    await page.keyboard.press("Enter");
    expect(await focused()).toBe("content");
    const ids = await page.$$eval("main section", (all) => all.map(({ id }) => id));
    for (const id of ids) {
      await page.keyboard.press("j");
      expect(await focused()).toBe(id);
    }
    await page.keyboard.press("k");
    expect(await focused()).toBe(ids.at(-2));
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog:not([open])", { state: "attached" });
    await page.keyboard.press("l");
    await page.waitForSelector("html[lang=zh-CN]");
    await page.keyboard.press("t");
    await page.waitForSelector("html[data-theme=dark]");
    await done();
  });

  it("has no chart before it is near or time is left, and few rows before they are asked for, with 500 trials", async () => {
    const data = many(fixture("demo"));
    const { page, done } = await open(browser, "many", data, { isBusy: true });
    const opened = await page.evaluate(() => performance.now());
    const drawn = () => page.locator("[data-chart] svg, [data-chart] canvas").count();
    const early = await drawn();
    console.log(
      `500 trials: ${Math.round(opened)} ms from the request to an answer of the page, ${early} charts drawn`,
    );
    expect(early).toBeLessThan(3);
    await readAll(page);
    expect(await drawn()).toBeGreaterThan(early);
    const rows = page.locator("#data table.dense tbody tr");
    expect(await rows.count()).toBeLessThan(100);
    await page.getByRole("button", { name: "Show all 500 rows" }).click();
    expect(await rows.count()).toBeGreaterThanOrEqual(500);
    await done();
  });

  it.each(FIXTURES)(
    "makes all of %s without scrolling, for captures and for a search in the page",
    async (name) => {
      const { page, done } = await open(browser, `whole-${name}`, fixture(name), { isBusy: true });
      const last = page.locator("main section").last();
      const found = (text: string) =>
        page.evaluate((text) => {
          getSelection()?.removeAllRanges();
          return (globalThis as unknown as { find: (text: string) => boolean }).find(text);
        }, text);
      expect(await page.locator(".later").count()).toBeGreaterThan(0);
      const unmade = await last.evaluate((one) => one.textContent!);
      await idle(page);
      expect(await page.locator(".later").count()).toBe(0);
      const visible = page.locator("[data-chart] .chart-plot:visible");
      const empty = await visible.evaluateAll(
        (all) => all.filter((one) => !one.querySelector("svg, canvas")).length,
      );
      expect(empty).toBe(0);
      const heading = await last.locator("h2").first().innerText();
      const cell = (await last.locator(":is(td, dd, p, li):visible").allInnerTexts()).find((one) =>
        /\w{4}/.test(one),
      )!;
      const text = cell.split("\n")[0]!.slice(0, 30).trim();
      expect(unmade).not.toContain(text);
      expect([await found(heading), await found(text)], text).toEqual([true, true]);
      await done();
    },
  );

  it.each([
    ["knee", 390],
    ["knee", 320],
    ["soak", 320],
    ["profiles", 320],
  ])("%s fits a phone of %d pixels", async (name, width) => {
    const { page, done } = await open(browser, `phone-${name}-${width}`, fixture(name), {
      viewport: { width, height: 800 },
    });
    await readAll(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await shot(page, `${name}-phone-${width}`);
    await done();
  });

  it("stacks the rows of text tables on a phone, as the same tables for the ear, and not on paper", async () => {
    const { page, done } = await open(browser, "stacked", fixture("soak"), {
      viewport: { width: 390, height: 800 },
    });
    await readAll(page);
    const tables = page.locator("table.stacked");
    expect(await tables.count()).toBeGreaterThan(1);
    const beside = () =>
      tables.evaluateAll((all) => all.filter((one) => getComputedStyle(one).display === "table").length);
    expect(await beside()).toBe(0);
    expect(
      await tables.evaluateAll(
        (all) => all.filter(({ parentElement: box }) => box!.scrollWidth > box!.clientWidth).length,
      ),
    ).toBe(0);
    const { caption, row, head } = await tables.first().evaluate((one) => ({
      caption: document.getElementById(one.getAttribute("aria-labelledby")!)!.textContent!,
      row: one.querySelector("tbody th[scope=row]")!.textContent!,
      head: one.querySelector("thead th")!.textContent!,
    }));
    const table = page.getByRole("table", { name: caption, exact: true });
    expect(await table.getByRole("rowheader", { name: row }).count()).toBe(1);
    expect(await table.getByRole("columnheader", { name: head }).count()).toBe(1);
    const label = await table
      .locator("td[data-label]")
      .first()
      .evaluate((cell) => [getComputedStyle(cell, "::before").content, cell.getAttribute("data-label")!]);
    expect(label[0]).toContain(label[1]!);
    const serious = await seriousOf(page, ["#environment"]);
    expect(serious).toEqual([]);
    await page.emulateMedia({ media: "print" });
    expect(await beside()).toBe(await tables.count());
    await done();
  });

  it.each(["demo", "events", "layers", "soak", "search"])(
    "prints a summary of %s on two pages, and is whole again",
    async (name) => {
      const { page, done } = await open(browser, `summary-${name}`, fixture(name));
      // The dialog of the browser, which nobody would close here.
      await page.evaluate(() => (window.print = () => {}));
      await page.keyboard.press("s");
      const pdf = await page.pdf({ format: "A4", printBackground: true });
      const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      expect(pages).toBeGreaterThan(0);
      expect(pages).toBeLessThanOrEqual(2);
      expect(await page.getAttribute("html", "data-print"), "after printing").toBeNull();
      await page.evaluate(() => (document.documentElement.dataset.print = "summary"));
      expect(await page.locator(".shortened").isVisible(), "said on paper only").toBe(false);
      await page.emulateMedia({ media: "print" });
      expect(await page.locator(".shortened").isVisible(), "that lists are cut").toBe(true);
      expect(await page.locator("#data").isVisible()).toBe(false);
      await done();
    },
  );

  it("prints everything, in light", async () => {
    const { page, done } = await open(browser, "print", fixture("layers"), { colorScheme: "dark" });
    const pdf = await page.pdf({ format: "A4", printBackground: true });
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    expect(pages, "a page that was made lazily would be short").toBeGreaterThan(8);
    expect(await page.getAttribute("html", "data-theme"), "dark again after printing").toBe("dark");
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await asForPaper(page);
    expect(await page.getAttribute("html", "data-theme")).toBe("light");
    expect(await page.locator("details:not([open])").count()).toBe(0);
    expect(await page.locator(".later").count()).toBe(0);
    expect(await page.locator(".controls").isVisible()).toBe(false);
    const undrawn = await page.$$eval(
      "[data-chart='waterfall']",
      (all) => all.filter((one) => !one.querySelector("svg path")).length,
    );
    expect(undrawn).toBe(0);
    await done();
  });

  it.each(["light", "dark"] as const)("has no serious finding of axe (%s)", async (colorScheme) => {
    for (const [name, sections] of Object.entries(AXED)) {
      const { page, done } = await open(browser, `axe-${colorScheme}-${name}`, fixture(name), {
        colorScheme,
      });
      await readAll(page);
      await openFolds(page, sections);
      // Only colours depend on the theme.
      const rules = colorScheme === "dark" ? ["color-contrast"] : undefined;
      expect(await seriousOf(page, sections, rules), name).toEqual([]);
      await done();
    }
  });

  it.each([
    [
      "markup",
      `</script><script>window.hit=1</script><img src=x onerror="window.hit=1"><iframe src="javascript:1"></iframe>`,
    ],
    ["attributes", `" onmouseover="window.hit=1" autofocus onfocus="window.hit=1" x='`],
    ["templates", "${window.hit=1}{{window.hit=1}}<!--[if IE]>&lt;b&gt;__PRONY_PAGE__$&"],
    ["rich text of charts", "{a|b}{marker0}\n<b onclick=window.hit=1>{c}</b>%{x}"],
    ["unseen characters", "\u202egnp.exe\u001b[31m\u0000\u2066\u200b\u2028<img src=x onerror=window.hit=1>"],
  ])("shows hostile %s as text", async (name, text) => {
    const { page, done } = await open(
      browser,
      `hostile-${name.replaceAll(" ", "-")}`,
      hostile(fixture("demo"), text),
    );
    await readAll(page);
    // Tooltips are made of the same texts: walk the values of every chart.
    for (const plot of await page.locator(".chart-plot").all()) {
      await plot.focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowRight");
    }
    await asForPaper(page);
    expect(await foreign(page)).toEqual({ elements: 0, hit: null });
    const shown = await page.evaluate(() => document.body.innerText);
    // eslint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/[\u0000\u001b\u202e\u2066]/);
    expect(await page.textContent("h1")).not.toContain("\u200b");
    expect(shown).toContain(text.includes("<img") ? "<img src=x" : text.slice(0, 8));
    expect(await page.title()).toContain("prony");
    await done();
  });

  it("gives tables as CSV with raw values and without formulas", async () => {
    const data = structuredClone(fixture("demo"));
    data.analysis.cells[0]!.label = '=HYPERLINK("http://x")';
    const { page, done } = await open(browser, "csv", data);
    await readAll(page);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV: Every trial" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${data.analysis.run}-trials.csv`);
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\r\n");
    expect(lines).toHaveLength(data.analysis.trials.length + 1);
    const trial = data.analysis.trials[0]!;
    const served = trial.values.find(({ metric }) => metric === "throughput")!.value;
    expect(lines[0]!.split(",").slice(0, 3)).toEqual(["trial", "block", "cell"]);
    expect(lines[1]!).toContain(String(served));
    expect(lines.join("\n")).toContain(`"'=HYPERLINK(""http://x"")"`);
    await done();
  });

  it("lists slow requests with their spans, and no name of a target acts", async () => {
    const data = fixture("demo");
    const hostile = `<img src=x onerror=alert(1)>\u001b[31m\u202e${"long".repeat(9_000)}`;
    plantRequests(data.analysis.cells[0]!, hostile);
    const { page, done } = await open(browser, "requests", data);
    await readAll(page);
    expect(await page.locator("#requests details").count()).toBe(1);
    expect(await page.locator("#requests table").count()).toBe(0);
    await openFolds(page, ["#requests"]);
    const tables = page.locator("#requests table");
    expect(await tables.count()).toBe(2);
    const rows = await tables.first().locator("tbody tr").allInnerTexts();
    expect(rows.map((row) => row.split("\t").length)).toEqual([1, 8, 1, 8, 1, 8]);
    expect(rows[1]).toContain("00000000000000000000000000000011");
    expect(rows[5]).toContain("unexpected_status");
    expect(await tables.last().locator("tbody tr").count()).toBe(12);
    const text = (await said(page, "#requests"))!;
    for (const part of ["#17 of trial 3: 12.0 ms, 4.00 ms of it", "and 5 more spans", "<img src=x onerror"])
      expect(text).toContain(part);
    expect(text).not.toMatch(/[\u001b\u202e]/);
    expect(text).not.toContain("long".repeat(12));
    expect(await page.locator("#requests img").count()).toBe(0);
    expect(await seriousOf(page, ["#requests"])).toEqual([]);
    await page.locator("#requests").screenshot({ path: shotPath("requests") });
    await page.getByRole("button", { name: "中文" }).click();
    await page.waitForFunction(() => document.documentElement.lang === "zh-CN");
    expect(await said(page, "#requests")).toContain("其中 4.00 ms 不在任何 span 之内");
    await done();
  });

  it("names the agents of a fleet, and which gate which of them did not keep", async () => {
    const data = structuredClone(fixture("demo"));
    const fleet = fleetOf();
    data.analysis.fleet = fleet;
    const { page, done } = await open(browser, "agents", data);
    await readAll(page);
    const rows = await page.locator("#agents tbody tr").allInnerTexts();
    expect(rows).toHaveLength(2);
    for (const [row, agent] of rows.map((row, at) => [row, fleet.agents[at]!] as const)) {
      for (const part of [agent.name, agent.host]) expect(row).toContain(part);
    }
    const plain = rows.map((row) => row.replaceAll("\u00a0", " "));
    for (const part of ["−420 µs", "±31", "all 3 kept", "100 %"]) expect(plain[0]).toContain(part);
    for (const part of ["97.0 % – 99.5 %", "share not kept in 2 of 6 trials", "7.00 %"])
      expect(plain[1]).toContain(part);
    expect(await said(page, "#agents")).toContain("1.40");
    expect(await said(page, "#agents")).toContain(
      "Agent load-2 differs most: its p99 was 1.40 times that of the others.",
    );
    expect(await seriousOf(page, ["#agents"])).toEqual([]);
    await page.locator("#agents").screenshot({ path: shotPath("agents") });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("#agents").getByRole("button", { name: "CSV" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\r\n");
    expect(lines[0]).toContain("offset_ns,bound_ns,apart_ns,delivered_least,delivered_most");
    expect(lines[2]).toContain("fleet_share 2/6");
    await page.getByRole("button", { name: "中文" }).click();
    await page.waitForFunction(() => document.documentElement.lang === "zh-CN");
    expect(await said(page, "#agents")).toContain("6 个试次中有 2 个未满足");
    expect(await said(page, "#agents")).toContain(
      "代理 load-2 差别最大：在 6 个区组中，其 p99 是其他代理的 1.40 倍",
    );
    await done();
  });

  it("copies the command", async () => {
    const { page, done } = await open(browser, "copy", fixture("demo"));
    await readAll(page);
    await page.locator("#reproduce .copied button").first().click();
    await page.waitForFunction(
      () => document.querySelector("#reproduce .copied button")?.textContent === "Copied",
    );
    await done();
  });

  it("says what is wrong where its data cannot be read", async () => {
    for (const data of [{ schema: "prony.page/9" }, null, []]) {
      const { page, done } = await open(browser, "damaged", data);
      expect(await page.textContent("h1")).toBe("This page has no data");
      expect(await page.textContent("main p")).toContain("prony report RUN --format html");
      await done();
    }
  });
});
