/**
 * Every chart and table of the built page holds the very values of its page file, in their order: read back from
 * ECharts, from the boxes of flame graphs, and from the cells of tables.
 *
 * Invariant: expected values are read from the page file; only units and words come from the sources of the page.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shift as madeShift } from "../src/charts/gallery/made";
import * as format from "../src/format";
import type { CellSummary, PageFile, TimePart, TrialRow } from "../src/schema/page";
import { sentence } from "../src/ui/sentence";
import { WORDS } from "../src/words";
import { asForPaper, fixture, launch, missing, open, readAll, seriesOf, shotPath, tableOf } from "./browser";

const words = WORDS.en;

if (missing !== null) console.log(`skipped: the values in the page, because ${missing}`);

type Point = [number, number | null];

const loaded = (trial: TrialRow) => trial.series.filter(({ phase }) => phase !== "drain");

/** Over the time of a trial, without the drain. */
const course = (trial: TrialRow, key: "throughput_per_s" | "p50_ns" | "p99_ns" | "failed"): Point[] =>
  loaded(trial).map((point) => [point.t_ns, point[key] ?? null]);

const cellOf = (page: PageFile, id: string): CellSummary =>
  page.analysis.cells.find(({ cell }) => cell === id)!;

describe.skipIf(missing !== null)("the values in the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  /** The whole page of a fixture, as for paper. */
  async function whole(name: string): Promise<{ page: Page; data: PageFile; done: () => Promise<void> }> {
    const data = fixture(name);
    const { page, done } = await open(browser, `values-${name}`, data);
    await asForPaper(page);
    return { page, data, done };
  }

  it("curves of percentiles and distributions", async () => {
    for (const name of ["demo", "throttled"]) {
      const { page, data, done } = await whole(name);
      const { cells } = data.analysis;
      const named = (shown: { name: string }[]) => shown.map((series) => series.name);
      const lines = (shown: Awaited<ReturnType<typeof seriesOf>>) =>
        shown.flat().filter((series) => series.name !== "");
      const isOne = new Set(cells.map(({ target }) => target)).size === 1;
      const names = cells.map(({ label, target }) => (isOne ? label.slice(target.length + 2) : target));
      const curves = lines(await seriesOf(page, "percentiles"));
      expect(named(curves)).toEqual(names);
      expect(curves.map((series) => series.data)).toEqual(
        cells.map(({ curve }) =>
          curve
            .filter(({ quantile }) => quantile < 1)
            .map(({ quantile, ns }) => [expect.closeTo(1 / (1 - quantile), 6), ns]),
        ),
      );
      const shares = lines(await seriesOf(page, "cdf"));
      expect(named(shares)).toEqual(named(curves));
      expect(shares.map((series) => series.data)).toEqual(
        cells.map(({ curve }) => curve.map(({ quantile, ns }) => [ns, quantile])),
      );
      await done();
    }
  });

  it("the parts of the mean response time, each where the one before it ends", async () => {
    const data = fixture("demo");
    const parts: TimePart[] = [
      { part: "pacer_lag", mean_ns: 12_000, from_ns: 0, to_ns: 12_000 },
      { part: "first_byte", mean_ns: 1_410_000, from_ns: 12_000, to_ns: 1_422_000 },
      { part: "transfer", mean_ns: 96_000, from_ns: 1_422_000, to_ns: 1_518_000 },
    ];
    data.analysis.cells[0]!.parts = parts;
    const { page, done } = await open(browser, "values-parts", data);
    await asForPaper(page);
    const charts = await seriesOf(page, "parts", "#latency");
    expect(charts).toHaveLength(1);
    expect(charts[0]!.map((series) => series.data)).toEqual([
      [
        ...parts.map(({ from_ns, to_ns }, row) => [from_ns, to_ns, row, null, null]),
        [0, 1_518_000, parts.length, null, null],
      ],
    ]);
    const figure = page.locator("#latency figure", { has: page.locator('[data-chart="parts"]') });
    const said = await figure.locator('[role="img"]').getAttribute("aria-label");
    expect(said).toContain(`${words.charts.parts.first_byte}: ${format.duration(1_410_000)}`);
    expect(said).toContain(`${words.charts.allParts}: ${format.duration(1_518_000)}`);
    await figure.screenshot({ path: shotPath("parts-light") });
    await done();
  });

  it("the whole curve of a pair, with its band, a sentence and a table", async () => {
    const data = fixture("demo");
    const [a, b] = data.analysis.cells;
    data.analysis.shifts = [{ ...madeShift, a: a!.cell, b: b!.cell }];
    const { page, done } = await open(browser, "values-shift", data);
    await readAll(page);
    const series = (await seriesOf(page, "shift", "#comparison"))[0]!;
    const named = (name: string) => series.find((one) => one.name === name)!;
    const { points } = madeShift;
    expect(named(words.charts.ratio).data).toEqual(
      points.map(
        ({ quantile, ratio }) => expect.objectContaining({ value: [1 / (1 - quantile), ratio] }) as object,
      ),
    );
    expect(named(words.charts.ratio).markLine?.data).toEqual([expect.objectContaining({ yAxis: 1 })]);
    expect(named(words.charts.shiftBand).data).toEqual(
      points.map(({ quantile, band }) => [1 / (1 - quantile), band.low, band.high]),
    );
    const figure = page.locator("#comparison figure", { has: page.locator('[data-chart="shift"]') });
    const longer = `${a!.target} takes longer at p95–p99.5, and less time at p5–p20.`;
    expect(await figure.locator(".about").textContent()).toContain(longer);
    expect(await figure.locator('[role="img"]').getAttribute("aria-label")).toContain(longer);
    await figure.screenshot({ path: shotPath("shift-light") });
    await page.locator("#comparison summary", { hasText: words.shift.table }).click();
    const { rows } = await tableOf(page, words.shift.table);
    expect(rows).toEqual(
      points.map(({ quantile, ratio, band }) => [format.quantile(quantile), ...format.changes(ratio, band)]),
    );
    await done();
  });

  it("the many loads of a search: all drawn, few of them in colour, and every quantile in a table", async () => {
    const data = fixture("search");
    const { page, done } = await open(browser, "values-many", data);
    await readAll(page);
    const { cells } = data.analysis;
    const load = ({ label, target }: CellSummary) => label.slice(target.length + 2);
    const curved = cells.filter(({ curve }) => curve.length > 1);
    const lines = async () =>
      (await seriesOf(page, "percentiles")).flat().filter((series) => series.name !== "");
    expect((await lines()).map((series) => [series.name, series.data])).toEqual(
      curved.map((cell) => [
        load(cell),
        cell.curve.map(({ quantile, ns }) => [expect.closeTo(1 / (1 - quantile), 6), ns]),
      ]),
    );
    const key = page.locator("#latency .chart-key").first().locator("li");
    const search = data.analysis.capacity![0]!.search!;
    const named = await key.allTextContents();
    expect(named).toContainEqual(expect.stringContaining(`${search.verified_per_s}/s`));
    expect(named).toHaveLength(6);
    expect(named.at(-1)).toContain(words.charts.others(curved.length - 5));
    const chosen = page.locator("#latency select").first();
    const grey = (await chosen.locator("option").allTextContents())[1]!;
    expect(named.join()).not.toContain(grey);
    await chosen.selectOption({ label: grey });
    await expect.poll(async () => (await key.allTextContents()).join()).toContain(grey);

    await page.locator("#latency summary", { hasText: words.latency.table }).click();
    const { head, rows } = await tableOf(page, words.latency.table);
    const quantiles = [...new Set(cells.flatMap(({ curve }) => curve.map(({ quantile }) => quantile)))];
    quantiles.sort((a, b) => a - b);
    expect(head).toHaveLength(quantiles.length + 1);
    expect(rows).toEqual(
      cells.map((cell) => [
        load(cell),
        ...quantiles.map((q) => format.duration(cell.curve.find(({ quantile }) => quantile === q)?.ns)),
      ]),
    );
    await done();
  });

  it("every trial as a mark, in each metric that is chosen", async () => {
    const data = fixture("events");
    const { page, done } = await open(browser, "values-strips", data);
    await readAll(page);
    const { cells, trials } = data.analysis;
    for (const metric of ["throughput", "p50"] as const) {
      await page.locator("#latency select").selectOption({ label: words.metrics[metric] });
      const shown = async () => (await seriesOf(page, "strips"))[0]!;
      await expect.poll(async () => (await shown())[0]!.name).toBe(words.metrics[metric]);
      const [marks, centres] = await shown();
      expect(marks!.data).toEqual(
        trials.map((trial) => [
          trial.values.find((of) => of.metric === metric)!.value,
          cells.findIndex(({ cell }) => cell === trial.cell),
          trial.id,
        ]),
      );
      expect(centres!.data).toEqual(
        cells.map(({ metrics }, row) => [metrics.find((of) => of.metric === metric)!.center ?? null, row]),
      );
    }
    await done();
  });

  it("one trial over time, its events and counters, and its map of response times", async () => {
    const data = fixture("events");
    const { page, done } = await open(browser, "values-time", data);
    await readAll(page);
    await page.locator("#time").screenshot({ path: shotPath("events-light") });
    for (const trial of data.analysis.trials) {
      const detail = data.details.find(({ id }) => id === trial.id)!;
      const cell = cellOf(data, trial.cell);
      await page
        .locator("#time select")
        .selectOption({ label: `${words.trialOf(trial.id, trial.block)}, ${cell.label}` });
      const lineOf = async (name: string) =>
        (await seriesOf(page, "timeline"))[0]!.find((series) => series.name === name)?.data;
      await expect.poll(() => lineOf(words.metrics.throughput)).toEqual(course(trial, "throughput_per_s"));
      const [timeline = []] = await seriesOf(page, "timeline");
      const line = (name: string) => timeline.find((series) => series.name === name)?.data;
      expect(line(words.metrics.p50)).toEqual(course(trial, "p50_ns"));
      expect(line(words.metrics.p99)).toEqual(course(trial, "p99_ns"));
      const hasFailed = trial.series.some(({ failed }) => failed > 0);
      expect(line(words.charts.failed)).toEqual(hasFailed ? course(trial, "failed") : undefined);
      const counter = detail.counters.find(
        ({ source, name }) => source === "target.process" && name === "cpu_ns",
      );
      expect(line(words.charts.counter("target.process/cpu_ns")!)).toEqual(
        counter && detail.t_ns.map((t_ns, at) => [t_ns, counter.values[at] ?? null]),
      );
      const grounds = timeline.filter(({ markLine }) => markLine);
      const happened = detail.events.map(({ t_ns }) => t_ns);
      expect(grounds.map(({ markLine }) => markLine!.data.map(({ xAxis }) => xAxis))).toEqual(
        grounds.map(() => happened),
      );
      expect(grounds.length).toBeGreaterThan(1);
      const warm = Math.max(...trial.series.filter(({ phase }) => phase === "warmup").map((p) => p.t_ns));
      expect(grounds[0]!.markArea!.data[0]!.map(({ xAxis }) => xAxis)).toEqual([0, warm]);

      const [heat = []] = await seriesOf(page, "heat");
      const { rows, t_ns, start_ns, edges_ns } = detail.heat!;
      const map = rows.flatMap((row, at) =>
        row.flatMap((n, column) =>
          n > 0 ? [[t_ns[at - 1] ?? start_ns, t_ns[at], edges_ns[column], edges_ns[column + 1], n]] : [],
        ),
      );
      expect(heat[0]!.data).toEqual(map);
      expect(heat[1]!.markLine!.data.map(({ xAxis }) => xAxis)).toEqual(happened);
      expect(heat.filter(({ name }) => name === "p99").at(-1)!.data).toEqual(course(trial, "p99_ns"));
      for (const said of detail.missing ?? []) expect(await page.textContent("#time")).toContain(said.text);
    }
    await done();
  });

  it("pauses of the collector as a map of their own, in both languages", async () => {
    for (const lang of ["en", "zh"] as const) {
      const data = fixture("gc");
      const detail = data.details[0]!;
      const second = 1_000_000_000;
      detail.pauses = {
        start_ns: 0,
        t_ns: [second, 2 * second, 3 * second],
        edges_ns: [100_000, 200_000, 400_000],
        rows: [
          [3, 0],
          [0, 0],
          [7, 1],
        ],
        count_max: 7,
      };
      const { page, done } = await open(browser, `values-pauses-${lang}`, { ...data, lang });
      await readAll(page);
      const figure = page.locator("#time figure", { has: page.locator("[data-chart=pauses]") });
      expect(await figure.textContent()).toContain(WORDS[lang].time.pauses);
      expect(await figure.textContent()).toContain(WORDS[lang].charts.pausesPerCell);
      const [map = []] = await seriesOf(page, "pauses");
      expect(map[0]!.data).toEqual([
        [0, second, 100_000, 200_000, 3],
        [2 * second, 3 * second, 100_000, 200_000, 7],
        [2 * second, 3 * second, 200_000, 400_000, 1],
      ]);
      expect(map.filter(({ name }) => name === "p99")).toEqual([]);
      await done();
    }
  });

  it("thresholds with how they were kept, and claims about counters, in both languages", async () => {
    for (const lang of ["en", "zh"] as const) {
      const data = fixture("gc");
      const metric = { counter: "target.process/involuntary_switches", per: "second" };
      const verdicts = ["kept", "crossed", "unknown"] as const;
      const one = {
        metric,
        unit: "per_second" as const,
        comparison: "<=" as const,
        bound: 9,
        checked: 2,
        crossed: 1,
      };
      data.analysis.thresholds = verdicts.map((verdict) => ({
        ...one,
        text: `It is ${verdict}`,
        verdict,
        worst: 12,
        evidence: { id: "threshold.trial", args: { id: "7" }, text: "trial 7" },
      }));
      data.analysis.claims = [
        {
          text: "It waits rarely",
          verdict: "holds",
          evidence: { id: "threshold.trial", args: { id: "7" }, text: "trial 7" },
          kind: "threshold",
          metric,
          unit: "per_second",
          ratio: null,
          value: 1_234,
          interval: { low: 1_200, high: 1_300 },
        },
      ];
      const { page, done } = await open(browser, `values-thresholds-${lang}`, { ...data, lang });
      await readAll(page);
      const found = page.locator("#thresholds li");
      expect(await found.count()).toBe(verdicts.length);
      const { health } = WORDS[lang];
      for (const [at, verdict] of verdicts.entries()) {
        const text = ((await found.nth(at).textContent()) ?? "").toLowerCase();
        expect(text).toContain(`it is ${verdict}`);
        expect(text).toContain(health[verdict].toLowerCase());
      }
      const number = await page.locator("#claims li .number").textContent();
      expect(number).toContain(format.value("per_second", 1_234));
      await done();
    }
  });

  it("each request of a scenario over time, by the percentile that is chosen", async () => {
    const data = fixture("mix");
    for (const lang of ["en", "zh"] as const) {
      const { page, done } = await open(browser, `values-endpoints-${lang}`, { ...data, lang });
      await readAll(page);
      const [detail] = data.details;
      const trial = data.analysis.trials.find(({ id }) => id === detail!.id)!;
      const requests = detail!.by_request!;
      expect(requests.length).toBeGreaterThan(2);
      const end = Math.max(...loaded(trial).map(({ t_ns }) => t_ns));
      const figure = page.locator("#time figure", { has: page.locator("[data-chart=endpoints]") });
      expect(await figure.locator(".chart-key li").allInnerTexts()).toEqual(requests.map(({ name }) => name));
      for (const percentile of ["p50", "p99"] as const) {
        await figure.locator("select").selectOption({ label: WORDS[lang].metrics[percentile] });
        const shown = async () =>
          (await seriesOf(page, "endpoints"))[0]!.flatMap(({ name, data }) => (name ? [[name, data]] : []));
        await expect
          .poll(shown)
          .toEqual(
            requests.map((request) => [
              request.name,
              detail!.t_ns.flatMap((at, place) =>
                at > end ? [] : [[at, request[`${percentile}_ns`][place] ?? null]],
              ),
            ]),
          );
      }
      const [, warm] = (await seriesOf(page, "endpoints"))[0]!.find(({ markArea }) => markArea)!.markArea!
        .data[0]!;
      expect(warm!.xAxis).toBe(
        Math.max(...trial.series.filter((p) => p.phase === "warmup").map((p) => p.t_ns)),
      );
      await figure.screenshot({ path: shotPath(`endpoints-${lang}`) });
      await done();
    }
  });

  it("more requests than colours, and those without a line of their own", async () => {
    const data = fixture("mix");
    const [detail] = data.details;
    const [first] = detail!.by_request!;
    const names = [...Array.from({ length: 15 }, (_, at) => `<i>request ${at}</i>`), null];
    detail!.by_request = names.map((name) => ({ ...first!, name }));
    const { page, done } = await open(browser, "values-endpoints-many", data, { colorScheme: "dark" });
    await readAll(page);
    const key = page
      .locator("#time figure", { has: page.locator("[data-chart=endpoints]") })
      .locator(".chart-key li");
    expect(await key.allInnerTexts()).toEqual(names.map((name) => name ?? words.charts.otherRequests));
    const marks = await key.locator("svg").evaluateAll((all) => all.map((one) => one.innerHTML));
    expect(new Set(marks).size).toBe(16);
    await done();
  });

  it("a trial far from its cell's others has a ring and its sentence", async () => {
    const data = fixture("demo");
    const { page: calm, done: over } = await open(browser, "values-no-outlier", {
      ...data,
      analysis: { ...data.analysis, outliers: [] },
    });
    await readAll(calm);
    const rings = (page: Page) => page.locator('[data-chart=strips] [stroke="var(--warn)"]').count();
    expect([await rings(calm), await calm.locator("#outliers").count()]).toEqual([0, 0]);
    await over();
    const [trial] = data.analysis.trials;
    const text = "trial 1 is 38 % slower than the other 4 trials of std: nothing; it counts in every number";
    data.analysis.outliers = [
      {
        trial: trial!.id,
        cell: trial!.cell,
        metrics: [{ metric: "throughput", ratio: 0.62, p_value: 1e-4 }],
        text: { text },
      },
    ];
    const { page, done } = await open(browser, "values-outlier", data);
    await readAll(page);
    expect(await rings(page)).toBe(1);
    expect(await page.locator("#outliers").innerText()).toContain("slower than the other 4 trials");
    expect(await page.locator("[data-chart=strips] [role=img]").getAttribute("aria-label")).toContain(
      words.charts.outlying,
    );
    await page.locator("[data-chart=strips]").screenshot({ path: shotPath("outlier") });
    await done();
  });

  it("a counter that is chosen, under the same time", async () => {
    const data = fixture("events");
    const { page, done } = await open(browser, "values-counter", data);
    await readAll(page);
    const [detail] = data.details;
    const counter = detail!.counters.find(({ source, name }) => source === "tcp.states" && name !== "")!;
    const key = `${counter.source}/${counter.name}`;
    await page.locator(".counter-search input").fill(key);
    await page.locator(".counter-picker li", { hasText: key }).first().locator("input").check();
    const shown = words.charts.counter(key) ?? key;
    const line = async () => (await seriesOf(page, "timeline"))[0]!.find(({ name }) => name === shown)?.data;
    await expect.poll(line).toEqual(detail!.t_ns.map((t_ns, at) => [t_ns, counter.values[at] ?? null]));
    await done();
  });

  it("all trials of a cell over each other", async () => {
    const { page, data, done } = await whole("events");
    const shown = await seriesOf(page, "overview");
    const { cells, trials } = data.analysis;
    expect(shown).toHaveLength(cells.length);
    cells.forEach(({ cell }, at) => {
      const lines = shown[at]!.filter(({ name }) => name !== "").map((series) => series.data);
      const of = trials.filter((trial) => trial.cell === cell);
      expect(lines).toEqual([
        ...of.map((trial) => course(trial, "throughput_per_s")),
        ...of.map((trial) => course(trial, "p99_ns")),
      ]);
    });
    await done();
  });

  it("events: what each cost, and what could not be done", async () => {
    const { page, data, done } = await whole("events");
    const { rows, below, groups } = await tableOf(page, words.events.caption);
    const events = data.analysis.events!;
    expect(events.length).toBeGreaterThan(1);
    expect(groups).toEqual([...new Set(events.map(({ cell }) => cellOf(data, cell).label))]);
    const { NONE, duration, rate, count } = format;
    expect(rows).toEqual(
      events.map((event) => {
        const seen = (text: string) => (event.trials > 0 ? text : NONE);
        const never =
          event.not_recovered > 0 ? words.events.notIn(event.not_recovered, event.trials) : undefined;
        const after =
          event.recovered_ns == null
            ? undefined
            : event.recovered_ns === 0 && !never
              ? "at once"
              : duration(event.recovered_ns);
        return [
          event.name,
          seen(rate(event.before.throughput_per_s)),
          seen(rate(event.worst.throughput_per_s)),
          seen(duration(event.before.p99_ns)),
          seen(duration(event.worst.p99_ns)),
          seen(words.events.lostAtMost(count(event.lost), count(event.lost_max))),
          event.unavailable_ns > 0 ? duration(event.unavailable_ns) : NONE,
          seen([after, never].filter(Boolean).join(", ") || NONE),
        ];
      }),
    );
    const errors = events.flatMap((event) => event.errors);
    expect(errors.length).toBeGreaterThan(0);
    expect(below).toEqual(errors.map((error) => `Could not be carried out: ${error.text}`));
    await done();
  });

  it("a soak: verdict, trends, and each counter over its windows", async () => {
    const { page, data, done } = await whole("soak");
    await page.locator("#soak").screenshot({ path: shotPath("soak-light") });
    const soak = data.analysis.soak!;
    expect((await page.textContent("#soak .verdict p"))?.replaceAll("\u00a0", " ")).toBe(soak.answer.text);
    expect((await page.textContent("#soak .verdict .mark"))?.toLowerCase()).toContain(
      words.soak[soak.verdict],
    );
    for (const note of soak.notes) expect(await page.textContent("#soak .plain-list")).toContain(note.text);
    const { rows, below } = await tableOf(page, words.soaks.caption);
    expect(below).toEqual(soak.trends.map(({ text }) => sentence(text.text)));
    expect(rows.map((row) => row.slice(0, 2).map((cell) => cell.replace(/^\W /, "")))).toEqual(
      soak.trends.map((trend) => [
        words.soaks.counters[trend.counter],
        expect.stringContaining(words.soak[trend.class]),
      ]),
    );
    const show = (trend: (typeof soak.trends)[number], value: format.Maybe) => {
      if (["memory", "heap"].includes(trend.counter)) return format.bytes(value);
      if (["p50", "p99"].includes(trend.counter)) return format.duration(value);
      return trend.counter === "throughput" ? format.rate(value) : format.plain(value);
    };
    soak.trends.forEach((trend, at) => {
      const [, , first, last, slope, p, exhausted, limit] = rows[at]!;
      expect([first, last, p]).toEqual([
        show(trend, trend.first),
        show(trend, trend.last),
        format.pValue(trend.p_value),
      ]);
      const ends = [trend.slope_per_h, trend.slope_low_per_h, trend.slope_high_per_h];
      for (const end of ends) expect(slope).toContain(show(trend, end));
      expect(exhausted).toContain(format.duration(trend.exhausted_in_ns));
      expect(limit).toContain(trend.limit ? trend.limit.source.text : format.NONE);
      expect(limit).toContain(show(trend, trend.limit?.value));
    });

    const charts = await seriesOf(page, "soak");
    expect(charts).toHaveLength(soak.trends.length);
    expect(soak.trends.filter((trend) => trend.line).length).toBeGreaterThan(0);
    soak.trends.forEach((trend, at) => {
      const [counter, ...lines] = charts[at]!.filter(({ name }) => name !== "");
      expect(counter!.name).toBe(words.soaks.counters[trend.counter]);
      expect(counter!.data).toEqual(trend.series.map(({ t_ns, value }) => [t_ns, value]));
      const { at_ns, slope, low, high } = trend.line ?? { at_ns: [0, 0] };
      const drawn = [slope, low, high].flatMap((ends) => (ends ? [ends] : []));
      expect(lines.map((line) => line.data)).toEqual(
        drawn.map((ends) => ends.map((value, end) => [at_ns[end], value])),
      );
    });
    await done();
  });

  it("in what the environment differs from that of another run", async () => {
    const { page, data, done } = await whole("soak");
    const difference = data.environment_difference!;
    expect(difference.differences.length).toBeGreaterThan(0);
    const { head, rows, groups } = await tableOf(page, words.environment.differences);
    expect(head).toEqual(["Fact", difference.a.text, difference.b.text, "Effect"]);
    const weights = ["decisive", "possible", "unknown"] as const;
    const ordered = weights.flatMap((weight) =>
      difference.differences.filter((found) => found.weight === weight),
    );
    expect(groups).toEqual([...new Set(ordered.map(({ weight }) => words.environment.weights[weight]))]);
    expect(rows).toEqual(
      ordered.map(({ title, a, b, effect }) => [
        title.text,
        a?.text ?? words.unknown,
        b?.text ?? words.unknown,
        effect.text,
      ]),
    );
    const section = (await page.textContent("#environment"))!;
    expect(section).toContain(`Difference: ${difference.a.text} against ${difference.b.text}`);
    expect(section).toContain(words.environment.same(difference.same, difference.differences.length));
    for (const { name, a, b } of difference.versions) expect(section).toContain(`${name}${a} → ${b}`);
    await done();
  });

  it("a search: each rate that was tried, how it ended, and what was verified", async () => {
    // Not as for paper, where each of its many rates has its charts.
    const data = fixture("search");
    const { page, done } = await open(browser, "values-search", data);
    await readAll(page);
    await page.locator("#capacity").screenshot({ path: shotPath("search-light") });
    await page.locator("#capacity summary", { hasText: words.capacity.steps }).click();
    const search = data.analysis.capacity!.find((capacity) => capacity.search)!.search!;
    const [[steps] = []] = await seriesOf(page, "search");
    expect(steps!.data).toEqual(
      search.steps.map((step, at) => expect.objectContaining({ value: [at + 1, step.rate_per_s] })),
    );
    const signs = (steps!.data as { itemStyle: { color?: string; borderColor?: string } }[]).map(
      ({ itemStyle }) => itemStyle.borderColor ?? itemStyle.color,
    );
    expect(signs).toEqual(
      search.steps.map(({ passed }) =>
        passed == null ? "var(--ink-faint)" : passed ? "var(--good)" : "var(--bad)",
      ),
    );
    expect(new Set(signs).size).toBeGreaterThan(1);
    expect(steps!.markLine!.data.map(({ yAxis }) => yAxis)).toEqual([search.verified_per_s]);
    expect(steps!.markArea!.data[0]!.map(({ yAxis }) => yAxis)).toEqual([
      search.limit!.low,
      search.limit!.high,
    ]);
    const { rows } = await tableOf(page, words.capacity.steps);
    expect(rows).toEqual(
      search.steps.map((step) => [
        String(step.trial),
        format.chosenRate(step.rate_per_s),
        words.capacity.purposes[step.purpose],
        words.capacity.passed(step.passed ?? null),
        step.reasons.map(({ text }) => text).join("; "),
      ]),
    );
    const section = (await page.textContent("#capacity"))!;
    expect(section).toContain(format.chosenRate(search.verified_per_s));
    expect(section).toContain(format.interval("per_second", search.limit!));
    expect(section.replaceAll("\u00a0", " ")).toContain(search.objective.join(words.and));
    await done();
  });

  it("the effects of factors and of two together", async () => {
    const { page, data, done } = await whole("layers");
    const effects = data.analysis.effects!;
    const { rows, groups } = await tableOf(page, words.effects.caption);
    expect(groups).toEqual([...new Set(effects.effects.map(({ metric }) => words.metrics[metric]))]);
    const byMetric = [...new Set(effects.effects.map(({ metric }) => metric))].flatMap((metric) =>
      effects.effects.filter((effect) => effect.metric === metric),
    );
    expect(rows.map((row) => [row[0], row[1], row[2], row[4], row[5]])).toEqual(
      byMetric.map((effect) => [
        effect.of.map(({ factor, level, against }) => `${factor} ${level} against ${against}`).join(" × "),
        format.change(effect.ratio),
        effect.interval ? format.changeInterval(effect.interval) : format.NONE,
        format.pValue(effect.p_holm),
        String(effect.blocks),
      ]),
    );
    expect(rows.map((row) => row[3]!.includes(words.notShown))).toEqual(byMetric.map(({ shown }) => !shown));
    const section = (await page.textContent("#factors"))!;
    for (const { name, levels } of effects.factors) expect(section).toContain(name + levels.join(", "));
    // A sentence that stands alone begins with a capital, and its numbers keep their units.
    const plain = section.replaceAll("\u00a0", " ");
    for (const why of Object.values(effects.metrics_refused ?? {}))
      expect(plain).toContain(why!.text.slice(1));
    await done();
  });

  it("layers: each cost from where to where, and its table", async () => {
    const { page, data, done } = await whole("layers");
    const metrics = data.analysis.layers!.flatMap((costs) => costs.metrics);
    const charts = await seriesOf(page, "waterfall");
    expect(charts).toHaveLength(metrics.length);
    const { rows } = await tableOf(page, words.layers.caption);
    const [first] = data.analysis.layers!;
    expect(rows.map((row) => row[1])).toEqual(
      first!.metrics.flatMap((metric) => [
        format.duration(metric.base_ns),
        ...[...metric.layers, ...(metric.total ? [metric.total] : [])].map((layer) =>
          format.difference("nanoseconds", layer.cost_ns),
        ),
      ]),
    );
    await done();
  });

  describe("profiles", () => {
    /** The frames that are wide enough to be seen, as the boxes that they must be. */
    function boxes(profile: PageFile["profiles"][number], least: number) {
      interface Frame {
        name: string;
        value: number;
        children?: Frame[];
      }
      const found: { level: number; name: string; value: number; width: number }[] = [];
      const walk = (frame: Frame, level: number, width: number) => {
        found.push({ level, name: frame.name, value: frame.value, width });
        for (const child of frame.children ?? []) {
          const share = (child.value / frame.value) * width;
          if (share >= least) walk(child, level + 1, share);
        }
      };
      walk(profile.frames as Frame, 1, 1);
      return found;
    }

    const drawn = (page: Page) =>
      page.$$eval("#profiles .flame-box", (all) =>
        all.map((box) => ({
          level: Number(box.getAttribute("aria-level")),
          label: box.getAttribute("aria-label")!,
          width: parseFloat((box as HTMLElement).style.width) / 100,
        })),
      );

    const amount = (profile: PageFile["profiles"][number], value: number) =>
      profile.unit === "bytes"
        ? format.bytes(value)
        : profile.unit.endsWith("_ns")
          ? format.duration(value)
          : `${format.count(value)} ${words.charts.profileUnits[profile.unit as "objects"]}`;

    it("flame graphs frame by frame, and the functions with the most of their own", async () => {
      const data = fixture("profiles");
      const { page, done } = await open(browser, "values-profiles", data);
      await readAll(page);
      await page.locator("#profiles").screenshot({ path: shotPath("profiles-light") });
      await page.locator("#profiles summary").click();
      for (const [at, profile] of data.profiles.entries()) {
        await page.locator("#profiles select").first().selectOption(String(at));
        const width = await page.locator("#profiles .flame-tree").evaluate((tree) => tree.clientWidth);
        const expected = boxes(profile, 1.5 / width);
        expect(expected.length).toBeGreaterThan(10);
        await expect
          .poll(() => drawn(page))
          .toEqual(
            expected.map(({ level, name, value, width }) => ({
              level,
              label: `${name}: ${amount(profile, value)}, ${format.percent(value / profile.total)}`,
              width: expect.closeTo(width, 4),
            })),
          );
        const fold = page.locator("#profiles details");
        if ((await fold.getAttribute("open")) === null) await fold.locator("summary").click();
        const { rows } = await tableOf(page, words.profiles.top);
        const bare = (value: number) => amount(profile, value).replace(/ objects$/, "");
        expect(rows).toEqual(
          profile.top.map((row) => [
            row.function || format.NONE,
            bare(row.flat),
            format.percent(row.flat_share),
            bare(row.cumulative),
            format.percent(row.cumulative_share),
          ]),
        );
      }
      await done();
    });

    it("zooms to a frame and back", async () => {
      const data = fixture("profiles");
      const { page, done } = await open(browser, "values-zoom", data);
      await readAll(page);
      const child = page.locator("#profiles .flame-box[aria-level='3']").first();
      const label = (await child.getAttribute("aria-label"))!;
      await child.click();
      const zoomed = async () => (await drawn(page)).find((box) => box.label === label);
      await expect.poll(zoomed).toEqual({ level: 3, label, width: 1 });
      await page.locator("#profiles .flame-tree").press("Escape");
      await page.getByRole("button", { name: words.charts.flameReset }).click();
      await expect.poll(async () => (await zoomed())!.width).toBeLessThan(1);
      await done();
    });

    it("one profile against that of another cell", async () => {
      const data = fixture("profiles");
      const { page, done } = await open(browser, "values-difference", data);
      await readAll(page);
      const [profile] = data.profiles;
      const other = data.profiles.find(({ cell, name }) => cell !== profile!.cell && name === profile!.name)!;
      await page.locator("#profiles select").nth(1).selectOption({ label: other.label });
      await page.waitForSelector("[data-chart='flame-difference']");
      await page.locator("#profiles").screenshot({ path: shotPath("profiles-difference") });
      const before = new Map(
        (other.frames.children ?? []).map((frame) => [frame.name, format.percent(frame.value / other.total)]),
      );
      const top = (await drawn(page)).filter(({ level }) => level === 2);
      expect(top.length).toBeGreaterThan(1);
      for (const { label } of top) {
        const name = label.slice(0, label.indexOf(": "));
        expect(label).toContain(`(${words.charts.before} ${before.get(name) ?? "–"})`);
      }
      await done();
    });

    it("what could not be taken, why, and the remedy", async () => {
      const { page, data, done } = await whole("profiles");
      expect(data.profiles_refused.length).toBeGreaterThan(1);
      const said = await page.$$eval("#profiles .refusal", (all) => all.map((one) => one.textContent));
      expect(said).toEqual(
        data.profiles_refused.map(
          ({ label, refused }) =>
            `– ${label}, ${refused.kind} ${words.refused}: ${refused.why.text}; ${refused.remedy.text}`,
        ),
      );
      await done();
    });
  });
});
