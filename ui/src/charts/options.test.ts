/** Each chart shows the values that it was given, as they stand in the page file, and bears odd ones. */
import { describe, expect, it } from "vitest";
import { WORDS } from "../words";
import type { Analysis, CellPlan, Comparison, Counter, Detail } from "./data";
import compareJson from "./fixtures/compare.json";
import gcJson from "./fixtures/gc.json";
import kneeJson from "./fixtures/knee.json";
import { forestOption, forestRows, ratioTicks, verdictWord } from "./forest";
import * as made from "./gallery/made";
import { heatAlt, heatCells, heatColour, heatOption } from "./heat";
import { historyOption, levelsOf } from "./history";
import { ladderOfCells, ladderOption, laddersOf } from "./ladder";
import { type Look, svgLook } from "./look";
import { memoryOption } from "./memory";
import { cdfOption, histogramOption, oneIn, percentilesOption, ticked } from "./percentiles";
import { matching } from "./counters";
import { overviewOption } from "./overview";
import { searchOption } from "./search";
import { shiftAlt, shiftOption, shiftSentence, side, stretches } from "./shift";
import { segmentsOf, soakOption } from "./soak";
import { sparkPath } from "./sparkline";
import { stripsOption } from "./strips";
import { counterFormat, counterKey, timelineOption } from "./timeline";
import type { TimePart } from "./data";
import { barsOf, partBars, partsOption, waterfallOption } from "./waterfall";

interface Fixture {
  analysis: Analysis;
  cells: CellPlan[];
  details: Detail[];
}

const compare = compareJson as unknown as Fixture;
const gc = gcJson as unknown as Fixture;
const knee = kneeJson as unknown as Fixture;
const en = WORDS.en;
const wide = { ...svgLook(1200), heat: ["#ffffff", "#eeeeee", "#999999", "#555555", "#222222", "#000000"] };
const narrow = { ...svgLook(328), heat: wide.heat };
const LOOKS: Look[] = [wide, narrow];

/** The data of all series that have some, by name. */
function shown(option: object): Map<string, unknown[]> {
  const { series } = option as { series: { name?: string; data?: unknown[] }[] };
  const all = new Map<string, unknown[]>();
  for (const one of series) if (one.name && one.data && !all.has(one.name)) all.set(one.name, one.data);
  return all;
}

describe("the comparison", () => {
  it("shows ratio and interval of every comparison that has numbers", () => {
    const { comparisons, margin } = compare.analysis;
    const drawn = comparisons.filter((one) => one.ratio != null || one.difference_interval);
    for (const look of LOOKS) {
      const data = shown(forestOption({ comparisons, margin }, look, en)).get(en.charts.ratio) as number[][];
      expect(data.map((row) => [row[0], row[2], row[3]])).toEqual(
        drawn.map((one) => [one.ratio, one.interval?.low ?? null, one.interval?.high ?? null]),
      );
    }
    expect(drawn.length).toBeGreaterThan(20);
  });

  it("has a heading for each pair and load", () => {
    const rows = forestRows(made.comparisons);
    expect(rows.filter((row) => "head" in row)).toHaveLength(2);
    // The refused one has no number.
    expect(rows.filter((row) => "of" in row)).toHaveLength(made.comparisons.length - 1);
  });

  it("says better where it is not about speed", () => {
    expect(verdictWord({ verdict: "slower", metric: "memory" }, en)).toBe("worse");
    expect(verdictWord({ verdict: "slower", metric: "p99" }, en)).toBe("slower");
  });

  it("has ticks around equality, and bears ratios that no axis can hold", () => {
    expect(ratioTicks([0.9, 1.1], 5)).toContain(1);
    expect(ratioTicks([0.01, 50], 20)).toContain(1);
    const odd = [0, -1, 1e300, NaN, null].map((ratio): Comparison => ({
      ...made.comparisons[0]!,
      ratio,
      interval: { low: ratio, high: null },
    }));
    const { xAxis } = forestOption({ comparisons: odd, margin: 0.02 }, wide, en) as {
      xAxis: { min: number; max: number };
    };
    expect(xAxis.min).toBeGreaterThan(0);
    expect(Number.isFinite(xAxis.max)).toBe(true);
  });
});

describe("the shift function", () => {
  const { shift } = made;
  const zh = WORDS.zh;

  it("shows ratio and band at every quantile, with equality in view", () => {
    for (const look of LOOKS) {
      const option = shiftOption({ shift, a: "a", b: "b" }, look, en);
      const all = shown(option);
      expect(all.get(en.charts.ratio)).toEqual(
        shift.points.map(
          ({ quantile, ratio }) => expect.objectContaining({ value: [oneIn(quantile), ratio] }) as object,
        ),
      );
      expect(all.get(en.charts.shiftBand)).toEqual(
        shift.points.map(({ quantile, band }) => [oneIn(quantile), band.low, band.high]),
      );
      const { yAxis, series } = option as {
        yAxis: { min: number; max: number; axisLabel: { customValues: number[] } };
        series: { markLine?: { data: object[] } }[];
      };
      expect(yAxis.min).toBeLessThan(0.95 / Math.exp(0.02));
      expect(yAxis.max).toBeGreaterThan(1.3 * Math.exp(0.5));
      expect(yAxis.axisLabel.customValues).toContain(1);
      expect(series.flatMap(({ markLine }) => markLine?.data ?? [])).toEqual([{ yAxis: 1 }]);
    }
  });

  it("says in one sentence where the band excludes zero, and fills the signs there", () => {
    expect(stretches(shift.points, -1)).toEqual(["p5–p20"]);
    expect(stretches(shift.points, 1)).toEqual(["p95–p99.5"]);
    expect(shiftSentence({ shift, a: "go/gin" }, en)).toBe(
      "The band excludes zero: go/gin takes longer at p95–p99.5, and less time at p5–p20.",
    );
    expect(shiftSentence({ shift, a: "go/gin" }, zh)).toContain("go/gin 在 p95–p99.5 更慢");
    const only = (of: -1 | 0 | 1) => ({
      ...shift,
      points: shift.points.filter((point) => side(point) === of),
    });
    expect(shiftSentence({ shift: only(0), a: "x" }, en)).toContain("at every quantile");
    expect(shiftSentence({ shift: only(1), a: "x" }, en)).toContain("p95–p99.5: x takes longer");
    expect(shiftSentence({ shift: only(-1), a: "x" }, en)).toContain("p5–p20: x takes less time");
    expect(shiftAlt({ shift, a: "x", b: "y" }, en)).toContain("p99 +34.0 %");
    const data = shown(shiftOption({ shift, a: "a", b: "b" }, wide, en)).get(en.charts.ratio);
    expect((data as { symbol: string }[]).map(({ symbol }) => symbol !== "circle")).toEqual(
      shift.points.map((point) => side(point) !== 0),
    );
  });

  it("keeps its axis within bounds for bands without ends and ratios beyond any number", () => {
    const points = [0, 1e300, NaN, 1.1].map((ratio, at) => ({
      quantile: [0.5, 0.9, 0.99, 1][at]!,
      ratio,
      band: { low: null, high: at === 1 ? 1e300 : null },
    }));
    const { yAxis } = shiftOption({ shift: { ...shift, points }, a: "a", b: "b" }, wide, en) as {
      yAxis: { min: number; max: number };
    };
    expect(yAxis.min).toBeGreaterThan(0);
    expect(yAxis.max).toBeLessThanOrEqual(100);
    expect(points.map(side)).toEqual([0, 0, 0, 0]);
  });
});

describe("the strips", () => {
  it("show the value of every trial, and the centres", () => {
    const option = shown(stripsOption({ analysis: compare.analysis, metric: "throughput" }, wide, en));
    const values = compare.analysis.trials.map(
      (trial) => trial.values.find((v) => v.metric === "throughput")?.value,
    );
    expect((option.get(en.metrics.throughput) as number[][]).map(([value]) => value)).toEqual(values);
    const centres = compare.analysis.cells.map(
      (cell) => cell.metrics.find((m) => m.metric === "throughput")?.center,
    );
    expect((option.get(en.charts.centre) as number[][]).map(([value]) => value)).toEqual(centres);
  });
});

describe("the ladder", () => {
  it("shows load and throughput of each row, and a knee only where one is claimed", () => {
    const [data] = laddersOf(knee.analysis);
    const capacity = knee.analysis.capacity![0]!;
    for (const look of LOOKS) {
      const option = ladderOption(data!, look, en);
      expect(shown(option).get("reference")).toEqual(
        capacity.rows.map((row) => [row.load, row.throughput_per_s.value]),
      );
      const marks = JSON.stringify(option);
      const claimed = capacity.knees.filter((one) => one.at != null);
      expect(claimed.length).toBe(1);
      for (const one of claimed) expect(marks).toContain(`"xAxis":${one.at}`);
    }
  });

  it("is made of plain cells with loads that are numbers, and of nothing else", () => {
    const ladders = ladderOfCells(compare.analysis, compare.cells, "p90");
    expect(ladders).toHaveLength(1);
    expect(ladders[0]!.lines.map((line) => line.rows.map((row) => row.load))).toEqual([
      [8, 32],
      [8, 32],
      [8, 32],
    ]);
    expect(ladderOfCells(gc.analysis, gc.cells, "p90")).toEqual([]);
  });

  it("bears values of 0 and none at all", () => {
    const [data] = laddersOf(knee.analysis);
    const zero = { value: 0, interval: null };
    const none = { value: null, interval: null };
    const rows = data!.lines[0]!.rows;
    for (const empty of [zero, none]) {
      const odd = {
        ...data!,
        lines: [
          { ...data!.lines[0]!, rows: rows.map((row) => ({ ...row, throughput: empty, latency: empty })) },
        ],
      };
      expect(ladderOption(odd, wide, en).series).toBeDefined();
    }
  });

  it("has a chart of each rate that a search tried", () => {
    const data = shown(searchOption(made.search, wide, en)).get(en.charts.search) as { value: number[] }[];
    expect(data.map((one) => one.value[1])).toEqual(made.search.steps.map((step) => step.rate_per_s));
  });
});

describe("distributions", () => {
  const curves = compare.analysis.cells.map((cell, index) => ({
    name: cell.label,
    index,
    curve: cell.curve,
  }));

  it("show every quantile below the maximum, on the axis of nines", () => {
    const option = shown(percentilesOption(curves, wide, en));
    for (const curve of curves) {
      const expected = curve.curve
        .filter((p) => p.quantile < 1 && p.ns > 0)
        .map((p) => [oneIn(p.quantile), p.ns]);
      expect(option.get(curve.name)).toEqual(expected);
    }
  });

  it("stand back without a name, and keep their values", () => {
    const backed = curves.map((curve, at) => ({ ...curve, isFaint: at > 0 }));
    for (const option of [percentilesOption(backed, wide, en), cdfOption(backed, wide, en)]) {
      const values = shown(option);
      for (const { name, curve } of backed)
        expect(values.get(name)!.length).toBeGreaterThan(curve.length - 2);
      const lines = (option.series as { name: string; lineStyle?: { color: string }; z: number }[]).filter(
        ({ name }) => name !== "",
      );
      expect(lines.map(({ lineStyle }) => lineStyle!.color === wide.faint)).toEqual(
        backed.map(({ isFaint }) => isFaint),
      );
      for (const line of lines.slice(1)) expect(line.z).toBeLessThan(lines[0]!.z);
    }
  });

  it("leave a minimum far below the rest below the panel, and no other", () => {
    const curve = (...ns: number[]) => [
      { name: "a", index: 0, curve: ns.map((ns, at) => ({ quantile: [0, 0.2, 0.5, 0.9][at]!, ns })) },
    ];
    const least = (curves: ReturnType<typeof curve>) =>
      (percentilesOption(curves, wide, en) as { yAxis: { min: number }[] }).yAxis[0]!.min;
    expect(least(curve(1e6, 8e6, 9e6, 1e7))).toBeGreaterThan(5e6);
    expect(least(curve(5e6, 8e6, 9e6, 1e7))).toBeLessThan(5e6);
    expect(least(curve(1e6))).toBeLessThan(1e6);
  });

  it("show every bin with its share, and where the last ends", () => {
    const histogram = [
      { from_ns: 1e6, to_ns: 1.12e6, share: 0.25 },
      { from_ns: 1.12e6, to_ns: 1.26e6, share: 0.5 },
    ];
    const option = histogramOption([{ name: "a", index: 0, histogram }], wide, en);
    expect(shown(option).get("a")).toEqual([
      [1e6, 0.25],
      [1.12e6, 0.5],
      [1.26e6, 0],
    ]);
    const [line] = (option.series as { name: string }[]).filter(({ name }) => name === "a");
    expect(line).toMatchObject({ step: "end", areaStyle: expect.anything() as object });
  });

  it("name p95 where it has room beside p90, and not else", () => {
    const ticks = (look: Look) => JSON.stringify(percentilesOption(curves, look, en).xAxis);
    const axisOf = (look: Look) => ticked(1e4, look);
    expect(axisOf(wide)).toContain(0.95);
    expect(axisOf(narrow)).not.toContain(0.95);
    expect(ticks(wide)).not.toBe(ticks(narrow));
  });

  it("show the share of requests within each time", () => {
    const option = shown(cdfOption(curves, narrow, en));
    for (const curve of curves) {
      expect(option.get(curve.name)).toEqual(
        curve.curve.filter((p) => p.ns > 0).map((p) => [p.ns, p.quantile]),
      );
    }
  });

  it("show each count of the heat map where it belongs", () => {
    const heat = gc.details[0]!.heat!;
    const cells = heatCells(heat);
    const sum = heat.rows.flat().reduce((a, b) => a + b, 0);
    expect(cells.reduce((a, cell) => a + cell[4], 0)).toBe(sum);
    const option = shown(heatOption({ heat, trial: gc.analysis.trials[0]! }, wide, en));
    expect(option.get(en.charts.answers)).toEqual(cells);
  });

  it("show pauses by length without the lines of response times", () => {
    const heat = {
      start_ns: 0,
      t_ns: [1e9, 2e9, 3e9],
      edges_ns: [1e5, 2e5, 4e5],
      rows: [
        [0, 0],
        [12, 1],
        [0, 3],
      ],
      count_max: 12,
    };
    const of = { heat, trial: gc.analysis.trials[0]!, of: "pauses" as const };
    for (const look of LOOKS) {
      for (const words of [WORDS.en, WORDS.zh]) {
        const option = shown(heatOption(of, look, words));
        expect([...option.keys()]).toEqual([words.charts.pauseCount]);
        expect(option.get(words.charts.pauseCount)).toEqual([
          [1e9, 2e9, 1e5, 2e5, 12],
          [1e9, 2e9, 2e5, 4e5, 1],
          [2e9, 3e9, 2e5, 4e5, 3],
        ]);
        expect(heatAlt(of, words)).toContain("12");
        expect(heatAlt(of, words)).toContain(words.charts.pauseHeat(of.trial.id));
      }
    }
  });

  it("are darker where there is more", () => {
    const colours = [1, 10, 100, 1000].map((n) => parseInt(heatColour(n, 1000, wide.heat).slice(1), 16));
    expect([...colours].sort((a, b) => b - a)).toEqual(colours);
    expect(heatColour(1, 1, wide.heat)).toBe("#000000");
  });
});

describe("time", () => {
  const trial = gc.analysis.trials[0]!;
  const detail = gc.details[0]!;

  it("shows the series of a trial and the chosen counters on one axis", () => {
    const counter = detail.counters.find((one) => one.source === "go.runtime")!;
    const key = counterKey(counter);
    for (const look of LOOKS) {
      const option = timelineOption({ trial, detail, counters: [key] }, look, en);
      const data = shown(option);
      const load = trial.series.filter((point) => point.phase !== "drain");
      expect(data.get("p99")).toEqual(load.map((point) => [point.t_ns, point.p99_ns ?? null]));
      expect(data.get(en.metrics.throughput)).toEqual(
        load.map((point) => [point.t_ns, point.throughput_per_s]),
      );
      expect(data.get(en.charts.counter(key) ?? key)).toEqual(
        detail.t_ns.map((t, at) => [t, counter.values[at] ?? null]),
      );
      const axes = option.xAxis as { min: number; max: number }[];
      expect(new Set(axes.map((axis) => `${axis.min} ${axis.max}`)).size).toBe(1);
    }
  });

  it("has warm-up, drain and events where they were", () => {
    const warmEnd = Math.max(...trial.series.filter((p) => p.phase === "warmup").map((p) => p.t_ns));
    const text = JSON.stringify(
      timelineOption(
        { trial, detail: { ...detail, events: [{ t_ns: 7e9, name: "restart" }] } as Detail },
        wide,
        en,
      ),
    );
    expect(text).toContain(`{"xAxis":${warmEnd}}`);
    expect(text).toContain(`"xAxis":7000000000`);
  });

  it("shows failures only where there are some, and void trials in grey", () => {
    expect(shown(timelineOption({ trial }, wide, en)).has(en.charts.failed)).toBe(false);
    const wild = made.madeTrial(3, "void");
    const option = timelineOption({ trial: wild }, wide, en) as {
      series: { name: string; lineStyle?: { color: string } }[];
    };
    expect(shown(option).get(en.charts.failed)).toHaveLength(65);
    expect(option.series.find((one) => one.name === "p99")?.lineStyle?.color).toBe(wide.faint);
  });

  it("shows memory, soaks and all trials of a cell", () => {
    const view = gc.analysis.cells[0]!.memory_view!;
    const data = shown(memoryOption(view, wide, en));
    for (const series of view.series) {
      expect(data.get(en.charts.memory[series.kind])).toEqual(
        view.ends_ns.map((end, at) => [end, series.values[at]]),
      );
    }
    const trials = [made.madeTrial(1), made.madeTrial(2)];
    expect([...shown(overviewOption({ cell: { label: "x" }, trials, index: 0 }, wide, en)).keys()]).toEqual([
      "trial 1",
      "trial 2",
    ]);
    // A value stands at the end of its interval: before the first there is nothing to see.
    const begins = (of: typeof view) =>
      (memoryOption(of, wide, en).xAxis as { min: number; max: number }[]).map(({ min, max }) => [min, max]);
    expect(new Set(begins(view).flat())).toEqual(new Set([view.ends_ns[0], view.ends_ns.at(-1)]));
    const late = {
      ...view,
      series: view.series.map((of) => ({ ...of, values: [null, ...of.values.slice(1)] })),
    };
    expect(begins(late)[0]![0]).toBe(view.ends_ns[1]);
    const [memory] = made.soak;
    const segments = segmentsOf(memory!);
    expect(segments.map((one) => one.points.length)).toEqual([60, 240]);
    expect(shown(soakOption(memory!, wide, en)).get(en.soaks.counters.memory)).toEqual(segments[0]!.points);
  });

  it("shows the runs of a history and its levels", () => {
    const data = { runs: made.historyRuns, series: made.historySeries };
    expect(shown(historyOption(data, wide, en)).get(en.metrics.throughput)).toEqual(
      made.historySeries.points.map((point) => [point.run, point.value]),
    );
    // The first run has place 0, where an axis would stand by itself.
    expect(historyOption(data, wide, en).yAxis).toMatchObject({ axisLine: { onZero: false } });
    expect(levelsOf(data).map((level) => [level.from, level.to])).toEqual([
      [0, 8],
      [9, 15],
      [16, 23],
    ]);
    expect(levelsOf({ ...data, series: { ...made.historySeries, changes: [] } })).toEqual([]);
  });
});

describe("layers", () => {
  it("stand where the analysis puts them", () => {
    const bars = barsOf(made.layers, en);
    expect(bars.map((bar) => bar.to)).toEqual([18_200, 21_100, 30_500, 30_710, 24_610, 24_610]);
    const data = shown(waterfallOption(made.layers, narrow, en)).get(
      en.metrics.cpu_per_request,
    ) as number[][];
    expect(data.map(([from, to]) => [from, to])).toEqual(bars.map((bar) => [bar.from, bar.to]));
    expect(barsOf({ ...made.layers, base_ns: null }, en)).toEqual([]);
  });
});

describe("parts of the mean response time", () => {
  it("stand one behind the other, and all of them stand at their sum", () => {
    const parts: TimePart[] = [
      { part: "pacer_lag", mean_ns: 500, from_ns: 0, to_ns: 500 },
      { part: "wait_stream", mean_ns: 2_000, from_ns: 500, to_ns: 2_500 },
      { part: "first_byte", mean_ns: 5_000, from_ns: 2_500, to_ns: 7_500 },
    ];
    const ends = partBars(parts, en).map(({ from, to }) => [from, to]);
    expect(ends).toEqual([
      [0, 500],
      [500, 2_500],
      [2_500, 7_500],
      [0, 7_500],
    ]);
    const data = shown(partsOption(parts, narrow, en)).get(en.metrics.mean) as number[][];
    expect(data.map(([from, to]) => [from, to])).toEqual(ends);
  });
});

describe("counters", () => {
  it("are found by words in any order, those that move first", () => {
    const { counters } = gc.details[0]!;
    const found = matching(counters, "pause go.runtime", en);
    expect(found.length).toBeGreaterThan(0);
    for (const one of found) expect(counterKey(one)).toMatch(/go\.runtime.*pause/);
    expect(matching(counters, "", en)).toHaveLength(counters.length);
    expect(matching(counters, "no such counter", en)).toEqual([]);
  });

  it("are found by their names in the language of the page, too", () => {
    const { counters } = gc.details[0]!;
    const keys = (query: string, words: typeof en) => matching(counters, query, words).map(counterKey);
    expect(keys("stolen time", en)).toEqual(["host.stat/steal_ns"]);
    expect(keys("被抢占", WORDS.zh)).toEqual(["host.stat/steal_ns"]);
    expect(keys("steal_ns", WORDS.zh)).toEqual(["host.stat/steal_ns"]);
  });

  it("have their name above the panel and their key beside it, where there is room", () => {
    const trial = gc.analysis.trials[0]!;
    const detail = gc.details[0]!;
    const title = (look: Look, key: string) => {
      const { yAxis } = timelineOption({ trial, detail, counters: [key] }, look, en) as {
        yAxis: { name: string }[];
      };
      return yAxis.at(-1)!.name;
    };
    expect(title(wide, "target.process/cpu_ns")).toBe("CPU time of the target{key|target.process/cpu_ns}");
    expect(title(narrow, "target.process/busiest_thread_percent")).toBe("Busiest thread of the target");
    expect(title(wide, "tcp.netstat/TW")).toBe("tcp.netstat/TW");
  });

  it("of CPU time are so many CPUs, others per second", () => {
    const show = (source: string, name: string, unit: string | null, words = en) =>
      counterFormat({ source, name, kind: "delta", unit } as Counter, words);
    expect(show("target.process", "cpu_ns", "ns")(1.42e9)).toBe("1.42 CPUs");
    expect(show("service.db.process", "user_ns", "ns")(1e9)).toBe("1 CPU");
    expect(show("host.stat", "steal_ns", "ns", WORDS.zh)(2e7)).toBe("0.0200 个 CPU");
    expect(show("target.process", "run_delay_ns", "ns")(2e7)).toBe("20.0 ms/s");
    expect(show("host.stat", "ctxt", null)(300)).toBe("300/s");
  });
});

describe("the sparkline", () => {
  it("leaves gaps where there are none", () => {
    expect(sparkPath([1, null, 3, 4], 100, 20).path.match(/M/g)).toHaveLength(2);
    expect(sparkPath([], 100, 20).path).toBe("");
    expect(sparkPath([NaN, Infinity], 100, 20).last).toBeUndefined();
    expect(sparkPath([5, 5], 100, 20, "least").last?.[1]).toBe(10);
  });
});

describe("foreign text", () => {
  it("reaches no label as a template or a second line", () => {
    const evil = "{head|x}\n<script>alert(1)</script>\u202e";
    const comparisons = [{ ...made.comparisons[0]!, a_target: evil }];
    const { yAxis } = forestOption({ comparisons, margin: 0.02 }, narrow, en) as {
      yAxis: { axisLabel: { formatter: (at: string) => string } };
    };
    const label = yAxis.axisLabel.formatter("0");
    expect(label).not.toMatch(/\n|\u202e/);
    expect(label.match(/\{[a-z]+\|/g)).toEqual(["{head|"]);
  });
});
