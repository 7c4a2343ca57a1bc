/**
 * Data for charts of which no small real run exists: made by formulas, the same each time.
 *
 * Invariant: nothing of this is shipped or measured; names are as wild as a run may bring them.
 */
import type { HistoryFile, HistorySeries } from "../../schema/history";
import type { Capacity, Comparison, Frame, LayerMetric, Profile, Shift, SoakTrend, Trial } from "../data";

/** Between −1 and 1, by number. */
export const noise = (n: number): number => {
  const x = Math.sin(n * 12.9898) * 43758.5453;
  return 2 * (x - Math.floor(x)) - 1;
};

const one = (
  metric: Comparison["metric"],
  ratio: number | null,
  half: number,
  verdict: Comparison["verdict"],
  load = "128 connections",
): Comparison => ({
  a: `a ${load}`,
  b: `b ${load}`,
  a_target: "go/gin",
  b_target: "go/echo",
  load,
  metric,
  blocks: 5,
  ratio,
  interval: ratio === null ? null : { low: ratio * (1 - half), high: ratio * (1 + half) },
  verdict,
  refused:
    ratio === null ? { text: "p99.9 needs at least 3,688 requests in a trial: lengthen the samples" } : null,
});

export const comparisons: Comparison[] = [
  one("throughput", 1.0468, 0.005, "faster"),
  one("p50", 0.9543, 0.007, "faster"),
  one("p99", 0.8214, 0.04, "faster"),
  one("p999", null, 0, "refused"),
  one("cpu_per_request", 1.031, 0.009, "slower"),
  one("memory", 1.012, 0.03, "inconclusive"),
  one("throughput", 0.9916, 0.004, "equivalent", "16 connections"),
  one("p50", 1.0108, 0.013, "inconclusive", "16 connections"),
  { ...one("p99", 1.12, 0.05, "inconclusive", "16 connections"), interval: { low: 0.97, high: null } },
];

/** A curve whose lower part is faster, whose middle is alike and whose tail is much longer. */
export const shift: Shift = {
  a: "c1",
  b: "c2",
  blocks: 10,
  points: (
    [
      [0.05, 0.95, 0.02],
      [0.1, 0.955, 0.02],
      [0.2, 0.96, 0.025],
      [0.3, 0.97, 0.04],
      [0.4, 0.98, 0.03],
      [0.5, 0.99, 0.03],
      [0.6, 0.995, 0.03],
      [0.7, 1.005, 0.03],
      [0.8, 1.01, 0.035],
      [0.9, 1.03, 0.04],
      [0.95, 1.09, 0.06],
      [0.98, 1.21, 0.08],
      [0.99, 1.34, 0.12],
      [0.995, 1.42, 0.2],
      [0.999, 1.3, 0.5],
    ] as [number, number, number][]
  ).map(([quantile, ratio, half]) => ({
    quantile,
    ratio,
    band: { low: ratio / Math.exp(half), high: ratio * Math.exp(half) },
  })),
};

/** A trial with a stall, its failures, and a drain. */
export function madeTrial(id: number, outcome: Trial["outcome"] = "valid"): Trial {
  const series: Trial["series"] = Array.from({ length: 66 }, (_, at) => {
    const warm = at < 6 ? 0.5 + 0.08 * at : 1;
    const stall = at > 36 && at < 41;
    const rate = 48_000 * warm * (1 + 0.015 * noise(at + id * 100)) * (stall ? 0.2 : 1);
    return {
      t_ns: (at + 1) * 1e9,
      phase: at < 6 ? "warmup" : at < 65 ? "sample" : "drain",
      throughput_per_s: at === 65 ? 0 : rate,
      p50_ns:
        at === 38 ? null : Math.round((2.5e6 / warm) * (1 + 0.03 * noise(at * 3 + id)) * (stall ? 4 : 1)),
      p99_ns: at === 38 ? null : Math.round((7e6 / warm) * (1 + 0.1 * noise(at * 7 + id)) * (stall ? 30 : 1)),
      failed: stall ? 40 + 10 * (at - 36) : 0,
    };
  });
  return {
    id,
    block: id,
    cell: "c1",
    outcome,
    reasons:
      outcome === "valid"
        ? []
        : [{ text: "p99 pacer lag 412 µs is over the limit of 125 µs: the generator was late" }],
    values: [],
    scheduled: 1,
    completed: 1,
    failed: 0,
    censored: 0,
    series,
  };
}

const searchRates = [1000, 2000, 4000, 8000, 6000, 5000, 4500, 4750, 4600, 4600, 4600, 4600, 4600];
export const search: NonNullable<Capacity["search"]> = {
  objective: ["p99 <= 20ms", "errors <= 0.1 %"],
  verified_per_s: 4600,
  limit: { low: 4600, high: 4750 },
  confirmations: 5,
  after_failure: 1,
  end: "verified",
  steps: searchRates.map((rate_per_s, at) => ({
    trial: at + 1,
    rate_per_s,
    purpose: at < 4 ? "bracket" : at < 8 ? "bisect" : "confirm",
    passed: at === 6 ? null : rate_per_s <= 4700,
    reasons: [{ text: `p99 ${rate_per_s <= 4700 ? "14.2" : "61.0"} ms` }],
  })),
};

export const soak: SoakTrend[] = [
  {
    counter: "memory",
    class: "leak",
    text: { text: "memory rises by 3.1 MiB an hour and reaches the limit in 12 h" },
    trial: 2,
    windows: 240,
    first: 40e6,
    last: 60e6,
    slope_per_h: 5e6,
    slope_low_per_h: 4.4e6,
    slope_high_per_h: 5.6e6,
    line: { at_ns: [60e9, 240 * 60e9], slope: [40e6, 60e6], low: [41.2e6, 58.8e6], high: [38.8e6, 61.2e6] },
    limit: { value: 72e6, source: { text: "memory.max" } },
    series: Array.from({ length: 300 }, (_, at) => ({
      trial: at < 60 ? 1 : 2,
      t_ns: (at < 60 ? at + 1 : at - 59) * 60e9,
      value: at < 60 ? 38e6 + at * 1e4 : 40e6 + (at - 60) * 83e3 + 4e5 * noise(at),
    })),
  },
  {
    counter: "p99",
    class: "steady",
    text: { text: "no trend" },
    trial: 1,
    windows: 240,
    first: 7e6,
    last: 7.05e6,
    series: Array.from({ length: 240 }, (_, at) => ({
      trial: 1,
      t_ns: (at + 1) * 60e9,
      value: 7e6 * (1 + 0.06 * noise(at * 5)),
    })),
  },
];

const RUNS = 24;
export const historyRuns: HistoryFile["runs"] = Array.from({ length: RUNS }, (_, at) => ({
  id: `2026-10-${String(at + 1).padStart(2, "0")}T04-00-00Z-nightly`,
  started_wall: `2026-10-${String(at + 1).padStart(2, "0")}T04:00:00Z`,
  trials_valid: 5,
  changed:
    at === 9
      ? [{ text: "go: 1.26.0 → 1.26.1" }]
      : at === 16
        ? [{ text: "kernel: 6.18.1 → 6.18.2" }, { text: "gin: 1.12.0 → 1.12.1" }]
        : [],
}));

export const historySeries: HistorySeries = {
  cell: "go/gin, 128 connections",
  metric: "throughput",
  unit: "per_second",
  points: Array.from({ length: RUNS }, (_, run) => ({
    run,
    value: (run < 9 ? 47_000 : run < 16 ? 49_400 : 45_100) * (1 + 0.008 * noise(run + 3)),
    trials: 5,
  })),
  changes: [
    {
      after_run: historyRuns[8]!.id,
      first_run: historyRuns[9]!.id,
      first_wall: historyRuns[9]!.started_wall,
      before: 47_010,
      after: 49_390,
      ratio: 1.0506,
      p_value: 0.001,
      is_worse: false,
    },
    {
      after_run: historyRuns[15]!.id,
      first_run: historyRuns[16]!.id,
      first_wall: historyRuns[16]!.started_wall,
      before: 49_390,
      after: 45_080,
      ratio: 0.9127,
      p_value: 0.001,
      is_worse: true,
    },
  ],
};

const layer = (
  level: string,
  against: string,
  from: number,
  cost: number,
  half: number,
  verdict: LayerMetric["layers"][number]["verdict"],
): LayerMetric["layers"][number] => ({
  level,
  cell: level,
  against,
  blocks: 5,
  cost_ns: cost,
  interval: { low: cost - half, high: cost + half },
  verdict,
  place: { from_ns: from, to_ns: from + cost, to_low_ns: from + cost - half, to_high_ns: from + cost + half },
});

export const layers: LayerMetric = {
  metric: "cpu_per_request",
  base: "middleware-0",
  base_cell: "c1",
  base_ns: 18_200,
  layers: [
    layer("log", "middleware-0", 18_200, 2_900, 300, "costs"),
    layer("token", "log", 21_100, 9_400, 450, "costs"),
    layer(
      "trace <script>alert(1)</script> {name|x} with a name that is far too long",
      "token",
      30_500,
      210,
      520,
      "not_shown",
    ),
    layer("cache", "trace", 30_710, -6_100, 400, "saves"),
  ],
};

const FRAMES = [
  "net/http.(*conn).serve",
  "github.com/gin-gonic/gin.(*Engine).ServeHTTP",
  "github.com/gin-gonic/gin.(*Context).Next",
  "encoding/json.Marshal",
  "runtime.mallocgc",
  "runtime.gcBgMarkWorker",
  "syscall.Syscall",
  "std::io::Write::write_all",
  "<img src=x onerror=alert(1)>",
];

function grow(depth: number, value: number, seed: number): Frame {
  const name = depth === 0 ? "all" : FRAMES[(seed * 7 + depth * 3) % FRAMES.length]!;
  if (depth > 11 || value < 3) return { name, value, children: [] };
  const parts = 1 + (seed % 3);
  const left = value * (0.9 - 0.05 * (seed % 4));
  const children = Array.from({ length: parts }, (_, at) =>
    grow(depth + 1, Math.round((left * (parts - at)) / ((parts * (parts + 1)) / 2)), seed * 2 + at + 1),
  ).map((child, at) => ({ ...child, name: `${child.name}${at ? `·${at}` : ""}` }));
  return { name, value, children };
}

const profile = (seed: number): Profile =>
  ({
    cell: "c1",
    label: "go/gin, 128 connections",
    kind: "cpu",
    name: "cpu",
    origin: "profiles/c1/cpu.folded",
    unit: "cpu_ns",
    total: 40_000,
    frames: grow(0, 40_000, seed),
    top: [],
    notes: [],
  }) as unknown as Profile;

export const profiles = [profile(5), profile(9)] as const;
