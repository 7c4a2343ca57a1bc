/**
 * One counter over the windows of a soak, with its trend: a line a segment, the segments one after the other.
 *
 * Invariants: a trend is drawn in the segment that it was judged by, with the lines of both ends of its slope, all
 * three where the analysis puts them; a limit is drawn where it lies within the axis, else it is written
 * in words. Time between segments is left out.
 */
import { useCallback, useMemo } from "preact/hooks";
import { type Words, useWords } from "../words";
import { clean, drawable, extent } from "./base";
import { Chart } from "./chart";
import type { SoakTrend } from "./data";
import type { ChartOption } from "./echarts";
import type { Look } from "./look";
import { COUNT, RATE, SIZE, type Shown, TIME, panelsOverTime } from "./over_time";
import { type Band, type Panel, type PanelLine, type Point, panelsHeight } from "./panels";

/** How the values of a counter are shown. */
export function soakShown(counter: SoakTrend["counter"]): Shown {
  switch (counter) {
    case "memory":
    case "heap":
      return SIZE;
    case "p50":
    case "p99":
    case "cpu_per_request":
      return TIME;
    case "throughput":
      return RATE;
    default:
      return COUNT;
  }
}

interface Segment {
  trial: number;
  /** Place of its origin on the axis. */
  begin: number;
  points: Point[];
}

/** The segments one after the other. */
export function segmentsOf(trend: SoakTrend): Segment[] {
  const segments: Segment[] = [];
  for (const { trial, t_ns, value } of trend.series) {
    let segment = segments.at(-1);
    if (segment?.trial !== trial) {
      segment = { trial, begin: segment?.points.at(-1)?.[0] ?? 0, points: [] };
      segments.push(segment);
    }
    segment.points.push([segment.begin + t_ns, drawable(value) ? value : null]);
  }
  return segments;
}

/** The slope and its two ends, where the analysis puts them. */
function trendLines(trend: SoakTrend, segments: Segment[], look: Look, words: Words): PanelLine[] {
  const segment = segments.find((one) => one.trial === trend.trial);
  const drawn = trend.line;
  if (!segment || !drawn) return [];
  const [from, to] = drawn.at_ns;
  const line = { name: words.charts.trend, index: 1, color: look.ink, signs: false, quiet: true } as const;
  const along = ([first, last]: [number, number]): Point[] => [
    [segment.begin + from, first],
    [segment.begin + to, last],
  ];
  return [
    { ...line, points: along(drawn.slope), width: 2, dash: [8, 4] },
    ...[drawn.low, drawn.high].map((ends) => ({
      ...line,
      points: along(ends),
      width: 1,
      dash: [2, 3],
      opacity: 0.7,
    })),
  ];
}

export function soakPanel(trend: SoakTrend, look: Look, words: Words): Panel {
  const segments = segmentsOf(trend);
  const shown = soakShown(trend.counter);
  const t = words.charts;
  const name = words.soaks.counters[trend.counter];
  const lines: PanelLine[] = segments.map((segment) => ({
    name,
    index: 0,
    dash: "solid",
    signs: false,
    width: 1.5,
    points: segment.points,
  }));
  const range = extent(trend.series.map((point) => point.value)) ?? [0, 1];
  const limit = trend.limit?.value;
  const near = drawable(limit) && limit <= range[1] + 2 * (range[1] - range[0]);
  const bands: Band[] = segments
    .filter((_, at) => at % 2 === 1)
    .map((segment) => ({
      from: segment.begin,
      to: segment.points.at(-1)?.[0] ?? segment.begin,
      name: t.segment(segment.trial),
      color: look.drain,
    }));
  return {
    // The name stands above the chart.
    title: "",
    ...shown,
    height: 130,
    zero: false,
    lines: [...lines, ...trendLines(trend, segments, look, words)],
    bands,
    levels: near ? [{ value: limit, name: t.limit(shown.show(limit)), color: look.bad }] : [],
  };
}

export function soakOption(trend: SoakTrend, look: Look, words: Words): ChartOption {
  const ends = segmentsOf(trend).flatMap((segment) => segment.points.map(([place]) => place));
  const range: [number, number] = [0, Math.max(1, ...ends)];
  return panelsOverTime([soakPanel(trend, look, words)], { range, left: 72 }, look);
}

export function SoakChart({ trend }: { trend: SoakTrend }) {
  const words = useWords();
  const label = useMemo(
    () =>
      `${words.soaks.counters[trend.counter]}: ${words.soak[trend.class]}. ${clean(trend.text.text, 400)}`,
    [trend, words],
  );
  const make = useCallback((look: Look) => soakOption(trend, look, words), [trend, words]);
  if (trend.series.length < 2) return null;
  return <Chart name="soak" label={label} height={() => panelsHeight([{ height: 130 }])} make={make} />;
}
