/** Words inside charts, in English. `charts.zh.ts` has the same keys, or does not compile. */
import { counterName } from "./counters";

export const chartsEn = {
  chart: "chart",
  savePicture: (chart: string) => `Save as a picture (PNG): ${chart}`,
  loading: "The chart is drawn when it comes into view.",
  // Numbers and answers
  value: "value",
  ratio: "ratio",
  change: "change",
  interval: "interval",
  verdict: "answer",
  better: "better",
  worse: "worse",
  blocks: "blocks",
  block: "block",
  trial: "trial",
  trials: "valid trials",
  centre: "centre",
  cost: "cost",
  answers: "answers",
  histogram: "How many requests took how long",
  sharePerBin: "Share of requests in each bin of 12 %",
  mostBetween: (low: string, high: string) => `most took ${low} to ${high}`,
  fromTo: (what: string, low: string, high: string) => `${what} from ${low} to ${high}`,
  outcomes: { valid: "valid", void: "void", failed: "failed" },
  // Comparison
  forest: "Ratio of each pair with its interval; the band counts as equal",
  forestAxis: "Change of the first against the second",
  // Whole curves
  shift: (who: string) => `Change of response time at each quantile with its band: ${who}`,
  shiftAxis: "Change of response time, first against second",
  shiftBand: "band",
  shiftExcludes: (a: string, longer: string, shorter: string) =>
    longer === "" && shorter === ""
      ? "The band contains zero at every quantile: nowhere on the curve is a difference shown."
      : shorter === ""
        ? `The band excludes zero at ${longer}: ${a} takes longer there.`
        : longer === ""
          ? `The band excludes zero at ${shorter}: ${a} takes less time there.`
          : `The band excludes zero: ${a} takes longer at ${longer}, and less time at ${shorter}.`,
  strips: (metric: string) => `${metric} of each trial, by cell`,
  // Layers
  layers: { costs: "costs", saves: "saves", not_shown: "no cost shown", refused: "refused" },
  allLayers: "with all layers",
  waterfall: (metric: string) => `${metric}: what each layer adds`,
  // Parts of the mean response time
  parts: {
    pacer_lag: "generator's lateness",
    wait_connection: "wait for a connection",
    wait_stream: "wait for a stream",
    wait_window: "wait for a window",
    write: "sending the request",
    first_byte: "until the first byte",
    transfer: "until the last byte",
  },
  allParts: "mean response time",
  partsOf: "What the mean response time is made of",
  // Over time
  warmup: "warm-up, cut off",
  drain: "drain",
  until: "second up to",
  throughputPanel: "Throughput, right answers per second",
  latencyPanel: "Response time",
  failedPanel: "Failed requests",
  failed: "failed",
  timeline: (trial: number) => `Trial ${trial} over time`,
  endpoints: (trial: number) => `Response times of each request over trial ${trial}`,
  otherRequests: "all other requests",
  percentile: "Percentile",
  outlying: "far from its cell's others",
  overview: (cell: string, trials: string) => `${cell}: throughput and p99 over time of ${trials} trials`,
  memory: {
    resident: "Resident memory",
    heap: "Heap in use",
    alloc_rate: "Allocated per second",
    collections: "Collections per second",
    pauses: "Time in pauses, per second",
    p99: "Response time, p99",
  },
  memoryView: (trial: number) => `Memory, garbage collection and p99 of trial ${trial} on one time axis`,
  heat: (trial: number) => `Response times of trial ${trial} over time, by colour`,
  heatMost: (count: string, rows: string) => `At most ${count} answers in one cell; ${rows} spans of time`,
  answersPerCell: "Answers per cell of the map:",
  pauseHeat: (trial: number) => `Garbage collection pauses of trial ${trial} over time, by colour`,
  pauseHeatMost: (count: string, rows: string) =>
    `At most ${count} pauses in one cell; ${rows} spans of time`,
  pauseLength: "Length of pause",
  pauseCount: "Pauses",
  pausesPerCell: "Pauses per cell of the map:",
  // Soak
  segment: (trial: number) => `segment of trial ${trial}`,
  limit: (value: string) => `limit ${value}`,
  trend: "trend",
  // Load
  ladder: (metric: string) => `Throughput, ${metric} and errors by load`,
  loadAxis: { connections: "Connections", rate: "Requests per second offered" },
  loadUnit: { connections: "connections", rate: "requests/s offered" },
  latencyOf: (metric: string) => `Response time, ${metric}`,
  errorsPanel: "Errors, share of requests",
  knee: "knee",
  prediction: "predicted by the scalability law",
  bound: "bound by CPU and load",
  search: "Rates that were tried, in order",
  searchAxis: "Trial, in order",
  searchPanel: "Requests per second offered",
  passed: "passed",
  notPassed: "did not pass",
  undecided: "could not be judged",
  verified: (rate: string) => `verified ${rate}`,
  searchPurposes: { bracket: "bracketing", bisect: "narrowing down", confirm: "confirming" },
  // Distributions
  percentiles: "Response time by percentile",
  percentileAxis: "Percentile of response time",
  cdf: "Share of requests answered within a time",
  least: "min",
  responseTime: "Response time",
  others: (n: number) => (n === 1 ? "1 other" : `${n} others`),
  shareAtMost: "Share of requests answered within this time",
  // History
  level: "level",
  changedBefore: "changed before this run",
  // Flame graphs
  flame: (kind: string, cell: string) =>
    `Flame graph, ${kind}, ${cell}. Arrow keys move, Enter zooms, Escape goes back`,
  flameSearch: "Search functions",
  flameFound: (count: string) => `${count} frames found`,
  flameReset: "Show all",
  before: "before:",
  grew: "grew",
  shrank: "shrank",
  profileUnits: { objects: "objects", samples: "samples", goroutines: "goroutines" },
  // Counters
  counter: (key: string) => counterName(key, "en"),
  cpus: (n: string) => (n === "1" ? "1 CPU" : `${n} CPUs`),
  countersTitle: "Counters under the chart",
  countersSearch: "Search counters",
  countersHint: "for example: cpu, gc pause, retrans",
  countersFound: (shown: string, all: string) => `${shown} of ${all} counters; those that move come first`,
};

export type ChartWords = typeof chartsEn;
