/**
 * The shift function of a pair: how much longer the first takes than the second at each quantile, with the band that
 * contains the whole curve.
 *
 * Invariants: both axes are logarithmic, that of quantiles counts nines as in the percentiles chart; equality is a line
 * that is always in view; a sign is filled only where the band excludes equality; a band without an end runs to the
 * edge of the chart.
 */
import { useCallback, useMemo } from "preact/hooks";
import { changes, quantile, ratioInterval } from "../format";
import { type Words, useWords } from "../words";
import {
  clean,
  drawable,
  extent,
  logAxis,
  logPadded,
  plainAxis,
  positive,
  roomFor,
  titled,
  tip,
  tooltip,
} from "./base";
import { Chart } from "./chart";
import type { Shift } from "./data";
import type { ChartOption, CustomSeriesOption } from "./echarts";
import { ratioTicks, tickText } from "./forest";
import type { Look } from "./look";
import { oneIn } from "./percentiles";

type ShiftPoint = Shift["points"][number];
type Render = NonNullable<CustomSeriesOption["renderItem"]>;

export interface ShiftData {
  shift: Shift;
  /** What the two cells are called. */
  a: string;
  b: string;
}

/** 1 where the whole band lies above equality, -1 where below, 0 where it contains it. */
export function side({ band }: Pick<ShiftPoint, "band">): -1 | 0 | 1 {
  if (drawable(band.low) && band.low > 1) return 1;
  return drawable(band.high) && band.high < 1 ? -1 : 0;
}

/** The runs of quantiles at which the band lies on the same side of equality: `p5`, `p95–p99.9`. */
export function stretches(points: ShiftPoint[], of: -1 | 1): string[] {
  const found: string[] = [];
  for (let from = 0; from < points.length; from++) {
    if (side(points[from]!) !== of) continue;
    let to = from;
    while (to + 1 < points.length && side(points[to + 1]!) === of) to++;
    const ends = [points[from]!, points[to]!].map((point) => quantile(point.quantile));
    found.push(from === to ? ends[0]! : ends.join("–"));
    from = to;
  }
  return found;
}

/** Where the band excludes no change, in one sentence. */
export function shiftSentence({ shift, a }: Pick<ShiftData, "shift" | "a">, words: Words): string {
  const [longer, shorter] = ([1, -1] as const).map((of) => stretches(shift.points, of).join(words.comma));
  return words.charts.shiftExcludes(clean(a), longer ?? "", shorter ?? "");
}

/** Points that both axes have a place for. */
const placed = ({ points }: Shift) =>
  points.filter((point) => positive(point.quantile) && point.quantile < 1 && positive(point.ratio));

/** All of the band and some of both sides of equality; what is beyond a factor of 100 is cut. */
function rangeOf(points: ShiftPoint[]): [number, number] {
  const ends = points.flatMap(({ ratio, band }) => [ratio, band.low, band.high]).filter(positive);
  const [low, high] = extent([...ends, 1.01, 1 / 1.01]) ?? [0.9, 1.1];
  const range = logPadded([low, high], Math.pow(high / low, 0.06));
  return [Math.max(range[0], 0.01), Math.min(range[1], 100)];
}

/** One item draws the whole band. */
function drawBand(points: ShiftPoint[], range: [number, number], look: Look): Render {
  return ({ dataIndex }, api) => {
    if (dataIndex !== 0) return null;
    const at = (point: ShiftPoint, end: number) =>
      api.coord([oneIn(point.quantile), Math.min(range[1], Math.max(range[0], end))]);
    const upper = points.map((point) => at(point, point.band.high ?? range[1]));
    const lower = points.map((point) => at(point, point.band.low ?? range[0]));
    const edge = (line: number[][]) => ({
      type: "polyline" as const,
      shape: { points: line },
      style: { stroke: look.series[0], fill: "none", lineWidth: 1, opacity: 0.6 },
    });
    const ground = {
      type: "polygon" as const,
      shape: { points: [...upper, ...[...lower].reverse()] },
      style: { fill: look.series[0], opacity: 0.16 },
    };
    return { type: "group", children: [ground, edge(upper), edge(lower)] } as ReturnType<Render>;
  };
}

function sign(point: ShiftPoint, look: Look) {
  const where = side(point);
  if (where === 0)
    return { symbol: "circle", itemStyle: { color: look.ground, borderColor: look.faint, borderWidth: 2 } };
  // Up and down are where the sign lies; its colour only repeats it.
  return { symbol: "diamond", itemStyle: { color: where > 0 ? look.bad : look.good } };
}

const NAMED = [0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999];
const NAMED_NARROW = [0.5, 0.9, 0.99, 0.999];
const HEIGHT = 240;
const TOP = 34;
const BOTTOM = 48;

export function shiftOption({ shift, a, b }: ShiftData, look: Look, words: Words): ChartOption {
  const t = words.charts;
  const points = placed(shift);
  const range = rangeOf(points);
  const end = Math.max(4, ...points.map((point) => oneIn(point.quantile)));
  const named = new Map((look.narrow ? NAMED_NARROW : NAMED).map((q) => [oneIn(q), q]));
  const x = logAxis(
    look,
    false,
    [1, end * 1.06],
    [...named.keys()].filter((at) => at <= end * 1.001),
  );
  const y = logAxis(look, true, range, ratioTicks(range, roomFor(HEIGHT, 34)));
  const nameAt = (at: number) => [...named].find(([tick]) => Math.abs(tick / at - 1) < 1e-3)?.[1];
  return {
    grid: { left: 62, right: 24, top: TOP, height: HEIGHT },
    xAxis: {
      ...x,
      axisLine: plainAxis(look, false).axisLine,
      name: t.percentileAxis,
      nameLocation: "middle",
      nameGap: 28,
      axisLabel: {
        ...x.axisLabel,
        formatter: (at: number) => {
          const q = nameAt(at);
          return q === undefined ? "" : quantile(q);
        },
      },
    } as ChartOption["xAxis"],
    yAxis: {
      ...y,
      ...titled(look, t.shiftAxis, 14),
      axisLabel: { ...y.axisLabel, formatter: (ratio: number) => tickText(ratio) },
    } as ChartOption["yAxis"],
    tooltip: tooltip(look, "axis", (hovered) => {
      const point = points[hovered.find(({ seriesName }) => seriesName === t.ratio)?.dataIndex ?? -1];
      return point ? shiftTip(point, `${clean(a)} ÷ ${clean(b)}`, words) : "";
    }),
    series: [
      {
        type: "custom",
        name: t.shiftBand,
        renderItem: drawBand(points, range, look),
        encode: { x: 0, y: [1, 2] },
        data: points.map(({ quantile, band }) => [oneIn(quantile), band.low ?? null, band.high ?? null]),
        silent: true,
        clip: true,
        tooltip: { show: false },
        z: 2,
      },
      {
        type: "line",
        name: t.ratio,
        data: points.map((point) => ({ value: [oneIn(point.quantile), point.ratio], ...sign(point, look) })),
        symbolSize: 10,
        showAllSymbol: true,
        lineStyle: { color: look.series[0], width: 2, type: "solid" },
        itemStyle: { color: look.series[0] },
        emphasis: { disabled: true },
        z: 4,
        markLine: {
          silent: true,
          symbol: "none",
          label: { show: false },
          lineStyle: { color: look.ink, type: "solid", width: 1.5 },
          data: [{ yAxis: 1 }],
          z: 3,
        },
      },
    ] as ChartOption["series"],
  };
}

function shiftTip(point: ShiftPoint, who: string, words: Words): HTMLElement {
  const t = words.charts;
  const [change, band] = changes(point.ratio, point.band);
  return tip(`${quantile(point.quantile)}${words.comma}${who}`, [
    { name: t.change, value: change },
    { name: t.shiftBand, value: band },
    { name: t.ratio, value: ratioInterval(point.band) },
  ]);
}

/** The chart in words. */
export function shiftAlt(data: ShiftData, words: Words): string {
  const values = placed(data.shift).map((point) => {
    const [change, band] = changes(point.ratio, point.band);
    return `${quantile(point.quantile)} ${change} (${band})`;
  });
  const who = `${clean(data.a)} ÷ ${clean(data.b)}`;
  return `${words.charts.shift(who)}. ${shiftSentence(data, words)} ${values.join("; ")}`;
}

export function ShiftChart(data: ShiftData) {
  const { shift, a, b } = data;
  const words = useWords();
  const label = useMemo(() => shiftAlt({ shift, a, b }, words), [shift, a, b, words]);
  const make = useCallback((look: Look) => shiftOption({ shift, a, b }, look, words), [shift, a, b, words]);
  if (placed(shift).length < 2) return null;
  return <Chart name="shift" label={label} height={() => TOP + HEIGHT + BOTTOM} make={make} />;
}
