/**
 * Response time by percentile, one line a cell; the same as share of requests by response time (CDF), and as histogram.
 *
 * Invariants: the axis of percentiles is 1/(1 − q), logarithmic: it counts nines, so that the tail has as much room
 * as the middle (as in HdrHistogram's plots); the maximum has no place on it; a minimum far below all other quantiles
 * lies below the panel, which would else show little but the way to it; quantiles come from merged histograms, none is
 * interpolated here; a curve in the background is grey, thin and without a name, but its values are in the tooltip.
 */
import { useCallback, useMemo } from "preact/hooks";
import { axisDuration, duration, percent, quantile } from "../format";
import { type Words, useWords } from "../words";
import { clean, drawable, extent, logPadded, logTicks, positive, roomFor, widthOf } from "./base";
import { Chart } from "./chart";
import type { Cell } from "./data";
import type { ChartOption } from "./echarts";
import { Key, type KeyItem } from "./key";
import type { Look } from "./look";
import { type PanelLine, type Point, panelsHeight, panelsOption } from "./panels";

/** A cell's curve with its mark. */
export interface Curve {
  name: string;
  index: number;
  curve: Cell["curve"];
  /** Drawn so that others stand out. */
  isFaint?: boolean;
}

/** The axis of nines. */
export const oneIn = (q: number): number => 1 / (1 - q);

const NAMED = [0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

/** Those that have room on the axis: p95 lies near p90. */
export function ticked(end: number, look: Look): number[] {
  const decade = (look.width - 120) / Math.log10(end);
  return NAMED.filter((q) => q !== 0.95 || decade * Math.log10(2) >= 36);
}

const nameOf = (q: number, words: Words): string => (q === 0 ? words.charts.least : quantile(q));

/** Quantiles that the chart has a place for. */
const placed = (curve: Curve["curve"]) =>
  curve.filter((point) => point.quantile >= 0 && point.quantile < 1 && positive(point.ns));

function curveLine(curve: Omit<Curve, "curve">, points: Point[], right: boolean, look: Look): PanelLine {
  const { name, index } = curve;
  if (curve.isFaint) {
    return {
      name,
      index,
      points,
      color: look.faint,
      dash: "solid",
      width: 1,
      opacity: 0.55,
      signs: false,
      behind: true,
    };
  }
  return { name, index, signs: points.length <= 16, label: right, points };
}

/** Those with a name and a mark of their own. */
const plainOf = <T extends { isFaint?: boolean }>(curves: T[]) => curves.filter(({ isFaint }) => !isFaint);

/** Room for the names at the right. */
const rightOf = (curves: Curve[]) =>
  Math.min(210, 28 + Math.max(42, ...plainOf(curves).map((curve) => widthOf(curve.name))));

/** Where the axis of times begins: at the least of all quantiles, but for a minimum below half of the next. */
function floorOf(lines: PanelLine[]): number {
  const starts = lines.flatMap(({ points: [first, second] }) => {
    const [least, next] = [first?.[1], second?.[1]];
    if (!drawable(least)) return [];
    return [drawable(next) && least < next / 2 ? next : least];
  });
  return extent(starts)?.[0] ?? 0;
}

const HEIGHT = 300;
/** More lines than this have no room for names at their ends; the key has them. */
const MANY = 8;

export function percentilesOption(curves: Curve[], look: Look, words: Words): ChartOption {
  const quantiles = new Map<number, number>();
  const isFew = plainOf(curves).length <= MANY;
  const lines = curves.map((curve) => {
    const points = placed(curve.curve).map((point): Point => {
      const at = oneIn(point.quantile);
      quantiles.set(at, point.quantile);
      return [at, point.ns];
    });
    return curveLine(curve, points, isFew, look);
  });
  const end = Math.max(10, ...quantiles.keys());
  const ticks = new Map(ticked(end, look).map((q) => [oneIn(q), q]));
  return panelsOption(
    [
      {
        title: words.charts.responseTime,
        show: duration,
        showAxis: axisDuration,
        log: true,
        from: floorOf(lines),
        height: HEIGHT,
        lines,
      },
    ],
    {
      axis: {
        range: [1, end * 1.02],
        log: true,
        ticks: [...ticks.keys()].filter((at) => at <= end * 1.02),
        show: (at) => nameOf(ticks.get(closest(at, ticks)) ?? 0, words),
        tell: (at) => nameOf(quantiles.get(at) ?? 0, words),
        name: words.charts.percentileAxis,
      },
      ...(isFew ? { right: rightOf(curves) } : {}),
    },
    look,
  );
}

/** The tick that a rounded axis value stands for. */
function closest(at: number, ticks: Map<number, number>): number {
  let best = 1;
  for (const tick of ticks.keys()) if (Math.abs(tick / at - 1) < Math.abs(best / at - 1)) best = tick;
  return best;
}

export function cdfOption(curves: Curve[], look: Look, words: Words): ChartOption {
  const lines = curves.map((curve) =>
    curveLine(
      curve,
      curve.curve
        .filter((point) => positive(point.ns) && drawable(point.quantile))
        .map((point): Point => [point.ns, point.quantile]),
      false,
      look,
    ),
  );
  const range = logPadded(extent(lines.flatMap((line) => line.points.map(([ns]) => ns))) ?? [1, 10], 1.1);
  return panelsOption(
    [
      {
        title: words.charts.shareAtMost,
        show: percent,
        showAxis: (share) => percent(share).replace(/\.0+(?= )/, ""),
        height: HEIGHT,
        lines,
      },
    ],
    {
      axis: {
        range,
        log: true,
        ticks: logTicks(range[0], range[1], roomFor(look.width - 80, 64)),
        show: axisDuration,
        tell: duration,
        name: words.charts.responseTime,
      },
    },
    look,
  );
}

/** A cell's bins with its mark. */
export interface Binned extends Omit<Curve, "curve"> {
  histogram: NonNullable<Cell["histogram"]>;
}

export function histogramOption(cells: Binned[], look: Look, words: Words): ChartOption {
  const isOne = plainOf(cells).length === 1;
  const lines = cells.map((cell): PanelLine => {
    const steps = cell.histogram.map((bin): Point => [bin.from_ns, bin.share]);
    const end = cell.histogram.at(-1);
    const points: Point[] = end ? [...steps, [end.to_ns, 0]] : steps;
    return { ...curveLine(cell, points, false, look), signs: false, step: true, area: isOne };
  });
  const bins = cells.flatMap(({ histogram }) => histogram);
  const range = extent(bins.flatMap((bin) => [bin.from_ns, bin.to_ns])) ?? [1, 10];
  return panelsOption(
    [
      {
        title: words.charts.sharePerBin,
        show: percent,
        showAxis: (share) => percent(share).replace(/\.0+(?= )/, ""),
        height: HEIGHT,
        lines,
      },
    ],
    {
      axis: {
        range,
        log: true,
        ticks: logTicks(range[0], range[1], roomFor(look.width - 80, 64)),
        show: axisDuration,
        tell: duration,
        name: words.charts.responseTime,
      },
    },
    look,
  );
}

function curvesAlt(title: string, curves: Curve[], words: Words): string {
  const told = curves.map((curve) => {
    const named = NAMED.flatMap((q) => {
      const point = curve.curve.find((one) => Math.abs(one.quantile - q) < 1e-9);
      return point ? [`${nameOf(q, words)} ${duration(point.ns)}`] : [];
    });
    return `${clean(curve.name)}: ${named.join(", ")}`;
  });
  return `${title}. ${told.join("; ")}`;
}

function items(curves: Omit<Curve, "curve">[], words: Words): KeyItem[] {
  const plain = plainOf(curves);
  const rest = curves.length - plain.length;
  return [
    ...plain.map(({ name, index }) => ({ name, index })),
    ...(rest > 0 ? [{ name: words.charts.others(rest), index: -1 }] : []),
  ];
}

export function PercentilesChart({ curves }: { curves: Curve[] }) {
  const words = useWords();
  const label = useMemo(() => curvesAlt(words.charts.percentiles, curves, words), [curves, words]);
  const make = useCallback((look: Look) => percentilesOption(curves, look, words), [curves, words]);
  if (!curves.some((curve) => placed(curve.curve).length > 1)) return null;
  return (
    <div class="chart-box">
      <Key items={items(curves, words)} always={plainOf(curves).length > MANY} />
      <Chart
        name="percentiles"
        label={label}
        height={() => panelsHeight([{ height: HEIGHT }], true)}
        make={make}
      />
    </div>
  );
}

export function CdfChart({ curves }: { curves: Curve[] }) {
  const words = useWords();
  const label = useMemo(() => curvesAlt(words.charts.cdf, curves, words), [curves, words]);
  const make = useCallback((look: Look) => cdfOption(curves, look, words), [curves, words]);
  if (!curves.some((curve) => curve.curve.length > 1)) return null;
  return (
    <div class="chart-box">
      <Key items={items(curves, words)} always={curves.length > 1} />
      <Chart name="cdf" label={label} height={() => panelsHeight([{ height: HEIGHT }], true)} make={make} />
    </div>
  );
}

export function HistogramChart({ cells }: { cells: Binned[] }) {
  const words = useWords();
  const label = useMemo(
    () =>
      `${words.charts.histogram}. ${cells
        .map(({ name, histogram }) => `${clean(name)}: ${words.charts.mostBetween(...fullest(histogram))}`)
        .join("; ")}`,
    [cells, words],
  );
  const make = useCallback((look: Look) => histogramOption(cells, look, words), [cells, words]);
  if (!cells.some(({ histogram }) => histogram.length > 1)) return null;
  return (
    <div class="chart-box">
      <Key items={items(cells, words)} always={cells.length > 1} />
      <Chart
        name="histogram"
        label={label}
        height={() => panelsHeight([{ height: HEIGHT }], true)}
        make={make}
      />
    </div>
  );
}

/** The ends of the bin with the largest share. */
function fullest(bins: Binned["histogram"]): [string, string] {
  const [first] = [...bins].sort((a, b) => b.share - a.share);
  return first ? [duration(first.from_ns), duration(first.to_ns)] : ["–", "–"];
}
