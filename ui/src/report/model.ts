/**
 * What sections ask of the page file that is not there by name: groups, orders, and which option the comparisons
 * speak for.
 *
 * Invariant: nothing is computed but counts of entries; every number that is shown stands in the file.
 */
import type {
  AnalysisFile,
  Capacity,
  CellSummary,
  Comparison,
  Metric,
  PageFile,
  Verdict,
} from "../schema/page";
import type { Text } from "../words/said/text";

/** The metrics of the short tables, in their order. */
export const KEY_METRICS: Metric[] = ["throughput", "p50", "p99", "error_rate", "cpu_per_request", "memory"];

/** The unit of a metric, as in `schema::metric`. */
export function unitOf(metric: Metric) {
  switch (metric) {
    case "throughput":
    case "gc_rate":
    case "reconnects":
    case "messages_completed":
    case "messages_received":
      return "per_second" as const;
    case "error_rate":
    case "cpu":
    case "gc_pause_share":
    case "memory_slack":
    case "connection_reuse":
    case "connect_failures":
    case "time_wait_reuse":
    case "retransmissions":
      return "share" as const;
    case "memory":
    case "alloc_per_request":
    case "bytes_per_request":
      return "bytes" as const;
    case "gc_count":
    case "requests_lost":
    case "stream_length":
      return "count" as const;
    case "sent_bytes":
    case "received_bytes":
    case "sent_per_cpu":
    case "received_per_cpu":
      return "bytes_per_second" as const;
    default:
      return "nanoseconds" as const;
  }
}

/** Two cells that were compared, with the comparison of each metric. */
export interface Pair {
  key: string;
  a: string;
  b: string;
  load: string;
  comparisons: Comparison[];
}

/** Comparisons of the same two cells, gathered in the order of their first appearance. */
export function pairsOf(comparisons: Comparison[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const comparison of comparisons) {
    const key = JSON.stringify([comparison.a, comparison.b]);
    const known = pairs.get(key);
    if (known) known.comparisons.push(comparison);
    else {
      const { a_target: a, b_target: b, load } = comparison;
      pairs.set(key, { key, a, b, load, comparisons: [comparison] });
    }
  }
  return [...pairs.values()];
}

/** The cells of one load, best first. */
export interface Ranking {
  load: string;
  by: Metric;
  /** Cells that are each at a load of their own, as those of a ladder, keep the plan's order. */
  isRanked: boolean;
  cells: CellSummary[];
}

export const centerOf = (cell: CellSummary, metric: Metric): number | null =>
  cell.metrics.find((of) => of.metric === metric)?.center ?? null;

/** By throughput, and by p99 where at every load all cells have the same throughput within the margin. */
export function rankings({ cells, margin }: Pick<AnalysisFile, "cells" | "margin">): Ranking[] {
  if (cells.length === 0) return [];
  const groups = new Map<string, CellSummary[]>();
  for (const cell of cells) groups.set(cell.load, [...(groups.get(cell.load) ?? []), cell]);
  const isRanked = [...groups.values()].some((group) => group.length > 1);
  if (!isRanked) return [{ load: "", by: "throughput", isRanked, cells }];
  const has = (metric: Metric) => cells.every((cell) => centerOf(cell, metric) !== null);
  const isFixed = (group: CellSummary[]) => {
    const rates = group.flatMap((cell) => centerOf(cell, "throughput") ?? []);
    return Math.max(...rates) <= Math.min(...rates) * (1 + margin);
  };
  const by = has("p99") && [...groups.values()].every(isFixed) ? "p99" : "throughput";
  const sign = by === "throughput" ? -1 : 1;
  const rank = (cell: CellSummary) => sign * (centerOf(cell, by) ?? sign * Infinity);
  return [...groups].map(([load, group]) => ({
    load,
    by,
    isRanked,
    cells: [...group].sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b))),
  }));
}

/** Who did best in one metric under one load, as far as the comparisons show it. */
export type Choice =
  /** One option was shown to be better than each other one. */
  | { kind: "best"; option: string }
  /** These were not shown to be worse than any other, and not to differ; the others were. */
  | { kind: "among"; options: string[] }
  /** No option was shown to be better than another. */
  | { kind: "none"; equivalent: boolean }
  /** No comparison gives an answer. */
  | { kind: "untold"; reason: Text };

/** One kind of workload with the choice for each metric that was compared there. */
export interface Workload {
  load: string;
  options: string[];
  choices: Map<Metric, Choice>;
}

/** The decision table: one row for each load under which options were compared. */
export function workloads(page: PageFile): Workload[] {
  const scenarios = scenarioOf(page);
  const groups = new Map<string, Comparison[]>();
  for (const comparison of page.analysis.comparisons) {
    if (comparison.load === "") continue;
    const scenario = scenarios(comparison.a);
    const load = scenario === "" ? comparison.load : `${scenario}, ${comparison.load}`;
    groups.set(load, [...(groups.get(load) ?? []), comparison]);
  }
  return [...groups].map(([load, comparisons]) => {
    const metrics = [...new Set(comparisons.map(({ metric }) => metric))];
    const of = (metric: Metric) => comparisons.filter((one) => one.metric === metric);
    return {
      load,
      options: optionsOf(comparisons),
      choices: new Map(metrics.map((metric) => [metric, choose(of(metric))])),
    };
  });
}

/** The scenario of a cell, where the plan has several and the load does not name it. */
function scenarioOf(page: PageFile): (cell: string) => string {
  const several = page.run.plan.scenarios?.length ?? 0;
  if (several < 2) return () => "";
  const plans = new Map(page.run.plan.cells.map((cell) => [cell.id, cell.scenario ?? ""]));
  return (cell) => plans.get(cell) ?? "";
}

const optionsOf = (comparisons: Comparison[]) => [
  ...new Set(comparisons.flatMap(({ a_target: a, b_target: b }) => [a, b])),
];

const OPPOSITE: Record<Verdict, Verdict> = {
  faster: "slower",
  slower: "faster",
  equivalent: "equivalent",
  inconclusive: "inconclusive",
  refused: "refused",
};

/** Chooses by the verdicts of one metric under one load. */
export function choose(comparisons: Comparison[]): Choice {
  const told = comparisons.filter(({ verdict }) => verdict !== "refused");
  if (told.length === 0) {
    return { kind: "untold", reason: comparisons.find(({ refused }) => refused)?.refused ?? "" };
  }
  const options = optionsOf(comparisons);
  const verdicts = new Map<string, Verdict[]>(options.map((option) => [option, []]));
  for (const { a_target: a, b_target: b, verdict } of comparisons) {
    verdicts.get(a)!.push(verdict);
    verdicts.get(b)!.push(OPPOSITE[verdict]);
  }
  const beatsAll = options.find(
    (option) =>
      verdicts.get(option)!.length >= options.length - 1 &&
      verdicts.get(option)!.every((verdict) => verdict === "faster"),
  );
  if (beatsAll !== undefined) return { kind: "best", option: beatsAll };
  const unbeaten = options.filter((option) => !verdicts.get(option)!.includes("slower"));
  if (unbeaten.length === options.length) {
    return { kind: "none", equivalent: comparisons.every(({ verdict }) => verdict === "equivalent") };
  }
  return { kind: "among", options: unbeaten };
}

/** More curves than this are read apart only where some of them stand back. */
export const CURVES_MOST = 8;
/** As many as have names that can be read at the ends of their lines. */
const STAND_OUT = 5;

/**
 * Of the levels of a ladder or a search, those that a reader asks for first: the lightest, the heaviest, and those
 * next to the answer. `cells` are those with a curve; without a ladder the first of them stand out.
 */
export function standOut(
  ladders: Pick<Capacity, "rows" | "search" | "highest" | "knees">[],
  cells: string[],
): string[] {
  const found = new Set<string>();
  for (const { rows, search, highest, knees } of ladders) {
    const drawn = rows.filter(({ cell }) => cells.includes(cell));
    const add = (row: { cell: string } | undefined) => row && found.size < STAND_OUT && found.add(row.cell);
    // A rate may be tried more than once: what it ended with counts.
    const ended = (load: number) => search?.steps.findLast(({ rate_per_s }) => rate_per_s === load)?.passed;
    const verified = drawn.find(({ load }) => load === search?.verified_per_s);
    add(verified);
    add(drawn.find(({ load }) => ended(load) === false && load > (verified?.load ?? 0)));
    add(drawn.findLast(({ load }) => ended(load) === true));
    add(drawn.find(({ load }) => load === highest?.from_load));
    for (const { at } of knees) if (at != null) add(drawn.findLast(({ load }) => load <= at));
    add(drawn[0]);
    add(drawn.at(-1));
  }
  return found.size > 0 ? cells.filter((cell) => found.has(cell)) : cells.slice(0, STAND_OUT);
}

/** Every leaf of the plan with its path, for the table of all settings. */
export function settingsOf(value: unknown, path = ""): [string, string | number | boolean][] {
  if (value === null || value === undefined) return [];
  if (typeof value !== "object") return [[path, value as string | number | boolean]];
  const entries = Array.isArray(value)
    ? value.map((of, index) => [`${path}[${index}]`, of] as const)
    : Object.entries(value).map(([key, of]) => [path === "" ? key : `${path}.${key}`, of] as const);
  return entries.flatMap(([key, of]) => settingsOf(of, key));
}

/** Program and arguments as a shell would need them. */
export const commandLine = (command: string[]): string => command.map(quoted).join(" ");

const quoted = (word: string) =>
  /^[A-Za-z0-9\-_./:=,+@%]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** `2026-11-22T05:14:56.437617785Z` as `2026-11-22 05:14 UTC`; anything else as it is. */
export function wallTime(text: string): string {
  const found = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?Z$/.exec(text);
  return found ? `${found[1]} ${found[2]} UTC` : text;
}

/** The label of a cell by its identifier. */
export function labels(cells: Pick<CellSummary, "cell" | "label">[]): (cell: string) => string {
  const known = new Map(cells.map(({ cell, label }) => [cell, label]));
  return (cell) => known.get(cell) ?? cell;
}

/** How many entries have which value, in the order of `keys`, without those that have none. */
export function counts<K extends string>(keys: readonly K[], values: K[]): [K, number][] {
  return keys
    .map((key): [K, number] => [key, values.filter((value) => value === key).length])
    .filter(([, number]) => number > 0);
}
