/**
 * Load against throughput, latency and errors: of ladders and searches, and of plain cells whose loads are numbers.
 *
 * Invariants: load, throughput and latency have logarithmic axes, on which a proportional rise is a straight line of
 * slope 1; whiskers are intervals over trials; a knee is drawn only where one is claimed, with its interval; what the
 * Universal Scalability Law says beyond the ladder is dotted and named a prediction.
 */
import { useCallback, useMemo } from "preact/hooks";
import {
  axisDuration,
  axisNumber,
  axisValue,
  duration,
  percent,
  plain,
  plainInterval,
  rate,
} from "../format";
import { type Words, useWords } from "../words";
import { clean, drawable, extent, logPadded, logTicks, positive, roomFor, widthOf } from "./base";
import { Chart } from "./chart";
import type { Analysis, Capacity, CellPlan, Metric } from "./data";
import type { ChartOption } from "./echarts";
import { Key } from "./key";
import { type Look, markOf, targetIndex } from "./look";
import { type Band, type Panel, type PanelLine, type Place, panelsHeight, panelsOption } from "./panels";

interface Estimate {
  value?: number | null;
  interval?: { low?: number | null; high?: number | null } | null;
}

/** One level of load. */
export interface LadderRow {
  load: number;
  throughput: Estimate;
  latency: Estimate;
  errors: Estimate;
}

/** One target at its levels. */
export interface LadderLine {
  name: string;
  /** Which series mark it has. */
  index: number;
  rows: LadderRow[];
  knees: Capacity["knees"];
  /** Throughput beyond the ladder by the Universal Scalability Law. */
  predictions: { load: number; per_s: number }[];
  /** What limits throughput by the operational laws, by load. */
  bounds: { load: number; per_s: number }[];
  /** A search visits rates in no order; its points are not joined. */
  isSearch: boolean;
}

export interface LadderData {
  lines: LadderLine[];
  axis: Capacity["axis"];
  /** Which percentile the latency is. */
  latency: Metric;
}

/** The ladders and searches of a knee run that have the same axis, as one chart each axis. */
export function laddersOf(analysis: Pick<Analysis, "capacity" | "cells">): LadderData[] {
  const index = targetIndex(analysis.cells);
  const all = (analysis.capacity ?? []).map((capacity) => ({
    axis: capacity.axis,
    line: lineOf(capacity, index),
  }));
  const byTarget = all.length > new Set(all.map(({ line }) => line.index)).size;
  return (["connections", "rate"] as const).flatMap((axis) => {
    const lines = all
      .filter((one) => one.axis === axis)
      .map(({ line }, at) => ({
        ...line,
        // Several ladders of one target need a mark each.
        index: byTarget ? at : line.index,
      }));
    return lines.length ? [{ lines, axis, latency: "p95" as const }] : [];
  });
}

function lineOf(capacity: Capacity, index: (target: string) => number): LadderLine {
  return {
    name: capacity.target + (capacity.level ? `, ${capacity.level}` : ""),
    index: index(capacity.target),
    isSearch: Boolean(capacity.search),
    knees: capacity.knees,
    rows: capacity.rows.map((row) => ({
      load: row.load,
      throughput: row.throughput_per_s,
      latency: row.p95_ns,
      errors: row.error_rate,
    })),
    predictions: (capacity.scaling?.predictions ?? capacity.usl?.predictions ?? []).flatMap(
      ({ n, per_s, is_beyond }) =>
        is_beyond && drawable(per_s.value) ? [{ load: n, per_s: per_s.value }] : [],
    ),
    // A search tries rates once, and near to each other: what bounds them would be noise drawn as a line.
    bounds: capacity.search
      ? []
      : capacity.rows.flatMap(({ load, laws }) =>
          drawable(laws.bound_per_s) ? [{ load, per_s: laws.bound_per_s }] : [],
        ),
  };
}

/** Plain cells that differ in a numeric load: one line a target and scenario; none where no line has two levels. */
export function ladderOfCells(
  analysis: Pick<Analysis, "cells">,
  plan: CellPlan[],
  latency: Metric,
): LadderData[] {
  const index = targetIndex(analysis.cells);
  const scenarios = new Set(plan.map((one) => one.scenario));
  const lines = new Map<string, LadderLine & { axis: Capacity["axis"] }>();
  for (const cell of analysis.cells) {
    const planned = plan.find((one) => one.id === cell.cell);
    const axis = planned?.load.model === "open" ? "rate" : "connections";
    const load = axis === "rate" ? planned?.load.rate_per_s : planned?.load.connections;
    if (!planned || !positive(load)) continue;
    const of = (metric: Metric): Estimate => {
      const summary = cell.metrics.find((one) => one.metric === metric);
      return { value: summary?.center ?? null, interval: summary?.interval ?? null };
    };
    const name = cell.target + (scenarios.size > 1 && planned.scenario ? `, ${planned.scenario}` : "");
    const key = `${axis} ${name}`;
    const line = lines.get(key) ?? {
      name,
      axis,
      index: index(cell.target),
      rows: [],
      knees: [],
      predictions: [],
      bounds: [],
      isSearch: false,
    };
    line.rows.push({ load, throughput: of("throughput"), latency: of(latency), errors: of("error_rate") });
    lines.set(key, line);
  }
  const all = [...lines.values()].filter((line) => new Set(line.rows.map((row) => row.load)).size > 1);
  for (const line of all) line.rows.sort((a, b) => a.load - b.load);
  const targets = new Set(all.map((line) => line.index));
  return (["connections", "rate"] as const).flatMap((axis) => {
    const ofAxis = all.filter((line) => line.axis === axis);
    const marked = ofAxis.map((line, at) => (targets.size < ofAxis.length ? { ...line, index: at } : line));
    return marked.length ? [{ lines: marked, axis, latency }] : [];
  });
}

function panelLine(line: LadderLine, of: (row: LadderRow) => Estimate, label: boolean): PanelLine {
  return {
    name: line.name,
    index: line.index,
    label: label && !line.isSearch,
    signs: true,
    loose: line.isSearch,
    points: line.rows.map((row) => [row.load, of(row).value ?? null]),
    whiskers: line.rows.flatMap((row) => {
      const { low, high } = of(row).interval ?? {};
      return drawable(low) && drawable(high) ? [[row.load, low, high] as [number, number, number]] : [];
    }),
  };
}

/** The knee in one metric of one line. */
function kneeMarks(data: LadderData, metric: Metric, range: [number, number], look: Look, words: Words) {
  const bands: Band[] = [];
  const places: Place[] = [];
  for (const line of data.lines) {
    const knee = line.knees.find((one) => one.metric === metric);
    if (!knee || !drawable(knee.at)) continue;
    const { color } = markOf(look, line.index);
    const ends = knee.interval ?? { low: knee.at, high: knee.at };
    bands.push({ from: ends.low ?? range[0], to: ends.high ?? range[1], name: "", color, opacity: 0.14 });
    const told = knee.interval ? ` (${plainInterval(knee.interval)})` : "";
    places.push({ at: knee.at, name: `${words.charts.knee} ${plain(knee.at)}${told}`, color, dash: [5, 3] });
  }
  return { bands, places };
}

/** Beside the line of one ladder there is room for the names of what else is drawn; of several the tooltip tells. */
function predicted(line: LadderLine, isAlone: boolean, words: Words): PanelLine[] {
  const last = line.rows.at(-1);
  if (!last || line.predictions.length === 0 || !drawable(last.throughput.value)) return [];
  return [
    {
      name: isAlone ? words.charts.prediction : `${words.charts.prediction}, ${line.name}`,
      label: isAlone,
      index: line.index,
      dash: [1, 4],
      signs: false,
      points: [
        [last.load, last.throughput.value],
        ...line.predictions.map((p): [number, number] => [p.load, p.per_s]),
      ],
    },
  ];
}

function bounded(line: LadderLine, isAlone: boolean, look: Look, words: Words): PanelLine[] {
  if (line.bounds.length < 2) return [];
  return [
    {
      name: isAlone ? words.charts.bound : `${words.charts.bound}, ${line.name}`,
      label: isAlone,
      index: line.index,
      color: look.faint,
      dash: [3, 3],
      width: 1,
      signs: false,
      points: line.bounds.map((bound) => [bound.load, bound.per_s]),
    },
  ];
}

export function ladderPanels(data: LadderData, range: [number, number], look: Look, words: Words): Panel[] {
  const t = words.charts;
  const throughput = data.lines.map((line) => panelLine(line, (row) => row.throughput, true));
  const latency = data.lines.map((line) => panelLine(line, (row) => row.latency, false));
  const errors = data.lines.map((line) => panelLine(line, (row) => row.errors, false));
  const isAlone = data.lines.length === 1;
  const above0 = (lines: PanelLine[]) =>
    lines.every((line) => line.points.every(([, n]) => n === null || n > 0));
  const height = look.narrow ? 150 : 190;
  const panels: Panel[] = [
    {
      title: t.throughputPanel,
      show: rate,
      showAxis: axisNumber,
      height,
      log: above0(throughput),
      lines: [
        ...throughput,
        ...data.lines.flatMap((line) => [
          ...predicted(line, isAlone, words),
          ...bounded(line, isAlone, look, words),
        ]),
      ],
      ...kneeMarks(data, "throughput", range, look, words),
    },
    {
      title: t.latencyOf(words.metrics[data.latency]),
      show: duration,
      showAxis: axisDuration,
      height: height - 40,
      log: above0(latency),
      lines: latency,
      ...kneeMarks(data, data.latency, range, look, words),
    },
  ];
  if (errors.some((line) => line.points.some(([, share]) => (share ?? 0) > 0))) {
    panels.push({
      title: t.errorsPanel,
      show: percent,
      showAxis: (share) => axisValue("share", share),
      height: 80,
      lines: errors,
    });
  }
  return panels.filter((panel) => panel.lines.some((line) => line.points.some(([, n]) => n !== null)));
}

function loadsOf(data: LadderData): number[] {
  const all = data.lines.flatMap((line) => [
    ...line.rows.map((row) => row.load),
    ...line.predictions.map((prediction) => prediction.load),
  ]);
  return [...new Set(all.filter(positive))].sort((a, b) => a - b);
}

export function ladderOption(data: LadderData, look: Look, words: Words): ChartOption {
  const loads = loadsOf(data);
  const range = logPadded(extent(loads) ?? [1, 10], 1.15);
  const [only] = data.lines.length === 1 ? data.lines : [];
  const names = [
    ...data.lines.map((line) => line.name),
    ...(only?.predictions.length ? [words.charts.prediction] : []),
    ...(only && only.bounds.length > 1 ? [words.charts.bound] : []),
  ];
  const right = Math.min(220, Math.max(40, ...names.map((name) => widthOf(name) + 24)));
  const room = roomFor(look.width - 62 - (look.narrow ? 14 : right), 46);
  return panelsOption(
    ladderPanels(data, range, look, words),
    {
      axis: {
        range,
        log: true,
        show: axisNumber,
        tell: (load) => `${plain(load)} ${words.charts.loadUnit[data.axis]}`,
        name: words.charts.loadAxis[data.axis],
        ticks: loads.length <= room ? loads : logTicks(range[0], range[1], room),
      },
      right,
    },
    look,
  );
}

export function ladderAlt(data: LadderData, words: Words): string {
  const told = data.lines.flatMap((line) => {
    const rows = line.rows.map(
      (row) => `${plain(row.load)}: ${rate(row.throughput.value)}, ${duration(row.latency.value)}`,
    );
    const knees = line.knees.flatMap((knee) =>
      drawable(knee.at) ? [`${words.charts.knee} (${words.metrics[knee.metric]}) ${plain(knee.at)}`] : [],
    );
    return [`${clean(line.name)}: ${[...rows, ...knees].join("; ")}`];
  });
  return `${words.charts.ladder(words.metrics[data.latency])}. ${told.join(". ")}`;
}

export function LadderChart({ data }: { data: LadderData }) {
  const words = useWords();
  const label = useMemo(() => ladderAlt(data, words), [data, words]);
  const make = useCallback((look: Look) => ladderOption(data, look, words), [data, words]);
  if (loadsOf(data).length < 2) return null;
  return (
    <div class="chart-box">
      <Key items={data.lines} always={data.lines.length > 6 || data.lines.some((line) => line.isSearch)} />
      <Chart
        name="ladder"
        label={label}
        height={(look) => panelsHeight(ladderPanels(data, [1, 2], look, words), true)}
        make={make}
      />
    </div>
  );
}
