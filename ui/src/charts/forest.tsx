/**
 * The comparison chart: for each pair and metric the ratio with its interval, on a logarithmic axis around equality.
 *
 * Invariants: the band is the equivalence margin; a mark is filled only where the verdict is certain, and points up
 * or down only where one of the two is better; an interval without an end runs to the edge of the chart.
 * Absent on purpose: comparisons without a number (the table has them, with their reasons), and marks for differences
 * (a row whose answer rests on differences has its numbers to the right).
 */
import { useCallback, useMemo } from "preact/hooks";
import { change, changes, chosenPercent, differenceInterval, ratioInterval, type Unit } from "../format";
import { type Words, useWords } from "../words";
import {
  clean,
  drawable,
  extent,
  logAxis,
  positive,
  roomFor,
  rowsHeight,
  rowsOf,
  SMALL,
  TEXT,
  tip,
  tooltip,
} from "./base";
import { Chart } from "./chart";
import type { Comparison, Verdict } from "./data";
import type { ChartOption, CustomSeriesOption } from "./echarts";
import type { Look } from "./look";

export interface ForestData {
  comparisons: Comparison[];
  /** Half-width of the equivalence margin as a ratio. */
  margin: number;
}

/** A heading (a pair) or a comparison below it. */
export type ForestRow = { head: string } | { of: Comparison };

/** The pairs in their order, each with its metrics; a comparison without any number has no place here. */
export function forestRows(comparisons: Comparison[]): ForestRow[] {
  const pairs = new Map<string, Comparison[]>();
  for (const one of comparisons) {
    if (!positive(one.ratio) && !one.difference_interval) continue;
    const key = JSON.stringify([one.a, one.b]);
    pairs.set(key, [...(pairs.get(key) ?? []), one]);
  }
  return [...pairs.values()].flatMap((ofPair) => {
    const [first] = ofPair;
    if (!first) return [];
    const load = first.load ? `, ${first.load}` : "";
    return [
      { head: `${first.a_target} ÷ ${first.b_target}${load}` },
      ...ofPair.map((of): ForestRow => ({ of })),
    ];
  });
}

const SIGNS: Record<Verdict, string> = {
  faster: "▲",
  slower: "▼",
  equivalent: "=",
  inconclusive: "?",
  refused: "–",
};

/** Metrics of which one says better and worse. */
const NOT_SPEED = new Set(["error_rate", "cpu_per_request", "memory", "alloc_per_request"]);

export function verdictWord(of: Pick<Comparison, "verdict" | "metric">, words: Words): string {
  if (of.verdict === "faster" && NOT_SPEED.has(of.metric)) return words.charts.better;
  if (of.verdict === "slower" && NOT_SPEED.has(of.metric)) return words.charts.worse;
  return words.verdicts[of.verdict];
}

const UNITS: Partial<Record<Comparison["metric"], Unit>> = {
  throughput: "per_second",
  error_rate: "share",
  memory: "bytes",
  alloc_per_request: "bytes",
};

const unitOf = (metric: Comparison["metric"]): Unit => UNITS[metric] ?? "nanoseconds";

/** The numbers of a row: the change, and its interval. */
function numbers(of: Comparison): [string, string] {
  if (of.basis === "difference" || of.ratio == null) {
    const ends = of.difference_interval;
    return ["", ends ? differenceInterval(unitOf(of.metric), ends) : ""];
  }
  return of.interval ? changes(of.ratio, of.interval) : [change(of.ratio), ""];
}

function verdictColour(verdict: Verdict, look: Look): string {
  if (verdict === "faster") return look.good;
  if (verdict === "slower") return look.bad;
  return verdict === "equivalent" ? look.ink : look.faint;
}

/** Ticks at round changes; at 1, 2 and 5 times powers of ten where the ratios lie far apart. */
export function ratioTicks([low, high]: [number, number], max: number): number[] {
  if (high / low < 4) {
    for (const step of [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5]) {
      const first = Math.ceil((low - 1) / step);
      const last = Math.floor((high - 1) / step);
      if (last - first + 1 > max) continue;
      return Array.from({ length: last - first + 1 }, (_, at) =>
        Number((1 + (first + at) * step).toFixed(4)),
      );
    }
  }
  const ticks: number[] = [];
  const steps = high / low < 60 ? [1, 2, 5] : [1];
  for (let power = -6; power <= 6; power++) for (const step of steps) ticks.push(Number(`${step}e${power}`));
  return ticks.filter((tick) => tick >= low && tick <= high);
}

/** A ratio on an axis: as the change it means, or as a factor where it is one. */
export function tickText(ratio: number): string {
  if (ratio >= 2 || ratio <= 0.3) return `×${ratio}`;
  return ratio > 1 ? `+${chosenPercent(ratio - 1)}` : chosenPercent(ratio - 1);
}

/** The axis holds all ends and some of both sides of equality; what is beyond a factor of 100 is cut. */
function rangeOf(rows: ForestRow[], margin: number): [number, number] {
  const all = rows.flatMap((row) =>
    "of" in row ? [row.of.ratio, row.of.interval?.low, row.of.interval?.high] : [],
  );
  const room = 1 + Math.max(2.2 * margin, 0.004);
  const [low, high] = extent([...all.filter(positive), room, 1 / room]) ?? [0.9, 1.1];
  const pad = Math.pow(high / low, 0.05);
  return [Math.max(low / pad, 0.01), Math.min(high * pad, 100)];
}

type Render = NonNullable<CustomSeriesOption["renderItem"]>;

/** Interval and mark of one row. */
function drawRow(rows: ForestRow[], range: [number, number], look: Look, shift: number): Render {
  return (params, api) => {
    const row = rows[Number(api.value(1))];
    if (params.dataIndex < 0 || !row || !("of" in row)) return null;
    const { verdict, interval, ratio } = row.of;
    const colour = verdictColour(verdict, look);
    const at = (value: number) => api.coord([Math.min(range[1], Math.max(range[0], value)), api.value(1)]);
    const y = (at(1)[1] ?? 0) + shift;
    const line = (x1: number, x2: number, y1 = y, y2 = y) => ({
      type: "line" as const,
      shape: { x1, y1, x2, y2 },
      style: { stroke: colour, lineWidth: 2 },
    });
    const parts: unknown[] = [];
    if (interval) {
      const from = at(interval.low ?? range[0])[0] ?? 0;
      const to = at(interval.high ?? range[1])[0] ?? 0;
      parts.push(line(from, to));
      if (interval.low != null) parts.push(line(from, from, y - 4, y + 4));
      if (interval.high != null) parts.push(line(to, to, y - 4, y + 4));
    }
    if (drawable(ratio)) parts.push(markAt(verdict, at(ratio)[0] ?? 0, y, colour, look));
    return { type: "group", children: parts } as ReturnType<Render>;
  };
}

/** The ground of a heading, which may be longer than the room beside the plot: no line and no band under it. */
function drawHead(look: Look, height: number): Render {
  return (params, api) => {
    const [, y = 0] = api.coord([1, api.value(0)]);
    const { x, width } = params.coordSys as unknown as { x: number; width: number };
    return { type: "rect", shape: { x, y: y - height / 2, width, height }, style: { fill: look.ground } };
  };
}

/** Up and down are certain and have a winner, a diamond is certain and has none, a ring is open. */
function markAt(verdict: Verdict, x: number, y: number, colour: string, look: Look) {
  const points: Partial<Record<Verdict, number[][]>> = {
    faster: [
      [x, y - 7],
      [x + 7, y + 5],
      [x - 7, y + 5],
    ],
    slower: [
      [x, y + 7],
      [x + 7, y - 5],
      [x - 7, y - 5],
    ],
    equivalent: [
      [x, y - 6.5],
      [x + 6.5, y],
      [x, y + 6.5],
      [x - 6.5, y],
    ],
  };
  const shape = points[verdict];
  if (shape) {
    const style = { fill: colour, stroke: look.ground, lineWidth: 1 };
    return { type: "polygon", shape: { points: shape }, style };
  }
  return {
    type: "circle",
    shape: { cx: x, cy: y, r: 5 },
    style: { fill: look.ground, stroke: colour, lineWidth: 2 },
  };
}

/** Change, interval and verdict to the right of each row: a column each, numbers under numbers. */
function numbersAxes(rows: ForestRow[], look: Look, words: Words) {
  const small = isSmall(look);
  const column = (
    align: "left" | "right",
    margin: number,
    show: (of: Comparison) => string,
    style: object,
  ) => ({
    ...rowsOf(look, []).yAxis,
    data: rows.map((_, index) => String(index)),
    position: "right" as const,
    axisLabel: {
      interval: 0,
      align,
      margin,
      fontSize: TEXT,
      formatter: (at: string) => {
        const row = rows[Number(at)];
        return row && "of" in row ? show(row.of) : "";
      },
      ...style,
    },
  });
  const verdict = (of: Comparison) => `{${of.verdict}|${SIGNS[of.verdict]} ${verdictWord(of, words)}}`;
  const rich = Object.fromEntries(
    (Object.keys(SIGNS) as Verdict[]).map((verdict) => [
      verdict,
      { color: verdictColour(verdict, look), fontSize: TEXT },
    ]),
  );
  return [
    column("right", 74, (of) => numbers(of)[0], { color: look.ink }),
    ...(small ? [] : [column("right", 204, (of) => numbers(of)[1], { color: look.faint, fontSize: SMALL })]),
    column("left", small ? 90 : 222, verdict, { rich }),
  ];
}

/** Whether there is no room for the intervals in numbers. */
const isSmall = (look: Look) => look.width < 640;

export function forestOption({ comparisons, margin }: ForestData, look: Look, words: Words): ChartOption {
  const rows = forestRows(comparisons);
  const range = rangeOf(rows, margin);
  const names = rows.map((row) => {
    if ("head" in row) return { text: row.head, head: true };
    const [change] = numbers(row.of);
    const more = `  ${change}  ${SIGNS[row.of.verdict]} ${verdictWord(row.of, words)}`;
    return { text: words.metrics[row.of.metric] + (look.narrow ? more : "") };
  });
  const right = isSmall(look) ? 190 : 330;
  const { grid, yAxis, shift, row } = rowsOf(look, names, { right, row: 28 });
  const ticks = ratioTicks(range, roomFor(look.width - Number(grid.left) - Number(grid.right), 62));
  const axis = logAxis(look, true, range, ticks);
  return {
    grid,
    xAxis: {
      ...axis,
      name: words.charts.forestAxis,
      nameLocation: "middle",
      nameGap: 26,
      axisLabel: { ...axis.axisLabel, formatter: (ratio: number) => tickText(ratio) },
    } as ChartOption["xAxis"],
    yAxis: look.narrow ? yAxis : ([yAxis, ...numbersAxes(rows, look, words)] as ChartOption["yAxis"]),
    tooltip: tooltip(look, "item", ([hovered]) => {
      const found = hovered && rows.filter((row) => "of" in row)[hovered.dataIndex];
      return found && "of" in found ? forestTip(found.of, words) : "";
    }),
    series: [
      {
        type: "custom",
        name: words.charts.ratio,
        renderItem: drawRow(rows, range, look, shift),
        encode: { x: 0, y: 1 },
        data: rows.flatMap((row, index) =>
          "of" in row
            ? [[row.of.ratio ?? null, index, row.of.interval?.low ?? null, row.of.interval?.high ?? null]]
            : [],
        ),
        clip: false,
        z: 3,
        // Under the names of rows.
        markArea: {
          silent: true,
          z: 1,
          itemStyle: { color: look.quiet, opacity: 0.13 },
          label: { show: false },
          data: [[{ xAxis: Math.max(range[0], 1 - margin) }, { xAxis: Math.min(range[1], 1 + margin) }]],
        },
        markLine: {
          silent: true,
          z: 1,
          symbol: "none",
          label: { show: false },
          lineStyle: { color: look.soft, type: "solid", width: 1 },
          data: [{ xAxis: 1 }],
        },
      },
      {
        type: "custom",
        name: "",
        silent: true,
        renderItem: drawHead(look, row),
        encode: { y: 0 },
        data: rows.flatMap((row, index) => ("head" in row ? [[index]] : [])),
        tooltip: { show: false },
        z: 2,
      },
    ] as ChartOption["series"],
  };
}

function forestTip(of: Comparison, words: Words): HTMLElement {
  const t = words.charts;
  const [shown, interval] = numbers(of);
  const rows = [
    { name: t.change, value: shown || interval },
    ...(of.ratio != null && of.interval
      ? [
          { name: t.interval, value: interval },
          { name: t.ratio, value: ratioInterval(of.interval) },
        ]
      : []),
    { name: t.verdict, value: `${SIGNS[of.verdict]} ${verdictWord(of, words)}` },
    { name: t.blocks, value: String(of.blocks) },
  ];
  const title = `${words.metrics[of.metric]}: ${clean(of.a_target)} ÷ ${clean(of.b_target)}`;
  return tip(title, rows, of.refused ? clean(of.refused.text, 300) : undefined);
}

/** The chart in words. */
export function forestAlt(comparisons: Comparison[], words: Words): string {
  const drawn = forestRows(comparisons).flatMap((row) => ("of" in row ? [row.of] : []));
  const told = drawn.map((of) => {
    const [shown, interval] = numbers(of);
    const who = `${of.a_target} ÷ ${of.b_target}${of.load ? `, ${of.load}` : ""}`;
    const text = [shown, interval && `(${interval})`, verdictWord(of, words)].filter(Boolean).join(" ");
    return clean(`${who}, ${words.metrics[of.metric]}: ${text}`, 200);
  });
  return `${words.charts.forest}. ${told.join("; ")}`;
}

export function ForestChart({ comparisons, margin }: ForestData) {
  const words = useWords();
  const label = useMemo(() => forestAlt(comparisons, words), [comparisons, words]);
  const make = useCallback(
    (look: Look) => forestOption({ comparisons, margin }, look, words),
    [comparisons, margin, words],
  );
  const height = (look: Look) => rowsHeight(look, forestRows(comparisons).length, 28);
  if (forestRows(comparisons).length === 0) return null;
  return <Chart name="forest" label={label} height={height} make={make} />;
}
