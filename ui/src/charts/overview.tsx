/**
 * All trials of a cell over time, laid over each other: throughput and p99.
 *
 * Invariants: a void trial is grey and dashed; the darker the ground at the left, the more trials were still warming
 * up. Cells that are to be compared get the same ends of their axes.
 */
import { useCallback, useMemo } from "preact/hooks";
import { type Words, useWords } from "../words";
import { clean } from "./base";
import { Chart } from "./chart";
import type { Cell, Trial } from "./data";
import type { ChartOption } from "./echarts";
import type { Look } from "./look";
import { RATE, TIME, panelsOverTime } from "./over_time";
import { type Panel, type PanelLine, panelsHeight } from "./panels";
import { phaseBands } from "./phases";

export interface OverviewData {
  cell: Pick<Cell, "label">;
  /** The trials of this cell. */
  trials: Trial[];
  /** Which series mark the cell has. */
  index: number;
  /** The end of the time axis, where several cells are to have the same. */
  end_ns?: number;
}

const HEIGHT = 100;

function panels({ trials, index }: OverviewData, look: Look, words: Words): Panel[] {
  const lines = (of: (point: Trial["series"][number]) => number | null | undefined): PanelLine[] =>
    trials.map((trial) => ({
      name: `${words.charts.trial} ${trial.id}`,
      index,
      signs: false,
      width: 1.25,
      opacity: 0.75,
      ...(trial.outcome === "valid"
        ? { dash: "solid" as const }
        : {
            color: look.faint,
            dash: [3, 3],
            name: `${words.charts.trial} ${trial.id}, ${words.charts.outcomes[trial.outcome]}`,
          }),
      // The drain has no load.
      points: trial.series
        .filter((point) => point.phase !== "drain")
        .map((point): [number, number | null] => [point.t_ns, of(point) ?? null]),
    }));
  const bands = trials.flatMap((trial, at) =>
    phaseBands(trial, look, words)
      .filter((band) => band.from === 0)
      .map((band) => ({
        ...band,
        name: at === 0 ? band.name : "",
        opacity: Math.max(0.25, 1 / trials.length),
      })),
  );
  return [
    {
      title: words.charts.throughputPanel,
      ...RATE,
      height: HEIGHT,
      lines: lines((p) => p.throughput_per_s),
      bands,
    },
    {
      title: words.charts.latencyOf(words.metrics.p99),
      ...TIME,
      height: HEIGHT,
      lines: lines((p) => p.p99_ns),
      bands,
    },
  ];
}

export function overviewOption(data: OverviewData, look: Look, words: Words): ChartOption {
  const ends = data.trials.flatMap((trial) => trial.series.map((point) => point.t_ns));
  const end = data.end_ns ?? Math.max(1, ...ends);
  return panelsOverTime(panels(data, look, words), { range: [0, end] }, look);
}

export function OverviewChart(data: OverviewData) {
  const { cell, trials, index, end_ns } = data;
  const words = useWords();
  const label = useMemo(
    () => words.charts.overview(clean(cell.label), String(trials.length)),
    [cell, trials, words],
  );
  const make = useCallback(
    (look: Look) => overviewOption({ cell, trials, index, ...(end_ns ? { end_ns } : {}) }, look, words),
    [cell, trials, index, end_ns, words],
  );
  if (!trials.some((trial) => trial.series.length > 1)) return null;
  return (
    <Chart
      name="overview"
      label={label}
      height={() => panelsHeight([{ height: HEIGHT }, { height: HEIGHT }])}
      make={make}
    />
  );
}
