/**
 * One metric of an experiment over its runs: the values, the levels between change points, and the changes.
 *
 * Invariants: a level is drawn only between changes that the history has; a change for the worse has another sign and
 * another colour than one for the better; a run before which something else changed (a version, the host) has a tick.
 */
import { useCallback, useMemo } from "preact/hooks";
import type { HistoryFile, HistorySeries } from "../schema/history";
import { axisValue, change, value } from "../format";
import { type Tell, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { english } from "../words/said/text";
import { clean, extent, padded, plainAxis, roomFor, SMALL, tip, titled, tooltip } from "./base";
import { Chart } from "./chart";
import type { ChartOption, Series } from "./echarts";
import type { Look } from "./look";

export interface HistoryData {
  runs: HistoryFile["runs"];
  series: HistorySeries;
}

/** A level: from one run to another, by place in `runs`. */
export interface Level {
  from: number;
  to: number;
  value: number;
}

const placeOf = (runs: HistoryData["runs"], id: string) => runs.findIndex((run) => run.id === id);

/** The levels between changes; none without a change. */
export function levelsOf({ runs, series }: HistoryData): Level[] {
  const { changes, points } = series;
  const [first, last] = [points[0]?.run, points.at(-1)?.run];
  if (first === undefined || last === undefined) return [];
  return changes.flatMap((one, at) => {
    const next = changes[at + 1];
    const before = { from: first, to: placeOf(runs, one.after_run), value: one.before };
    const after = {
      from: placeOf(runs, one.first_run),
      to: next ? placeOf(runs, next.after_run) : last,
      value: one.after,
    };
    return at === 0 ? [before, after] : [after];
  });
}

const dayOf = (wall: string) => wall.slice(0, 10);
const HEIGHT = 190;

export function historyOption(
  { runs, series }: HistoryData,
  look: Look,
  words: Words,
  told: Tell = english,
): ChartOption {
  const t = words.charts;
  const levels = levelsOf({ runs, series });
  const values = [...series.points.map((point) => point.value), ...levels.map((level) => level.value)];
  const [low, high] = padded(extent(values) ?? [0, 1], 0.2);
  const [left, right] = [62, 24];
  const axis = plainAxis(look, true);
  const changes = series.changes.map((one) => ({
    xAxis: placeOf(runs, one.first_run) - 0.5,
    lineStyle: { color: one.is_worse ? look.bad : look.good, type: [5, 3], width: 1.5 },
    label: {
      show: true,
      position: "end",
      distance: 5,
      color: one.is_worse ? look.bad : look.good,
      fontSize: SMALL,
      fontWeight: 600,
      formatter: () => `${one.is_worse ? "✗" : "✓"} ${change(one.ratio)}`,
    },
  }));
  return {
    grid: { left, right, top: 46, height: HEIGHT },
    xAxis: {
      ...plainAxis(look, false),
      type: "value",
      min: -0.5,
      max: runs.length - 0.5,
      minInterval: 1,
      splitNumber: roomFor(look.width - left - right, 100),
      axisLabel: {
        ...axis.axisLabel,
        showMinLabel: false,
        showMaxLabel: false,
        formatter: (at: number) => (Number.isInteger(at) ? dayOf(runs[at]?.started_wall ?? "") : ""),
      },
    } as ChartOption["xAxis"],
    yAxis: {
      ...axis,
      type: "value",
      min: low,
      max: high,
      splitNumber: 4,
      // Else the axis and its name would stand at the first run, whose place is 0.
      axisLine: { ...axis.axisLine, onZero: false },
      ...titled(look, words.metrics[series.metric], 28),
      axisLabel: {
        ...axis.axisLabel,
        showMinLabel: false,
        showMaxLabel: false,
        formatter: (n: number) => axisValue(series.unit, n, high),
      },
    } as ChartOption["yAxis"],
    tooltip: tooltip(look, "item", ([hovered]) => {
      const point = hovered?.seriesIndex === 0 ? series.points[hovered.dataIndex] : undefined;
      const run = point && runs[point.run];
      if (!point || !run) return "";
      return tip(
        clean(run.id),
        [
          { name: words.metrics[series.metric], value: value(series.unit, point.value) },
          { name: t.trials, value: String(point.trials) },
        ],
        run.changed?.length
          ? `${t.changedBefore}: ${clean(run.changed.map((one) => told(one)).join(words.semicolon), 300)}`
          : undefined,
      );
    }),
    series: [
      {
        type: "line",
        name: words.metrics[series.metric],
        data: series.points.map((point) => [point.run, point.value]),
        symbol: "circle",
        symbolSize: 8,
        showAllSymbol: true,
        itemStyle: { color: look.series[0], borderColor: look.ground, borderWidth: 1 },
        lineStyle: { color: look.series[0], width: 1, opacity: 0.5 },
        emphasis: { disabled: true },
        z: 4,
        ...(changes.length ? { markLine: { silent: true, symbol: "none", data: changes } } : {}),
      } as unknown as Series,
      ...levels.map(
        (level) =>
          ({
            type: "line",
            name: t.level,
            silent: true,
            showSymbol: false,
            data: [
              [level.from - 0.4, level.value],
              [level.to + 0.4, level.value],
            ],
            lineStyle: { color: look.ink, width: 2, type: "solid" },
            itemStyle: { color: look.ink },
            z: 3,
          }) as unknown as Series,
      ),
      {
        type: "scatter",
        name: t.changedBefore,
        silent: true,
        symbol: "triangle",
        symbolSize: 7,
        itemStyle: { color: look.warn },
        data: runs.flatMap((run, at) => (run.changed?.length ? [[at, low + (high - low) * 0.03]] : [])),
        z: 2,
      },
    ],
  };
}

export function historyAlt({ series }: HistoryData, words: Words): string {
  const t = words.charts;
  const range = extent(series.points.map((point) => point.value));
  const show = (n: number) => value(series.unit, n);
  const told = [
    ...(range ? [t.fromTo(words.metrics[series.metric], show(range[0]), show(range[1]))] : []),
    ...series.changes.map(
      (one) => `${dayOf(one.first_wall)}: ${change(one.ratio)} (${one.is_worse ? t.worse : t.better})`,
    ),
  ];
  return `${clean(series.cell)}. ${told.join("; ")}`;
}

export function HistoryChart({ runs, series }: HistoryData) {
  const words = useWords();
  const told = useTold();
  const label = useMemo(() => historyAlt({ runs, series }, words), [runs, series, words]);
  const make = useCallback(
    (look: Look) => historyOption({ runs, series }, look, words, told),
    [runs, series, words, told],
  );
  if (series.points.length < 2) return null;
  return <Chart name="history" label={label} height={() => 46 + HEIGHT + 30} make={make} />;
}
