/**
 * Panels over each other on one axis: the machinery of all charts over time and over load.
 *
 * Invariants: all panels share the axis, its cursor and its zoom; a gap in a line is a time at which nothing was
 * read; what a panel shows stands above it in words.
 * Absent on purpose: what the panels mean.
 */
import {
  type Hovered,
  byteInterval,
  clean,
  extent,
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
import type { ChartOption, Grid, Series, XAxis, YAxis } from "./echarts";
import { type Dash, type Look, markOf } from "./look";

/** A point: place on the shared axis and value. */
export type Point = [number, number | null];

export interface PanelLine {
  name: string;
  points: Point[];
  /** Which series mark it has. */
  index: number;
  /** Else that of the mark. */
  dash?: Dash;
  color?: string;
  width?: number;
  opacity?: number;
  /** Intervals: place, lower end, upper end. */
  whiskers?: [number, number, number][];
  /** Signs at the points: where there are few, unless said otherwise. */
  signs?: boolean;
  /** No line between the points. */
  loose?: boolean;
  /** Labelled at its end where there is room. */
  label?: boolean;
  /** Fill under the line. */
  area?: boolean;
  /** Values hold to the next point. */
  step?: boolean;
  /** Not shown in the tooltip. */
  quiet?: boolean;
  /** Behind the others, which it must not cover. */
  behind?: boolean;
}

/** A stretch of the shared axis with another ground. */
export interface Band {
  from: number;
  to: number;
  name: string;
  color: string;
  opacity?: number;
  /** Where its name stands. */
  align?: "left" | "center";
}

/** A place on the shared axis. */
export interface Place {
  at: number;
  name: string;
  color: string;
  dash?: Dash;
}

export interface Panel {
  /** What it shows, with its unit where the labels have none. */
  title: string;
  /** What programs call it, beside the title. */
  key?: string;
  lines: PanelLine[];
  show: (value: number) => string;
  /** The same on the axis: on a linear one beside the value at its end, on a logarithmic one alone. */
  showAxis: (value: number, end?: number) => string;
  /** Logarithmic; only where all values are above 0. */
  log?: boolean;
  /** Sizes, whose round numbers are those of 1024. */
  bytes?: boolean;
  /** Counts, of which there are no halves. */
  whole?: boolean;
  /** Where a logarithmic axis need not begin earlier: what lies below leaves the panel. */
  from?: number;
  /** Whether the axis begins at 0; so where not said otherwise. */
  zero?: boolean;
  height?: number;
  bands?: Band[];
  places?: Place[];
  /** Lines across at a value. */
  levels?: { value: number; name: string; color: string }[];
}

export interface SharedAxis {
  range: [number, number];
  show: (place: number) => string;
  /** The place in the tooltip; `show` where absent. */
  tell?: (place: number) => string;
  name?: string;
  log?: boolean;
  ticks?: number[];
  /** Nanoseconds: ticks at whole minutes and hours where the range is long. */
  time?: boolean;
}

export interface PanelsOptions {
  axis: SharedAxis;
  zoom?: boolean;
  /** Room for labels at the ends of lines. */
  right?: number;
  left?: number;
}

export const PANEL = 118;
const TITLE = 29;
const GAP = 12;
const BOTTOM = 30;

/** Room for the names of places, above the first panel. */
export const NAMES = 18;

const headOf = (panel: Pick<Panel, "places"> | undefined): number =>
  panel?.places?.some((place) => place.name !== "") ? NAMES : 0;

/** The height of the whole chart. */
export function panelsHeight(panels: Pick<Panel, "height" | "places">[], axisName = false): number {
  const all = panels.reduce((sum, panel) => sum + headOf(panel) + TITLE + (panel.height ?? PANEL) + GAP, 0);
  return all + BOTTOM + (axisName ? 18 : 0);
}

/** What must lie on the panel's own axis. */
function valuesOf(panel: Panel): (number | null)[] {
  return panel.lines.flatMap((line) => [
    ...line.points.map(([, value]) => value),
    ...(line.whiskers ?? []).flatMap(([, low, high]) => [low, high]),
  ]);
}

function panelAxis(panel: Panel, index: number, look: Look): YAxis {
  const title = titled(look, panel.title, 12 + headOf(panel), panel.key);
  const values = valuesOf(panel);
  const { from = 0 } = panel;
  const range = extent(panel.log ? values.filter((n) => positive(n) && n >= from) : values) ?? [
    panel.log ? 1 : 0,
    panel.log ? 10 : 1,
  ];
  const room = Math.max(2, Math.floor((panel.height ?? PANEL) / 28));
  if (panel.log) {
    const wide: [number, number] = [range[0] / 1.25, range[1] * 1.25];
    const axis = logAxis(look, true, wide, logTicks(wide[0], wide[1], room + 1));
    const label = { ...axis.axisLabel, formatter: (value: number) => panel.showAxis(value) };
    return { ...axis, ...title, gridIndex: index, axisLabel: label } as YAxis;
  }
  const axis = plainAxis(look, true);
  const fromZero = panel.zero ?? true;
  const spread = range[1] - range[0] || Math.abs(range[1]) || 1;
  // A tick at the end of the axis would stand in the title above it.
  const headroom = 0.08 * (fromZero ? Math.max(spread, range[1]) : spread);
  const interval = panel.bytes
    ? byteInterval(fromZero ? Math.max(range[1], 1) : spread * 1.2, room)
    : undefined;
  // Ticks begin at the end of the axis, so that end is a round number of bytes.
  const least = interval ? Math.floor(range[0] / interval) * interval : range[0] - spread * 0.12;
  const end = range[1] > 0 || !fromZero ? range[1] + headroom : 1;
  return {
    ...axis,
    ...title,
    type: "value",
    gridIndex: index,
    splitNumber: room,
    ...(interval ? { interval } : {}),
    ...(panel.whole ? { minInterval: 1 } : {}),
    min: fromZero && range[0] >= 0 ? 0 : fromZero ? undefined : least,
    max: end,
    axisLabel: {
      ...axis.axisLabel,
      showMaxLabel: false,
      showMinLabel: fromZero || interval !== undefined,
      formatter: (value: number) => panel.showAxis(value, end),
    },
  } as YAxis;
}

function sharedAxis(axis: SharedAxis, index: number, isLast: boolean, look: Look, width: number): XAxis {
  const room = roomFor(width, 84);
  const ticks = axis.ticks ?? (axis.log ? logTicks(axis.range[0], axis.range[1], room) : undefined);
  const base =
    axis.log && ticks
      ? logAxis(look, false, axis.range, ticks)
      : { ...plainAxis(look, false), type: "value" };
  return {
    ...base,
    gridIndex: index,
    min: axis.range[0],
    max: axis.range[1],
    splitNumber: room,
    ...(axis.time ? { id: `time${index}`, interval: timeInterval(axis.range[1] - axis.range[0], room) } : {}),
    axisLine: { show: true, lineStyle: { color: look.strong }, onZero: false },
    ...(isLast && axis.name
      ? {
          name: axis.name,
          nameLocation: "middle",
          nameGap: 26,
          nameTextStyle: { color: look.soft, fontSize: SMALL },
        }
      : {}),
    axisLabel: {
      ...(base as XAxis).axisLabel,
      show: isLast,
      showMaxLabel: axis.log ? undefined : false,
      formatter: (place: number) => axis.show(place),
    },
  } as XAxis;
}

/** Room that no plot has: axis labels, and names at the ends of lines. */
const BESIDE = 110;

/**
 * Lines at places with their names above them: to the right of the line, or to the left where there is more room;
 * each is cut where the next one begins.
 */
export function placeLines(places: Place[], [from, to]: [number, number], look: Look) {
  const sorted = [...places].sort((a, b) => a.at - b.at);
  const pixels = (a: number, b: number) => ((b - a) / (to - from)) * Math.max(1, look.width - BESIDE);
  const end = pixels(from, to);
  let free = 0;
  return sorted.map((place, index) => {
    const at = pixels(from, place.at);
    const next = sorted[index + 1];
    const after = (next ? pixels(from, next.at) : end) - at;
    const wanted = widthOf(place.name);
    const isLeft = wanted > after && at - free > after;
    const room = Math.max(1, (isLeft ? at - free : after) - 6);
    free = isLeft ? at : at + Math.min(wanted, room);
    return {
      xAxis: place.at,
      lineStyle: { color: place.color, type: place.dash ?? [4, 3], width: 1.5 },
      label: {
        show: place.name !== "",
        position: "end",
        distance: 4,
        align: isLeft ? "right" : "left",
        color: place.color,
        fontSize: SMALL,
        ...(wanted > room ? { width: room, overflow: "truncate" } : {}),
        formatter: () => clean(place.name, 40),
      },
    };
  });
}

function marksOf(panel: Panel, isFirst: boolean, range: [number, number], look: Look) {
  const share = (from: number, to: number) => (to - from) / (range[1] - range[0]);
  const areas = (panel.bands ?? []).map((band) => [
    {
      name: band.name,
      xAxis: band.from,
      itemStyle: { color: band.color, opacity: band.opacity ?? 1 },
      label: {
        // A band too narrow for its name is shown by its ground alone.
        show:
          isFirst &&
          band.name !== "" &&
          share(band.from, band.to) * (look.width - BESIDE) > widthOf(band.name),
        // At the bottom, where a throughput seldom is.
        position: band.align === "center" ? "insideTop" : "insideBottomLeft",
        color: look.faint,
        fontSize: SMALL,
        formatter: () => clean(band.name),
      },
    },
    { xAxis: band.to },
  ]);
  const lines = [
    ...placeLines(panel.places ?? [], range, look),
    ...(panel.levels ?? []).map((level) => ({
      yAxis: level.value,
      lineStyle: { color: level.color, type: [6, 3], width: 1.25 },
      label: {
        show: level.name !== "",
        position: "insideEndTop",
        color: level.color,
        fontSize: SMALL,
        formatter: () => clean(level.name),
      },
    })),
  ];
  return {
    ...(areas.length ? { markArea: { silent: true, data: areas } } : {}),
    ...(lines.length ? { markLine: { silent: true, symbol: "none", data: lines } } : {}),
  };
}

/** Points between gaps, which no line reaches: without a sign they would not be seen. */
export const alone = (points: Point[]): Set<number> =>
  new Set(
    points.flatMap(([, value], at) =>
      value !== null && (points[at - 1]?.[1] ?? null) === null && (points[at + 1]?.[1] ?? null) === null
        ? [at]
        : [],
    ),
  );

function lineSeries(line: PanelLine, panel: number, look: Look): Series {
  const mark = markOf(look, line.index);
  const color = line.color ?? mark.color;
  const few = line.signs ?? line.points.length <= 40;
  const single = few ? new Set<number>() : alone(line.points);
  const isSigned = few || single.size > 0;
  return {
    type: "line",
    name: line.name,
    xAxisIndex: panel,
    yAxisIndex: panel,
    data: line.points,
    connectNulls: false,
    animation: false,
    silent: line.quiet ?? false,
    step: line.step ? "end" : false,
    showSymbol: isSigned,
    showAllSymbol: isSigned,
    symbol:
      single.size > 0
        ? (_: unknown, { dataIndex }: { dataIndex: number }) => (single.has(dataIndex) ? mark.sign : "none")
        : mark.sign,
    symbolSize: isSigned ? 6 : 5,
    itemStyle: {
      color: mark.hollow ? look.ground : color,
      borderColor: color,
      borderWidth: mark.hollow ? 1.5 : 0,
      opacity: line.opacity ?? 1,
    },
    lineStyle: {
      color,
      width: line.loose ? 0 : (line.width ?? 2),
      type: line.dash ?? mark.dash,
      opacity: line.opacity ?? 1,
    },
    ...(line.area ? { areaStyle: { color, opacity: 0.12 } } : {}),
    emphasis: { disabled: true },
    clip: true,
    z: line.behind ? 2 : 3,
  } as Series;
}

/** The intervals of a line. */
function whiskerSeries(line: PanelLine, panel: number, look: Look): Series {
  const color = line.color ?? markOf(look, line.index).color;
  return {
    type: "custom",
    name: line.name,
    xAxisIndex: panel,
    yAxisIndex: panel,
    silent: true,
    clip: true,
    encode: { x: 0, y: [1, 2] },
    data: line.whiskers,
    tooltip: { show: false },
    renderItem: (_: unknown, api: { value: (at: number) => number; coord: (at: number[]) => number[] }) => {
      const [x = 0, low = 0] = api.coord([api.value(0), api.value(1)]);
      const [, high = 0] = api.coord([api.value(0), api.value(2)]);
      const stroke = (x1: number, y1: number, x2: number, y2: number) => ({
        type: "line",
        shape: { x1, y1, x2, y2 },
        style: { stroke: color, lineWidth: 1.25 },
      });
      return {
        type: "group",
        children: [stroke(x, low, x, high), stroke(x - 3, low, x + 3, low), stroke(x - 3, high, x + 3, high)],
      };
    },
    z: 2,
  } as unknown as Series;
}

interface Coordinates {
  coord: (at: number[]) => number[];
}

const LABEL = 15;
/** A line that ends farther from its name than this is led to it. */
const LEAD = 24;

/**
 * The names of lines to the right of the panel, each beside the end of its line, none over another. A line that ends
 * early is led to its name.
 */
function labelSeries(panel: Panel, index: number, width: number, look: Look): Series {
  const lines = panel.lines.flatMap((line) => {
    const last = line.label ? line.points.filter(([, value]) => value !== null).at(-1) : undefined;
    return last ? [{ line, last }] : [];
  });
  return {
    type: "custom",
    name: "",
    xAxisIndex: index,
    yAxisIndex: index,
    silent: true,
    clip: false,
    tooltip: { show: false },
    encode: { x: 0, y: 1 },
    // One item draws all names; where it stands does not matter.
    data: [lines[0]?.last ?? []],
    z: 5,
    renderItem: (
      { coordSys }: { coordSys: { x: number; y: number; width: number; height: number } },
      api: Coordinates,
    ) => {
      const wanted = lines.map(({ line, last }) => {
        const [x = 0, y = 0] = api.coord([last[0], last[1] ?? 0]);
        return { line, x, y, color: line.color ?? markOf(look, line.index).color };
      });
      const places = apart(
        wanted.map(({ y }) => y),
        LABEL,
        coordSys.y,
        coordSys.y + coordSys.height,
      );
      const end = coordSys.x + coordSys.width;
      const leads = wanted.flatMap(({ x, y, color }, at) =>
        end - x > LEAD
          ? [
              {
                type: "line",
                shape: { x1: x + 6, y1: y, x2: end + 4, y2: places[at] },
                style: { stroke: color, lineWidth: 1, lineDash: [1, 3], opacity: 0.8 },
              },
            ]
          : [],
      );
      return {
        type: "group",
        children: [
          ...leads,
          ...wanted.map(({ line, color }, at) => ({
            type: "text",
            style: {
              text: clean(line.name),
              x: end + 8,
              y: places[at],
              fill: color,
              font: `${SMALL}px ${look.font}`,
              verticalAlign: "middle",
              width,
              overflow: "truncate",
            },
          })),
        ],
      };
    },
  } as unknown as Series;
}

/** Heights at least `gap` apart between `top` and `bottom`, as near to the wanted ones as a walk down and up gives. */
export function apart(wanted: number[], gap: number, top: number, bottom: number): number[] {
  const order = wanted.map((_, at) => at).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const placed = [...wanted];
  let least = top;
  for (const at of order) {
    placed[at] = Math.max(placed[at] ?? 0, least);
    least = (placed[at] ?? 0) + gap;
  }
  let most = bottom;
  for (const at of order.reverse()) {
    placed[at] = Math.min(placed[at] ?? 0, most);
    most = (placed[at] ?? 0) - gap;
  }
  return placed;
}

/** An empty line that carries bands, places and levels, and is shown nowhere. */
function groundSeries(panel: Panel, index: number, range: [number, number], look: Look): Series {
  return {
    type: "line",
    name: "",
    xAxisIndex: index,
    yAxisIndex: index,
    silent: true,
    data: range.map((place) => [place, null]),
    showSymbol: false,
    tooltip: { show: false },
    z: 1,
    ...marksOf(panel, index === 0, range, look),
  } as unknown as Series;
}

export function panelsOption(panels: Panel[], options: PanelsOptions, look: Look): ChartOption {
  const { axis } = options;
  const left = options.left ?? 62;
  const right = look.narrow ? 14 : (options.right ?? 18);
  let top = 0;
  const grids: Grid[] = panels.map((panel) => {
    const height = panel.height ?? PANEL;
    const head = headOf(panel) + TITLE;
    const grid = { left, right, top: top + head, height, containLabel: false };
    top += head + height + GAP;
    return grid;
  });
  const series: Series[] = [];
  const told: ({ line: PanelLine; panel: Panel } | undefined)[] = [];
  const add = (one: Series, about?: { line: PanelLine; panel: Panel }) => {
    series.push(one);
    told.push(about);
  };
  panels.forEach((panel, index) => {
    for (const line of panel.lines) {
      add(lineSeries(line, index, look), line.quiet ? undefined : { line, panel });
    }
  });
  panels.forEach((panel, index) => {
    for (const line of panel.lines) if (line.whiskers?.length) add(whiskerSeries(line, index, look));
    if (!look.narrow && panel.lines.some((line) => line.label))
      add(labelSeries(panel, index, right - 14, look));
    add(groundSeries(panel, index, axis.range, look));
  });
  const last = panels.length - 1;
  return {
    grid: grids,
    xAxis: panels.map((_, index) => sharedAxis(axis, index, index === last, look, look.width - left - right)),
    yAxis: panels.map((panel, index) => panelAxis(panel, index, look)),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: tooltip(look, "axis", (hovered) => panelTip(hovered, told, axis, look)),
    ...(options.zoom
      ? {
          dataZoom: [
            {
              type: "inside",
              xAxisIndex: panels.map((_, index) => index),
              filterMode: "none",
              zoomOnMouseWheel: "ctrl",
              moveOnMouseMove: true,
              moveOnMouseWheel: false,
              preventDefaultMouseMove: false,
            },
          ],
        }
      : {}),
    series,
  } as ChartOption;
}

function panelTip(
  hovered: Hovered[],
  told: ({ line: PanelLine; panel: Panel } | undefined)[],
  axis: SharedAxis,
  look: Look,
): HTMLElement | "" {
  const rows = hovered.flatMap((one) => {
    const about = told[one.seriesIndex];
    const value = Array.isArray(one.value) ? (one.value as unknown[])[1] : undefined;
    if (!about || typeof value !== "number") return [];
    const { line, panel } = about;
    const mark = { color: line.color ?? markOf(look, line.index).color };
    return [{ mark, name: clean(line.name), value: panel.show(value) }];
  });
  const place = (hovered.find((one) => told[one.seriesIndex])?.value as number[] | undefined)?.[0];
  if (place === undefined || rows.length === 0) return "";
  return tip((axis.tell ?? axis.show)(place), rows);
}
