/**
 * What the option functions share: text, ticks, axes, tooltips and rows.
 *
 * Invariants: values are mapped to coordinates and nothing else; what is not finite is left out; foreign text is one
 * line, has a bounded length, and cannot be taken for a template or markup.
 */
import { type Maybe, axisDuration } from "../format";
import type { Grid, Tooltip, XAxis, YAxis } from "./echarts";
import type { Look, Mark } from "./look";

export const SMALL = 12;
export const TEXT = 13;

/** Control characters, and those that turn the direction of text. */
const ODD = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** Foreign text on one line, at most `max` characters. */
export function oneLine(text: string, max = 80): string {
  const line = text.replace(ODD, " ").trim();
  const cut = [...line];
  return cut.length > max ? `${cut.slice(0, max - 1).join("")}…` : line;
}

/** The same for ECharts: braces cannot open a style of its rich text. */
export const clean = (text: string, max = 80): string => oneLine(text, max).replace(/\{/g, "{\u200b");

/** About how many CSS pixels a name of `SMALL` size takes; Chinese characters are twice as wide as Latin ones. */
export function widthOf(text: string): number {
  let units = 0;
  for (const char of clean(text)) units += char > "\u2e7f" ? 1.75 : 1;
  return units * 7;
}

/** Whether it can be drawn. */
export const drawable = (value: Maybe): value is number =>
  typeof value === "number" && Number.isFinite(value) && Math.abs(value) < 1e18;

/** Whether a logarithmic axis has a place for it. */
export const positive = (value: Maybe): value is number => drawable(value) && value > 0;

/** The smallest range that holds all drawable values. */
export function extent(values: Iterable<Maybe>): [number, number] | undefined {
  let range: [number, number] | undefined;
  for (const value of values) {
    if (!drawable(value)) continue;
    range = range ? [Math.min(range[0], value), Math.max(range[1], value)] : [value, value];
  }
  return range;
}

/** The range with room at both ends; a single value gets a tenth of itself. */
export function padded([low, high]: [number, number], share = 1 / 14): [number, number] {
  const pad = high > low ? (high - low) * share : Math.max(Math.abs(low) / 10, 1e-9);
  return [low - pad, high + pad];
}

/** Room at both ends of a logarithmic range. */
export const logPadded = ([low, high]: [number, number], factor = 1.12): [number, number] => [
  low / factor,
  high * factor,
];

/** Ticks at 1, 2 and 5 times powers of ten; only powers of ten, or every second or third, where that is too many. */
export function logTicks(low: number, high: number, max = 9): number[] {
  if (!positive(low) || !positive(high)) return [];
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const ticks = (steps: number[], every: number) => {
    const all: number[] = [];
    for (let power = from; power <= to; power += every) {
      for (const step of steps) all.push(Number(`${step}e${power}`));
    }
    return all.filter((tick) => tick >= low && tick <= high);
  };
  const tries: [number[], number][] = [
    [[1, 2, 3, 5, 7], 1],
    [[1, 2, 5], 1],
    [[1, 3], 1],
    [[1], 1],
    [[1], 2],
    [[1], 3],
  ];
  for (const [steps, every] of tries) {
    const found = ticks(steps, every);
    if (found.length > max) continue;
    return found.length >= Math.min(3, max) ? found : evenTicks(low, high, max);
  }
  return [low, high];
}

const ROUND = [1, 2, 2.5, 5, 10];

/** The least round number (1, 2, 2.5 or 5 times a power of ten) from `least` on. */
export function roundUp(least: number): number {
  if (!positive(least)) return 1;
  const power = Math.pow(10, Math.floor(Math.log10(least)));
  return (ROUND.find((step) => step * power >= least * 0.999999) ?? 10) * power;
}

/** Evenly spaced round ticks: for a logarithmic axis too short for powers of ten. */
function evenTicks(low: number, high: number, max: number): number[] {
  const step = roundUp((high - low) / max);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** The distance of ticks of sizes: round numbers of KiB, MiB and so on. */
export function byteInterval(range: number, ticks: number): number {
  const least = range / Math.max(1, ticks);
  const unit = Math.pow(1024, Math.max(0, Math.floor(Math.log(least) / Math.log(1024))));
  // 1 MiB rather than 1000 KiB.
  const step = roundUp(least / unit);
  return Math.max(1, (step > 512 ? 1024 : step) * unit);
}

const TIMES_S = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
];

/** The distance of ticks of a long time; short ones have decimal ticks, which need none. */
export function timeInterval(rangeNs: number, ticks: number): number | undefined {
  if (rangeNs < 119.5e9) return undefined;
  const least = rangeNs / 1e9 / Math.max(1, ticks);
  return (TIMES_S.find((seconds) => seconds >= least) ?? Math.ceil(least / 86_400) * 86_400) * 1e9;
}

/** How many labels an axis of `pixels` has room for. */
export const roomFor = (pixels: number, each = 70): number => Math.max(2, Math.floor(pixels / each));

/** A time since the origin on an axis: `20 s`; where the range is longer, minutes and seconds, or hours and minutes. */
export function clock(ns: number, rangeNs: number): string {
  if (rangeNs < 119.5e9) return axisDuration(ns, Math.max(rangeNs, 1e9));
  if (ns === 0) return "0";
  const seconds = Math.round(ns / 1e9);
  const two = (n: number) => String(n).padStart(2, "0");
  if (rangeNs < 7200e9) return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)}`;
}

/** An axis without ornament: labels, and grid lines where `lines`. */
export function plainAxis(look: Look, lines: boolean): XAxis & YAxis {
  return {
    axisLine: { show: !lines, lineStyle: { color: look.strong } },
    axisTick: { show: false },
    // Names stand where they are put, also where a label is near.
    nameMoveOverlap: false,
    axisLabel: { color: look.faint, fontSize: SMALL, hideOverlap: true },
    splitLine: { show: lines, showMinLine: false, showMaxLine: false, lineStyle: { color: look.line } },
    axisPointer: { lineStyle: { color: look.strong, type: "solid" }, label: { show: false } },
    nameTextStyle: { color: look.soft, fontSize: SMALL },
  } as XAxis & YAxis;
}

/**
 * What an axis shows, in words above it and its labels; `gap` pixels above the plot. The key of the same stands beside
 * it where there is room.
 */
export function titled(look: Look, name: string, gap: number, key = "") {
  const hasKey = key !== "" && widthOf(name) + widthOf(key) < look.width - 24;
  return {
    name: hasKey ? `${name}{key|${clean(key, 120)}}` : name,
    nameLocation: "end" as const,
    nameGap: gap,
    nameTextStyle: {
      color: look.soft,
      fontSize: TEXT,
      align: "left" as const,
      padding: [0, 0, 0, -54],
      rich: {
        key: { color: look.faint, fontSize: SMALL - 1, fontFamily: "monospace", padding: [0, 0, 0, 8] },
      },
    },
  };
}

/** A logarithmic axis with ticks where they are wanted. */
export function logAxis(look: Look, lines: boolean, range: [number, number], ticks: number[]): XAxis & YAxis {
  const axis = plainAxis(look, lines);
  return {
    ...axis,
    type: "log",
    min: range[0],
    max: range[1],
    // Its first and last tick are not its ends.
    splitLine: { ...axis.splitLine, showMinLine: true, showMaxLine: true },
    axisTick: { show: false, customValues: ticks },
    axisLabel: { ...axis.axisLabel, customValues: ticks },
  } as XAxis & YAxis;
}

/** One line of a tooltip. */
export interface TipRow {
  mark?: Pick<Mark, "color"> | undefined;
  name?: string;
  value: string;
}

/** A tooltip's content as elements, so that foreign text is text. */
export function tip(title: string, rows: TipRow[], note?: string): HTMLElement {
  const part = (tag: string, kind: string, text = "") => {
    const element = document.createElement(tag);
    element.className = kind;
    element.textContent = text;
    return element;
  };
  const all = part("div", "chart-tip");
  if (title) all.append(part("div", "chart-tip-title", title));
  for (const { mark, name, value } of rows) {
    const row = part("div", "chart-tip-row");
    const swatch = part("span", "chart-tip-mark");
    if (mark) swatch.style.background = mark.color;
    row.append(swatch, part("span", "chart-tip-name", name ?? ""), part("span", "chart-tip-value", value));
    all.append(row);
  }
  if (note) all.append(part("div", "chart-tip-note", note));
  return all;
}

/** What ECharts hands to a tooltip, as far as it is used. */
export interface Hovered {
  seriesIndex: number;
  seriesName?: string;
  dataIndex: number;
  value?: unknown;
  axisValue?: number | string;
}

export function tooltip(
  look: Look,
  trigger: "item" | "axis",
  show: (hovered: Hovered[]) => HTMLElement | "",
): Tooltip {
  return {
    trigger,
    confine: true,
    transitionDuration: 0,
    showDelay: 0,
    padding: 0,
    backgroundColor: look.raised,
    borderColor: look.strong,
    borderWidth: 1,
    textStyle: { color: look.ink, fontSize: TEXT, fontFamily: look.font },
    extraCssText: "box-shadow: none; border-radius: 3px; max-width: min(26rem, 90vw); white-space: normal;",
    axisPointer: { type: "line", animation: false, lineStyle: { color: look.strong, type: "solid" } },
    formatter: (params: unknown) => show([params].flat() as Hovered[]) as HTMLElement,
  } as Tooltip;
}

/** Rows with a name each, the first on top. */
export interface Rows {
  /** Height of one row. */
  row: number;
  height: number;
  grid: Grid;
  yAxis: YAxis;
  /** Pixels from the middle of a row to the middle of its marks. */
  shift: number;
}

export interface RowName {
  text: string;
  /** A heading has no marks of its own. */
  head?: boolean;
}

const TOP = 6;
const AXIS = 42;

/** The height of a chart of rows. */
export const rowsHeight = (look: Look, count: number, row = 30): number =>
  TOP + AXIS + count * (look.narrow ? row + 18 : row);

/** Room for the longest name; a heading may run on above the plot. */
function sideOf(look: Look, names: RowName[]): number {
  const widths = names.filter(({ head }) => !head).map(({ text }) => widthOf(text) * (TEXT / SMALL));
  return Math.round(Math.min(look.width * 0.4, 340, Math.max(90, ...widths) + 28));
}

/**
 * Names to the left of their rows, or above the marks where the screen is narrow. `right` is room for numbers.
 */
export function rowsOf(look: Look, names: RowName[], { row = 30, right = 16 } = {}): Rows {
  const side = look.narrow ? 4 : sideOf(look, names);
  const high = look.narrow ? row + 18 : row;
  const shift = look.narrow ? 9 : 0;
  const style = (name: RowName) => (name.head ? "head" : "name");
  return {
    row: high,
    height: rowsHeight(look, names.length, row),
    shift,
    grid: { left: side, right: look.narrow ? 12 : right, top: TOP, bottom: AXIS, containLabel: false },
    yAxis: {
      type: "category",
      inverse: true,
      data: names.map((_, index) => String(index)),
      axisLine: { show: false },
      axisTick: { show: false },
      splitLine: { show: false },
      axisPointer: { show: false },
      z: 4,
      axisLabel: {
        interval: 0,
        inside: look.narrow,
        align: look.narrow ? "left" : "right",
        margin: look.narrow ? 0 : 12,
        width: look.narrow ? look.width - 24 : side - 16,
        overflow: "truncate",
        fontSize: TEXT,
        color: look.ink,
        formatter: (at: string) => {
          const name = names[Number(at)];
          if (!name) return "";
          const text = `{${style(name)}|${clean(name.text, 120)}}`;
          // The marks of a row stand below its name.
          return look.narrow && !name.head ? `${text}\n{below|}` : text;
        },
        rich: {
          // Names that stand within the plot have its ground, so that no line of it runs through them.
          name: {
            color: look.soft,
            fontSize: TEXT,
            ...(look.narrow ? { backgroundColor: look.ground, padding: [1, 4, 1, 0] } : {}),
          },
          below: { height: row - 10 },
          head: {
            color: look.ink,
            fontSize: TEXT,
            fontWeight: 600,
            ...(look.narrow ? {} : { width: side - 16, align: "left" }),
          },
        },
      },
    },
  };
}
