/**
 * The live lab in Chromium, as `prony serve` sends it: the library, a run, a run in progress, comparison, history and
 * experiments; hostile names stay text, the policy holds, keyboard and phone work.
 *
 * Needs the binary with these very pages in it (`npm run build`, then `cargo build -p prony`), else the tests are
 * skipped and say so. Invariant: whatever a test begins, it ends; nothing waits for the clock.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, MISSING } from "../scripts/chromium.mjs";
import { launch } from "./browser";

const ROOT = resolve(import.meta.dirname, "../..");
const FIXTURE = join(ROOT, "crates/serve/tests/run");
const SHOTS = resolve(import.meta.dirname, "../shots");
const PRONY = [
  process.env.PRONY ?? "",
  join(ROOT, "target/debug/prony"),
  join(ROOT, "target/release/prony"),
].find((path) => path !== "" && existsSync(path));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const HOSTILE = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
const [FIRST, SECOND, LIVE] = [
  "2026-11-22T05-14-56Z-demo",
  "2026-11-23T05-14-56Z-demo",
  "2026-11-24T05-14-56Z-demo",
];

/** An experiment of two seconds against prony's own target. */
const QUICK = `[experiment]
name = "quick"
question = "Does a start lead to its live page?"
blocks = 1
[[target]]
name = "one"
reference = { law = "constant", mean = "1ms" }
[scenario]
request = { path = "/ping" }
[load]
model = "closed"
connections = 2
[phases]
warmup = { at_least = "200ms", at_most = "200ms" }
sample = "1s"
samples = 1
`;

type Json = Record<string, unknown>;
const json = (path: string): Json => JSON.parse(readFileSync(path, "utf8")) as Json;

let folder: string;
let browser: Browser;
let lab: ChildProcess;
let url: string;

/** A copy of the stored run, changed. */
function addRun(id: string, change: (run: Json, plan: Json) => void = () => {}): string {
  const path = join(folder, "runs", id);
  cpSync(FIXTURE, path, { recursive: true });
  const run = json(join(path, "run.json"));
  run.id = id;
  run.started_wall = `${id.slice(0, 10)}T05:14:56Z`;
  change(run, run.plan as Json);
  writeFileSync(join(path, "run.json"), JSON.stringify(run));
  return path;
}

/** Marks a run as one that this process writes. */
function markLive(path: string) {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const mark = {
    schema: "prony.live/1",
    pid: process.pid,
    start_ticks: Number(fields[19]),
    pid_namespace: Number(/\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0]),
    boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
  };
  writeFileSync(join(path, "live.json"), JSON.stringify(mark));
}

async function start(): Promise<string> {
  lab = spawn(
    PRONY!,
    ["serve", join(folder, "runs"), "--experiments", join(folder, "experiments"), "--listen", "127.0.0.1:0"],
    {
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  for await (const line of createInterface({ input: lab.stdout! })) return line.replace("prony lab: ", "");
  throw new Error("prony serve said nothing");
}

async function whyNot(): Promise<string | undefined> {
  if (!CHROMIUM) return MISSING;
  if (PRONY === undefined) return "there is no prony binary (cargo build -p prony)";
  const built = join(ROOT, "ui/dist/lab/index.html");
  if (!existsSync(built)) return "ui/dist is missing (npm run build)";
  folder = mkdtempSync(join(tmpdir(), "prony-lab-"));
  mkdirSync(join(folder, "runs"));
  mkdirSync(join(folder, "experiments"));
  url = await start();
  const page = await (await fetch(url)).text();
  return page === readFileSync(built, "utf8")
    ? undefined
    : "the binary has other pages in it (cargo build -p prony)";
}

/** Ends the server and removes its folder. */
function end(): void {
  lab?.kill("SIGINT");
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

const missing = await whyNot();
// Where every test is skipped, no hook runs after them.
if (missing !== undefined) end();
if (missing !== undefined) console.log(`skipped: the tests of the lab in the browser, because ${missing}`);

/** A page whose errors and requests to elsewhere are noted. */
async function open(query: string, width = 1200): Promise<{ page: Page; wrong: string[] }> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, locale: "en" });
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:"))
      wrong.push(`asked ${request.url()}`);
  });
  await page.goto(url + query);
  return { page, wrong };
}

async function serious(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not bind.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const axe = (
      window as unknown as {
        axe: {
          run: () => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
        };
      }
    ).axe;
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
  });
}

/** The browser may show a space as one that does not break. */
const spaced = (text: string) => text.replaceAll("\u00a0", " ");

const overflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const shot = (page: Page, name: string) =>
  page.screenshot({ path: join(SHOTS, `lab-${name}.png`), fullPage: true });

describe.skipIf(missing !== undefined)("the lab", () => {
  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    addRun(FIRST);
    addRun(SECOND);
    addRun("2026-11-20T00-00-00Z-hostile", (run, plan) => {
      plan.name = HOSTILE;
      plan.question = HOSTILE;
      (plan.targets as Json[])[0]!.name = HOSTILE;
      ((plan.cells as Json[])[0] as Json).label = HOSTILE;
      run.experiment_text = HOSTILE;
    });
    writeFileSync(join(addRun("2026-11-19T00-00-00Z-damaged"), "run.json"), `{"schema": "${"<b>"}"}`);
    writeFileSync(
      join(folder, "experiments/small.toml"),
      `[experiment]\nname = "small"\nquestion = "Is ${"<b>it</b>"} fast?"\n`,
    );
    writeFileSync(join(folder, "experiments/wrong.toml"), "[experiment]\nnaem = 1\n");
    mkdirSync(join(folder, "experiments/planted"));
    writeFileSync(join(folder, "experiments/planted/quick.toml"), QUICK);
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
  });

  it("lists runs as text, searches them, and keeps what was searched in the address", async () => {
    const { page, wrong } = await open("");
    await page.waitForSelector(".lab-card");
    expect(await page.locator(".lab-card").count()).toBe(4);
    expect(await page.locator(".lab-card h2").allInnerTexts()).toContain(HOSTILE);
    expect(
      await page.locator(".lab-card", { hasText: "damaged" }).locator(".lab-cause").innerText(),
    ).toContain("run.json");
    await page.getByRole("searchbox").fill("2026-11-23");
    await page.waitForFunction(() => document.querySelectorAll(".lab-card").length === 1);
    expect(new URL(page.url()).searchParams.get("q")).toBe("2026-11-23");
    expect(await page.evaluate(() => (window as unknown as Json).hacked)).toBeUndefined();
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  it("has no serious fault of accessibility, in either theme and language, and fits a phone", async () => {
    for (const query of [
      "",
      "?experiments",
      `?history=demo`,
      `?compare=${FIRST},${SECOND}`,
      `?live=${FIRST}`,
    ]) {
      const { page, wrong } = await open(query, 390);
      await page.waitForSelector("h1");
      await page.waitForFunction(() => document.querySelector(".lab-loading") === null);
      expect(await overflow(page), query).toBe(0);
      expect(await serious(page), query).toEqual([]);
      await page.keyboard.press("t");
      await page.keyboard.press("l");
      await page.waitForFunction(() => document.documentElement.lang === "zh-CN");
      expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
      expect(await serious(page), `${query} dark`).toEqual([]);
      await shot(page, `phone-dark-${query.replace(/\W+/g, "-").slice(0, 20)}`);
      expect(wrong, query).toEqual([]);
      await page.context().close();
    }
  });

  it("keeps tags and a note by the keyboard alone, and finds them", async () => {
    const { page, wrong } = await open(`?q=${FIRST}`);
    const button = page.getByRole("button", { name: "Add tags or a note" });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.keyboard.type("baseline, kernel 6");
    await page.keyboard.press("Tab");
    await page.keyboard.type(`seen ${HOSTILE}`);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".lab-tags");
    expect(await page.locator(".lab-tags li").allInnerTexts()).toEqual(["baseline", "kernel 6"]);
    expect(await page.locator(".lab-note").innerText()).toBe(`seen ${HOSTILE}`);
    await page.waitForFunction(() => document.activeElement?.textContent === "Tags and note");
    await page.goto(`${url}?tag=baseline`);
    await page.waitForSelector(".lab-card");
    expect(await page.locator(".lab-card").count()).toBe(1);
    expect(wrong).toEqual([]);
    await shot(page, "library-tag");
    await page.context().close();
  });

  it("shows a run as its report does, with its files", async () => {
    const { page, wrong } = await open(`?run=${FIRST}`);
    await page.waitForSelector("#content h1");
    const told = (await (await fetch(`${url}api/runs/${FIRST}/page`)).json()) as {
      analysis: { answer: { text: string }; question: string };
    };
    expect(spaced(await page.locator("#content h1").innerText())).toContain(told.analysis.question);
    expect(spaced(await page.locator(".answer").innerText())).toContain(
      // A capital where it begins with a word.
      told.analysis.answer.text.slice(1, 40),
    );
    await page.getByText("Downloads").click();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "results.csv" }).click();
    expect((await download).suggestedFilename()).toBe(`${FIRST}-results.csv`);
    expect(wrong).toEqual([]);
    await shot(page, "run");
    await page.context().close();
  });

  it("compares the runs that are chosen in the list", async () => {
    const { page, wrong } = await open("?q=demo");
    for (const id of [FIRST, SECOND]) await page.getByRole("checkbox", { name: id }).check();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.waitForSelector("table");
    const told = (await (await fetch(`${url}api/compare?runs=${FIRST},${SECOND}`)).json()) as {
      pairs: { compare: { cells: { metrics: unknown[] }[] } }[];
    };
    const rows = told.pairs[0]!.compare.cells.reduce((sum, cell) => sum + cell.metrics.length, 0);
    expect(await page.locator(".table tbody tr:has(td.n, td.number)").count()).toBeGreaterThanOrEqual(rows);
    expect(wrong).toEqual([]);
    await shot(page, "compare");
    await page.context().close();
  });

  it("keeps what lies in a folder apart, and leads from a start to its live page", async () => {
    const { page, wrong } = await open("?experiments");
    await page.waitForSelector(".lab-card");
    expect(await page.getByText("Does a start lead").count()).toBe(0);
    await page.getByText("planted/", { exact: true }).click();
    const card = page.locator(".lab-card", { hasText: "Does a start lead" });
    await card.getByRole("button", { name: "Start" }).click();
    await page.getByRole("dialog").locator(".lab-yes").click();
    await page.waitForURL(/[?]live=/);
    const run = new URL(page.url()).searchParams.get("live")!;
    expect(run).toMatch(/-quick$/);
    await page.waitForFunction(async () => {
      const { starts } = (await (await fetch("api/experiments")).json()) as {
        starts: { is_running: boolean }[];
      };
      return starts.length === 1 && !starts[0]!.is_running;
    });
    expect(wrong).toEqual([]);
    await page.context().close();
    rmSync(join(folder, "runs", run), { recursive: true });
  });

  it("shows experiments and their history, and asks before it starts one", async () => {
    const { page, wrong } = await open("?experiments");
    await page.waitForSelector(".lab-card");
    const cards = await page.locator(".lab-card").allInnerTexts();
    expect(cards.some((text) => text.includes("Is <b>it</b> fast?"))).toBe(true);
    expect(cards.some((text) => text.includes("naem"))).toBe(true);
    await page.getByRole("button", { name: "Start" }).click();
    expect(await page.getByRole("dialog").innerText()).toContain("Start small.toml?");
    await page.keyboard.press("Escape");
    const { starts } = (await (await fetch(`${url}api/experiments`)).json()) as {
      starts: { file: string }[];
    };
    expect(starts.filter(({ file }) => file === "small.toml")).toEqual([]);
    await shot(page, "experiments");
    await page.goto(`${url}?history=demo`);
    await page.waitForSelector("table");
    expect(await page.locator("table").innerText()).toContain(SECOND);
    expect(wrong).toEqual([]);
    await shot(page, "history");
    await page.context().close();
  });

  it("follows a run in progress, and asks before it stops it", async () => {
    const path = addRun(LIVE, (run) => {
      run.agents = ["load-1", "load-2"].map((name) => ({
        name,
        facts: { prony: "0", host: `${name}.internal`, boot_id: "b", kernel: "6", arch: "x86_64", cpus: 2 },
        clock: { offset_ns: 1_000, bound_ns: 2_000, exchanges: 32, rtt_max_ns: 9_000, apart_ns: 0 },
        share: 0.5,
      }));
    });
    const trial = join(path, "trials/0002");
    const aside = join(folder, "aside");
    cpSync(trial, aside, { recursive: true });
    rmSync(trial, { recursive: true });
    markLive(path);
    const { page, wrong } = await open(`?live=${LIVE}`);
    await page.waitForSelector("progress");
    expect(await page.locator(".lab-plan > li").count()).toBe(1);
    mkdirSync(trial);
    const lines = readFileSync(join(aside, "intervals.ndjson"), "utf8").trim().split("\n");
    appendFileSync(join(trial, "counters.ndjson"), readFileSync(join(aside, "counters.ndjson")));
    // As of a scenario of two requests.
    const by = (p99_ns: number) =>
      ["list", "buy"].map((name, at) => ({ name, completed: 5, p50_ns: 1_000 + at, p99_ns: p99_ns + at }));
    for (const line of lines.slice(0, 4)) {
      const interval = JSON.parse(line) as { p99_ns: number };
      const agents = [100, 90].map((completed, at) => ({
        name: `load-${at + 1}`,
        scheduled: 100,
        completed,
      }));
      const mixed = JSON.stringify({ ...interval, by_request: by(interval.p99_ns), agents });
      appendFileSync(join(trial, "intervals.ndjson"), `${mixed}\n`);
    }
    await page.waitForSelector(".lab-present [data-chart=timeline]");
    const agents = page.locator("section[aria-labelledby=fleet-title] tbody tr");
    expect((await agents.allInnerTexts()).map((row) => row.split(/\s/)[0])).toEqual(["load-1", "load-2"]);
    const now = page.locator(".lab-present tbody tr");
    await page.waitForFunction(() => document.querySelectorAll(".lab-present tbody tr").length === 2);
    expect((await now.allInnerTexts()).map((row) => row.split(/\s+/).slice(0, 3))).toEqual([
      ["load-1", "100", "100"],
      ["load-2", "100", "90"],
    ]);
    await page.waitForSelector(".lab-present [data-chart=endpoints]");
    expect(await page.locator(".lab-present .chart-key li").allInnerTexts()).toEqual(["list", "buy"]);
    const last = JSON.parse(lines[3]!) as { p99_ns: number };
    await page.waitForFunction(() => document.querySelectorAll(".lab-numbers.big dd").length === 8);
    const p99 = await page.locator(".lab-numbers.big dd").nth(1).innerText();
    const [number, unit] = p99.split(" ");
    const shown = Number(number) * ({ ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[unit!] ?? 0);
    expect(Math.abs(shown / last.p99_ns - 1)).toBeLessThan(0.01);
    expect(await page.locator(".lab-counters li").count()).toBeGreaterThan(3);
    expect(await serious(page)).toEqual([]);
    await shot(page, "live");
    await page.getByRole("button", { name: "Stop the run" }).click();
    expect(await page.getByRole("dialog").innerText()).toContain("Stop this run?");
    await page.getByRole("button", { name: "Let it run" }).click();
    // The run ends by itself.
    cpSync(aside, trial, { recursive: true });
    rmSync(join(path, "live.json"));
    await page.getByText("The run has ended.").waitFor();
    expect(await page.locator("tbody tr").count()).toBeGreaterThanOrEqual(2);
    expect(wrong).toEqual([]);
    await shot(page, "live-ended");
    await page.context().close();
  });
});

afterAll(end);
