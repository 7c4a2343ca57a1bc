/**
 * One metric of every trial: a row a cell, a dot a trial, with the cell's centre and its interval.
 *
 * Invariants: blocks stand beneath each other within a row, the first on top, so that a drift over the run is a slant;
 * void trials are hollow and grey, and count for no centre; a trial far from its cell's others has a ring, and counts.
 */
import { useCallback, useMemo } from "preact/hooks";
import { axisValue, interval, value } from "../format";
import { type Words, useWords } from "../words";
import {
  clean,
  drawable,
  extent,
  padded,
  plainAxis,
  roomFor,
  rowsHeight,
  rowsOf,
  tip,
  tooltip,
} from "./base";
import { Chart } from "./chart";
import {
  type Analysis,
  type Cell,
  type Metric,
  type MetricSummary,
  type Outlier,
  type Trial,
  withinTarget,
} from "./data";
import type { ChartOption, CustomSeriesOption } from "./echarts";
import { type Look, markOf, targetIndex } from "./look";
import { english } from "../words/said/text";

export interface StripsData {
  analysis: Pick<Analysis, "cells" | "trials" | "outliers">;
  metric: Metric;
}

const valueOf = (trial: Trial, metric: Metric) =>
  trial.values.find((one) => one.metric === metric)?.value ?? null;

const summaryOf = (cell: Cell, metric: Metric): MetricSummary | undefined =>
  cell.metrics.find((one) => one.metric === metric);

interface Dot {
  trial: Trial;
  value: number;
  row: number;
  /** What is said of it where it lies far from its cell's others. */
  outlier: Outlier | undefined;
}

function dotsOf({ analysis, metric }: StripsData): Dot[] {
  return analysis.trials.flatMap((trial) => {
    const row = analysis.cells.findIndex((cell) => cell.cell === trial.cell);
    const value = valueOf(trial, metric);
    const outlier = (analysis.outliers ?? []).find((one) => one.trial === trial.id);
    return row >= 0 && drawable(value) ? [{ trial, value, row, outlier }] : [];
  });
}

type Render = NonNullable<CustomSeriesOption["renderItem"]>;
/** Half the height of the dots' place. */
const HALF = 13;

/** The shade of the interval and the line of the centre. */
function drawCentre(data: StripsData, look: Look, shift: number): Render {
  const index = targetIndex(data.analysis.cells);
  return (_, api) => {
    const row = Number(api.value(1));
    const cell = data.analysis.cells[row];
    const summary = cell && summaryOf(cell, data.metric);
    if (!cell || !summary || !drawable(summary.center)) return null;
    const { color } = markOf(look, index(cell.target));
    const [x = 0, middle = 0] = api.coord([summary.center, row]);
    const y = middle + shift;
    const children: unknown[] = [];
    if (summary.interval) {
      const { low, high } = summary.interval;
      const from = drawable(low) ? (api.coord([low, row])[0] ?? x) : x;
      const to = drawable(high) ? (api.coord([high, row])[0] ?? x) : x;
      children.push({
        type: "rect",
        shape: { x: from, y: y - HALF, width: Math.max(1, to - from), height: 2 * HALF },
        style: { fill: color, opacity: 0.2 },
      });
    }
    children.push({
      type: "line",
      shape: { x1: x, y1: y - HALF - 2, x2: x, y2: y + HALF + 2 },
      style: { stroke: color, lineWidth: 2.5 },
    });
    return { type: "group", children } as ReturnType<Render>;
  };
}

function drawDot(data: StripsData, dots: Dot[], look: Look, shift: number): Render {
  const index = targetIndex(data.analysis.cells);
  const blocks = Math.max(1, ...data.analysis.trials.map((trial) => trial.block));
  return (params, api) => {
    const dot = dots[params.dataIndex];
    if (!dot) return null;
    const [x = 0, middle = 0] = api.coord([dot.value, dot.row]);
    const place = (Math.min(Math.max(dot.trial.block, 1), blocks) - 0.5) / blocks;
    const { color } = markOf(look, index(data.analysis.cells[dot.row]?.target ?? ""));
    const isValid = dot.trial.outcome === "valid";
    const y = middle + shift - HALF + 2 * HALF * place;
    const point = {
      type: "circle",
      shape: { cx: x, cy: y, r: 3.5 },
      style: isValid
        ? { fill: color, stroke: look.ground, lineWidth: 0.75 }
        : { fill: look.ground, stroke: look.faint, lineWidth: 1.5 },
    };
    if (!dot.outlier) return point as ReturnType<Render>;
    const ring = {
      type: "circle",
      shape: { cx: x, cy: y, r: 7 },
      style: { fill: "none", stroke: look.warn, lineWidth: 1.75 },
    };
    return { type: "group", children: [ring, point] } as ReturnType<Render>;
  };
}

export function stripsOption(data: StripsData, look: Look, words: Words): ChartOption {
  const { analysis, metric } = data;
  const dots = dotsOf(data);
  const unit = analysis.cells.map((cell) => summaryOf(cell, metric)?.unit).find(Boolean) ?? "per_second";
  const ends = analysis.cells.flatMap((cell) => {
    const summary = summaryOf(cell, metric);
    return [summary?.interval?.low, summary?.interval?.high];
  });
  const [low, high] = padded(extent([...dots.map((dot) => dot.value), ...ends]) ?? [0, 1], 1 / 20);
  const isOne = new Set(analysis.cells.map(({ target }) => target)).size < 2;
  const names = analysis.cells.map((cell) => ({ text: isOne ? withinTarget(cell) : cell.label }));
  const { grid, yAxis, shift } = rowsOf(look, names, { row: 38 });
  const axis = plainAxis(look, true);
  return {
    grid,
    xAxis: {
      ...axis,
      type: "value",
      min: low,
      max: high,
      splitNumber: roomFor(look.width - Number(grid.left), 110),
      name: metric === "throughput" ? words.charts.throughputPanel : words.metrics[metric],
      nameLocation: "middle",
      nameGap: 26,
      axisLabel: {
        ...axis.axisLabel,
        showMinLabel: false,
        showMaxLabel: false,
        formatter: (at: number) => axisValue(unit, at, high),
      },
    } as ChartOption["xAxis"],
    yAxis,
    tooltip: tooltip(look, "item", ([hovered]) => {
      const dot = hovered?.seriesIndex === 0 ? dots[hovered.dataIndex] : undefined;
      return dot ? dotTip(dot, value(unit, dot.value), words) : "";
    }),
    series: [
      {
        type: "custom",
        name: words.metrics[metric],
        renderItem: drawDot(data, dots, look, shift),
        encode: { x: 0, y: 1 },
        data: dots.map((dot) => [dot.value, dot.row, dot.trial.id]),
        z: 3,
      },
      {
        type: "custom",
        name: words.charts.centre,
        silent: true,
        renderItem: drawCentre(data, look, shift),
        encode: { x: 0, y: 1 },
        data: analysis.cells.map((cell, row) => [summaryOf(cell, metric)?.center ?? null, row]),
        z: 2,
      },
    ],
  };
}

function dotTip({ trial, outlier }: Dot, shown: string, words: Words): HTMLElement {
  const t = words.charts;
  const about = trial.outcome === "valid" ? outlier && [outlier.text] : trial.reasons;
  return tip(
    `${t.trial} ${trial.id}`,
    [
      { name: t.block, value: String(trial.block) },
      { name: t.value, value: shown },
      ...(trial.outcome === "valid" ? [] : [{ name: "", value: t.outcomes[trial.outcome] }]),
      ...(outlier ? [{ name: "", value: t.outlying }] : []),
    ],
    about && clean(about.map(english).join("; "), 300),
  );
}

export function stripsAlt({ analysis, metric }: StripsData, words: Words): string {
  const told = analysis.cells.map((cell) => {
    const summary = summaryOf(cell, metric);
    if (!summary || summary.center == null) return `${clean(cell.label)}: –`;
    const ends = summary.interval ? ` (${interval(summary.unit, summary.interval)})` : "";
    const far = (analysis.outliers ?? []).filter((one) => one.cell === cell.cell);
    const outlying = far
      .map(({ trial }) => `; ${words.trialNumber(trial)}: ${words.charts.outlying}`)
      .join("");
    return `${clean(cell.label)}: ${value(summary.unit, summary.center)}${ends}${outlying}`;
  });
  return `${words.charts.strips(words.metrics[metric])}. ${told.join("; ")}`;
}

export function StripsChart({ analysis, metric }: StripsData) {
  const words = useWords();
  const label = useMemo(() => stripsAlt({ analysis, metric }, words), [analysis, metric, words]);
  const make = useCallback(
    (look: Look) => stripsOption({ analysis, metric }, look, words),
    [analysis, metric, words],
  );
  if (analysis.cells.length === 0) return null;
  return (
    <Chart
      name="strips"
      label={label}
      height={(look) => rowsHeight(look, analysis.cells.length, 38)}
      make={make}
    />
  );
}
