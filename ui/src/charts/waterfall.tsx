/**
 * The waterfall of layers in one metric: the base, each layer where the one before it ends, and all of them; and that of
 * the parts of the mean response time.
 *
 * Invariants: the axis begins at 0, so that lengths can be compared; a layer without a shown cost is hollow; the
 * whisker is the interval of the sum up to this layer. Sums come from the analysis, none is made here.
 */
import { useCallback, useMemo } from "preact/hooks";
import { axisDuration, difference, differenceInterval, duration } from "../format";
import { type Words, useWords } from "../words";
import { clean, drawable, plainAxis, roomFor, rowsHeight, rowsOf, tip, tooltip } from "./base";
import { Chart } from "./chart";
import type { LayerMetric, TimePart } from "./data";
import type { ChartOption, CustomSeriesOption } from "./echarts";
import type { Look } from "./look";

type Layer = LayerMetric["layers"][number];

/** One row. */
export interface Bar {
  name: string;
  number: string;
  from: number;
  to: number;
  low: number | null;
  high: number | null;
  /** Absent for what is no layer: the base and the sum. */
  layer?: Layer;
}

function barOf(layer: Layer, words: Words): Bar[] {
  const { place, cost_ns } = layer;
  if (!place || !drawable(cost_ns) || !drawable(place.from_ns) || !drawable(place.to_ns)) return [];
  const word = words.charts.layers[layer.verdict];
  return [
    {
      name: `+ ${layer.level}`,
      number: `${difference("nanoseconds", cost_ns)}  ${word}`,
      from: place.from_ns,
      to: place.to_ns,
      low: place.to_low_ns ?? null,
      high: place.to_high_ns ?? null,
      layer,
    },
  ];
}

/** Rows from top to bottom; none where there is nothing to stand on. */
export function barsOf(metric: LayerMetric, words: Words): Bar[] {
  if (!drawable(metric.base_ns)) return [];
  const whole = (name: string, to: number): Bar => ({
    name,
    number: duration(to),
    from: 0,
    to,
    low: null,
    high: null,
  });
  const layers = metric.layers.flatMap((layer) => barOf(layer, words));
  const last = layers.at(-1);
  const sum = layers.length > 1 && last ? [whole(words.charts.allLayers, last.to)] : [];
  return [whole(metric.base, metric.base_ns), ...layers, ...sum];
}

type Render = NonNullable<CustomSeriesOption["renderItem"]>;
const HALF = 9;

function fillOf(bar: Bar, look: Look) {
  switch (bar.layer?.verdict) {
    case "costs":
      return { fill: look.series[1] };
    case "saves":
      return { fill: look.series[0] };
    case "not_shown":
    case "refused":
      return { fill: look.ground, stroke: look.faint, lineWidth: 1.5, lineDash: [4, 3] };
    default:
      return { fill: look.strong };
  }
}

function drawBar(bars: Bar[], look: Look, row: number, shift: number): Render {
  return (params, api) => {
    const bar = bars[params.dataIndex];
    if (!bar) return null;
    const x = (value: number) => api.coord([Math.max(0, value), params.dataIndex])[0] ?? 0;
    const y = (api.coord([0, params.dataIndex])[1] ?? 0) + shift;
    const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, lineWidth: number) => ({
      type: "line",
      shape: { x1, y1, x2, y2 },
      style: { stroke, lineWidth },
    });
    const [from, to] = [x(Math.min(bar.from, bar.to)), x(Math.max(bar.from, bar.to))];
    const children: unknown[] = [
      {
        type: "rect",
        shape: { x: from, y: y - HALF, width: Math.max(1.5, to - from), height: 2 * HALF },
        style: fillOf(bar, look),
      },
    ];
    // To where the next bar begins.
    if (params.dataIndex + 1 < bars.length) {
      children.push(line(x(bar.to), y + HALF, x(bar.to), y + row - HALF, look.strong, 1));
    }
    if (drawable(bar.low) && drawable(bar.high)) {
      const [low, high] = [x(bar.low), x(bar.high)];
      children.push(line(low, y, high, y, look.ink, 1.5));
      for (const end of [low, high]) children.push(line(end, y - 4, end, y + 4, look.ink, 1.5));
    }
    return { type: "group", children } as ReturnType<Render>;
  };
}

export const waterfallOption = (metric: LayerMetric, look: Look, words: Words): ChartOption =>
  optionOf(barsOf(metric, words), words.metrics[metric.metric], look, words);

function optionOf(bars: Bar[], name: string, look: Look, words: Words): ChartOption {
  const end = Math.max(1, ...bars.flatMap((bar) => [bar.from, bar.to, bar.high ?? 0]));
  const names = bars.map((bar) => ({ text: bar.name + (look.narrow ? `  ${bar.number}` : "") }));
  const { grid, yAxis, shift, row } = rowsOf(look, names, { right: 190, row: 32 });
  const axis = plainAxis(look, true);
  const numbers = {
    ...yAxis,
    position: "right" as const,
    axisLabel: {
      interval: 0,
      align: "left" as const,
      margin: 12,
      fontSize: 13,
      color: look.ink,
      formatter: (at: string) => clean(bars[Number(at)]?.number ?? ""),
    },
  };
  return {
    grid,
    xAxis: {
      ...axis,
      type: "value",
      min: 0,
      max: end * 1.03,
      splitNumber: roomFor(look.width - Number(grid.left) - Number(grid.right), 90),
      name,
      nameLocation: "middle",
      nameGap: 26,
      axisLabel: { ...axis.axisLabel, showMaxLabel: false, formatter: (at: number) => axisDuration(at, end) },
    } as ChartOption["xAxis"],
    yAxis: (look.narrow ? yAxis : [yAxis, numbers]) as ChartOption["yAxis"],
    tooltip: tooltip(look, "item", ([hovered]) => {
      const bar = hovered && bars[hovered.dataIndex];
      return bar ? barTip(bar, words) : "";
    }),
    series: [
      {
        type: "custom",
        name,
        renderItem: drawBar(bars, look, row, shift),
        encode: { x: [0, 1], y: 2 },
        data: bars.map((bar, index) => [bar.from, bar.to, index, bar.low, bar.high]),
        clip: false,
        z: 3,
      },
    ],
  };
}

function barTip(bar: Bar, words: Words): HTMLElement {
  const t = words.charts;
  const { layer } = bar;
  if (!layer) return tip(clean(bar.name), [{ name: t.value, value: bar.number }]);
  return tip(
    clean(bar.name),
    [
      { name: t.cost, value: difference("nanoseconds", layer.cost_ns) },
      ...(layer.interval
        ? [{ name: t.interval, value: differenceInterval("nanoseconds", layer.interval) }]
        : []),
      { name: t.verdict, value: t.layers[layer.verdict] },
      { name: t.blocks, value: String(layer.blocks) },
    ],
    layer.refused ? clean(layer.refused.text, 300) : undefined,
  );
}

/** What a chart of these bars says to those who cannot see it. */
const altOf = (title: string, bars: Bar[]) =>
  `${title}. ${bars.map(({ name, number }) => `${clean(name)}: ${number}`).join("; ")}`;

export const waterfallAlt = (metric: LayerMetric, words: Words): string =>
  altOf(words.charts.waterfall(words.metrics[metric.metric]), barsOf(metric, words));

export function WaterfallChart({ metric }: { metric: LayerMetric }) {
  const words = useWords();
  const label = useMemo(() => waterfallAlt(metric, words), [metric, words]);
  const make = useCallback((look: Look) => waterfallOption(metric, look, words), [metric, words]);
  const bars = barsOf(metric, words).length;
  if (bars < 2) return null;
  return <Chart name="waterfall" label={label} height={(look) => rowsHeight(look, bars, 32)} make={make} />;
}

/** Each part of the mean response time where the one before it ends, and all of them. */
export function partBars(parts: TimePart[], words: Words): Bar[] {
  const t = words.charts;
  const bar = (name: string, ns: number, from: number, to: number): Bar => ({
    name,
    number: duration(ns),
    from,
    to,
    low: null,
    high: null,
  });
  const bars = parts.map(({ part, mean_ns, from_ns, to_ns }) => bar(t.parts[part], mean_ns, from_ns, to_ns));
  const whole = parts.at(-1)?.to_ns;
  return whole === undefined ? bars : [...bars, bar(t.allParts, whole, 0, whole)];
}

export const partsOption = (parts: TimePart[], look: Look, words: Words): ChartOption =>
  optionOf(partBars(parts, words), words.metrics.mean, look, words);

export function PartsChart({ parts }: { parts: TimePart[] }) {
  const words = useWords();
  const bars = useMemo(() => partBars(parts, words), [parts, words]);
  const make = useCallback((look: Look) => partsOption(parts, look, words), [parts, words]);
  return (
    <Chart
      name="parts"
      label={altOf(words.charts.partsOf, bars)}
      height={(look) => rowsHeight(look, bars.length, 32)}
      make={make}
    />
  );
}
