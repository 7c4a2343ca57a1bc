/**
 * The heat map of one trial: how many answers took how long, over time, with p50 and p99 drawn over it; or how many
 * pauses of the collector were how long.
 *
 * Invariants: both the axis of times and the scale of colours are logarithmic; nothing counted is no colour; the scale is
 * even in lightness, so that it can be read without colour; warm-up and drain are paled, because they do not count.
 * Absent on purpose: smoothing.
 */
import { useCallback, useMemo } from "preact/hooks";
import { axisDuration, count, duration } from "../format";
import { type Words, useWords } from "../words";
import {
  clock,
  logAxis,
  logTicks,
  plainAxis,
  positive,
  roomFor,
  SMALL,
  timeInterval,
  tip,
  titled,
  tooltip,
  widthOf,
} from "./base";
import { Chart } from "./chart";
import type { Detail, Heat, Trial } from "./data";
import type { ChartOption, CustomSeriesOption, Series } from "./echarts";
import type { Look } from "./look";
import { NAMES, placeLines } from "./panels";
import { eventPlaces, phaseBands } from "./phases";

export interface HeatData {
  heat: Heat;
  /** Its percentiles and phases. */
  trial: Pick<Trial, "id" | "series">;
  detail?: Pick<Detail, "events">;
  /** What is counted; answers where absent. */
  of?: "pauses";
}

/** The words for what is counted. */
const namesOf = (of: HeatData["of"], { charts: t }: Words) =>
  of === "pauses"
    ? {
        axis: t.pauseLength,
        count: t.pauseCount,
        scale: t.pausesPerCell,
        title: t.pauseHeat,
        most: t.pauseHeatMost,
      }
    : { axis: t.responseTime, count: t.answers, scale: t.answersPerCell, title: t.heat, most: t.heatMost };

/** One cell of the map: span of time, span of response time, count. */
type Cell = [number, number, number, number, number];

/** The cells that have answers. */
export function heatCells(heat: Heat): Cell[] {
  return heat.rows.flatMap((row, at) => {
    const from = at === 0 ? heat.start_ns : (heat.t_ns[at - 1] ?? heat.start_ns);
    const to = heat.t_ns[at] ?? from;
    return row.flatMap((n, column): Cell[] => {
      const [low, high] = [heat.edges_ns[column], heat.edges_ns[column + 1]];
      return n > 0 && positive(low) && positive(high) ? [[from, to, low, high, n]] : [];
    });
  });
}

/** The colour of `n` answers, from few to many by the logarithm. Colours are `#rrggbb`. */
export function heatColour(n: number, max: number, scale: string[]): string {
  const steps = scale.slice(1);
  const share = max <= 1 ? 1 : Math.log(Math.max(1, n)) / Math.log(max);
  const place = Math.min(1, Math.max(0, share)) * (steps.length - 1);
  const at = Math.min(steps.length - 2, Math.floor(place));
  const [a, b] = [steps[at] ?? "#000000", steps[at + 1] ?? "#000000"];
  const part = (from: number) => {
    const [x, y] = [parseInt(a.slice(from, from + 2), 16), parseInt(b.slice(from, from + 2), 16)];
    return Math.round(x + (y - x) * (place - at))
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(1)}${part(3)}${part(5)}`;
}

type Render = NonNullable<CustomSeriesOption["renderItem"]>;

function drawCell(cells: Cell[], max: number, look: Look): Render {
  return (params, api) => {
    const cell = cells[params.dataIndex];
    if (!cell) return null;
    const [from, to, low, high, n] = cell;
    const [x1 = 0, y1 = 0] = api.coord([from, high]);
    const [x2 = 0, y2 = 0] = api.coord([to, low]);
    const box = params.coordSys as unknown as { x: number; width: number };
    const left = Math.max(box.x, x1);
    const width = Math.min(box.x + box.width, x2) - left;
    if (width <= 0) return null;
    return {
      type: "rect",
      // A little wider and higher than it is, so that no seams show between neighbours.
      shape: { x: left, y: y1, width: width + 0.6, height: Math.max(1, y2 - y1 + 0.6) },
      style: { fill: heatColour(n, max, look.heat) },
    } as ReturnType<Render>;
  };
}

function overlay(
  name: string,
  points: [number, number | null][],
  color: string,
  dash: number[] | "solid",
  look: Look,
) {
  const line = {
    type: "line",
    name,
    data: points,
    showSymbol: false,
    symbol: "circle",
    silent: true,
    animation: false,
    emphasis: { disabled: true },
    endLabel: {
      show: !look.narrow,
      formatter: () => name,
      color,
      fontSize: SMALL,
      distance: 6,
    },
    labelLayout: { moveOverlap: "shiftY" },
  };
  // A halo of the ground keeps the line apart from what lies under it.
  return [
    { ...line, endLabel: { show: false }, lineStyle: { color: look.ground, width: 5, opacity: 0.75 }, z: 5 },
    { ...line, lineStyle: { color, width: 2, type: dash }, itemStyle: { color }, z: 6 },
  ] as Series[];
}

type PointsOf = (
  of: (point: Trial["series"][number]) => number | null | undefined,
) => [number, number | null][];

function percentileLines(points: PointsOf, look: Look, words: Words): Series[] {
  return [
    ...overlay(
      words.metrics.p50,
      points((point) => point.p50_ns),
      look.ink,
      "solid",
      look,
    ),
    ...overlay(
      words.metrics.p99,
      points((point) => point.p99_ns),
      look.series[1] ?? look.ink,
      [7, 3],
      look,
    ),
  ];
}

const HEIGHT = 300;
const TITLE = 30;

/** Names of events stand above the map, below its title. */
const headOf = (detail: HeatData["detail"]) => TITLE + ((detail?.events.length ?? 0) > 0 ? NAMES : 0);

export function heatOption({ heat, trial, detail, of }: HeatData, look: Look, words: Words): ChartOption {
  const names = namesOf(of, words);
  const cells = heatCells(heat);
  const range: [number, number] = [heat.start_ns, Math.max(heat.start_ns + 1, ...heat.t_ns)];
  const seen = cells.flatMap((cell) => [cell[2], cell[3]]);
  const [low, high] = seen.length ? [Math.min(...seen), Math.max(...seen)] : [1e3, 1e9];
  const [left, right] = [62, look.narrow ? 14 : 46];
  const show = (ns: number) => clock(ns, range[1]);
  const x = plainAxis(look, false);
  const ticks = logTicks(low, high, 8);
  const y = logAxis(look, true, [low, high], ticks);
  const points: PointsOf = (of) =>
    trial.series
      .filter((point) => point.phase !== "drain")
      .map((point): [number, number | null] => [point.t_ns, of(point) ?? null]);
  const fade = phaseBands(trial, look, words).map((band) => [
    {
      xAxis: Math.max(range[0], band.from),
      itemStyle: { color: look.ground, opacity: 0.55 },
      label: {
        show:
          ((band.to - band.from) / (range[1] - range[0])) * (look.width - left - right) > widthOf(band.name),
        // The names of lines stand at the begin of the drain, where they end.
        position: band.from === 0 ? "insideTopLeft" : "insideTopRight",
        color: look.soft,
        fontSize: SMALL,
        formatter: () => band.name,
      },
    },
    { xAxis: Math.min(range[1], band.to) },
  ]);
  const events = placeLines(eventPlaces(detail, look), range, look);
  const top = headOf(detail);
  return {
    grid: { left, right, top, height: HEIGHT },
    xAxis: {
      ...x,
      type: "value",
      min: range[0],
      max: range[1],
      id: "time0",
      interval: timeInterval(range[1] - range[0], roomFor(look.width - left - right, 84)),
      splitNumber: roomFor(look.width - left - right, 84),
      axisLabel: { ...x.axisLabel, showMaxLabel: false, formatter: show },
    } as ChartOption["xAxis"],
    yAxis: {
      ...y,
      ...titled(look, names.axis, top - TITLE + 12),
      axisLabel: { ...y.axisLabel, formatter: (ns: number) => axisDuration(ns) },
      splitLine: { show: true, lineStyle: { color: look.line } },
    } as ChartOption["yAxis"],
    tooltip: tooltip(look, "item", ([hovered]) => {
      const cell = hovered?.seriesIndex === 0 ? cells[hovered.dataIndex] : undefined;
      if (!cell) return "";
      return tip(`${show(cell[0])} – ${show(cell[1])}`, [
        { name: names.axis, value: `${duration(cell[2])} – ${duration(cell[3])}` },
        { name: names.count, value: count(cell[4]) },
      ]);
    }),
    series: [
      {
        type: "custom",
        name: names.count,
        renderItem: drawCell(cells, heat.count_max, look),
        encode: { x: [0, 1], y: [2, 3] },
        data: cells,
        clip: true,
        z: 2,
        progressive: 0,
      },
      {
        type: "line",
        name: "",
        silent: true,
        data: [],
        z: 4,
        ...(fade.length ? { markArea: { silent: true, z: 4, data: fade } } : {}),
        ...(events.length ? { markLine: { silent: true, symbol: "none", data: events } } : {}),
      } as unknown as Series,
      // Response times are no pauses: their lines would stand on another scale of meaning.
      ...(of === "pauses" ? [] : percentileLines(points, look, words)),
    ],
  } as ChartOption;
}

export function heatAlt({ heat, trial, of }: HeatData, words: Words): string {
  const names = namesOf(of, words);
  const rows = heat.rows.map((row) => row.reduce((sum, n) => Math.max(sum, n), 0));
  return `${names.title(trial.id)}. ${names.most(count(heat.count_max), count(rows.length))}`;
}

export function HeatChart({ heat, trial, detail, of }: HeatData) {
  const words = useWords();
  const data = useMemo(
    (): HeatData => ({ heat, trial, ...(detail ? { detail } : {}), ...(of ? { of } : {}) }),
    [heat, trial, detail, of],
  );
  const label = useMemo(() => heatAlt(data, words), [data, words]);
  const make = useCallback((look: Look) => heatOption(data, look, words), [data, words]);
  if (heat.rows.length < 2) return null;
  return (
    <>
      <HeatScale max={heat.count_max} name={namesOf(of, words).scale} />
      <Chart
        name={of === "pauses" ? "pauses" : "heat"}
        label={label}
        height={() => headOf(detail) + HEIGHT + 34}
        make={make}
        renderer="canvas"
      />
    </>
  );
}

/** What the colours stand for. */
function HeatScale({ max, name }: { max: number; name: string }) {
  return (
    <p class="chart-scale">
      <span>{name}</span>
      <span>1</span>
      <span class="chart-scale-bar" aria-hidden="true" />
      <span>{count(max)}</span>
    </p>
  );
}
