/**
 * Memory, garbage collection and p99 of one trial: a panel each, over one time axis.
 *
 * Invariants: time runs from the begin of the first sample; every panel begins at 0; what the target does not tell
 * has no panel.
 */
import { useCallback, useMemo } from "preact/hooks";
import { axis, axisDuration, axisValue, bytes, duration, plain, setting } from "../format";
import { type Words, useWords } from "../words";
import { clock, extent } from "./base";
import { Chart } from "./chart";
import type { MemoryKind, MemoryView } from "./data";
import type { ChartOption } from "./echarts";
import type { Look } from "./look";
import { type Panel, panelsHeight, panelsOption } from "./panels";

interface Show {
  full: (n: number) => string;
  short: (n: number) => string;
}

const SIZE: Show = { full: bytes, short: (n) => axisValue("bytes", n) };
const TIME: Show = { full: duration, short: axisDuration };

function showOf(kind: MemoryKind): Show {
  switch (kind) {
    case "resident":
    case "heap":
    case "alloc_rate":
      return SIZE;
    case "collections":
      return { full: plain, short: axis };
    case "pauses":
    case "p99":
      return TIME;
  }
}

/** One colour for memory, one for the collector, one for what users see. */
const INDEX: Record<MemoryKind, number> = {
  resident: 0,
  heap: 0,
  alloc_rate: 2,
  collections: 3,
  pauses: 3,
  p99: 1,
};

function panelsOf(view: MemoryView, words: Words): Panel[] {
  return view.series
    .filter((series) => series.values.some((value) => value !== null))
    .map((series) => {
      const { full, short } = showOf(series.kind);
      const name = words.charts.memory[series.kind];
      return {
        title: name,
        show: full,
        showAxis: short,
        height: 84,
        bytes: showOf(series.kind) === SIZE,
        lines: [
          {
            name,
            index: INDEX[series.kind],
            dash: "solid" as const,
            signs: false,
            area: series.kind === "resident" || series.kind === "heap",
            points: view.ends_ns.map(
              (end, at) => [end, series.values[at] ?? null] as [number, number | null],
            ),
          },
        ],
      };
    });
}

export function memoryOption(view: MemoryView, look: Look, words: Words): ChartOption {
  const range: [number, number] = [view.begin_ns, Math.max(view.begin_ns + 1, ...view.ends_ns)];
  const show = (ns: number) => clock(ns, range[1] - range[0], setting);
  return panelsOption(
    panelsOf(view, words),
    {
      axis: { range, show, time: true, tell: (ns) => `${words.charts.until} ${show(ns)}` },
      zoom: true,
      left: 72,
    },
    look,
  );
}

export function memoryAlt(view: MemoryView, words: Words): string {
  const told = panelsOf(view, words).flatMap((panel) => {
    const range = extent(panel.lines.flatMap((line) => line.points.map(([, value]) => value)));
    return range ? [words.charts.fromTo(panel.title, panel.show(range[0]), panel.show(range[1]))] : [];
  });
  return `${words.charts.memoryView(view.trial)}. ${told.join("; ")}`;
}

export function MemoryChart({ view }: { view: MemoryView }) {
  const words = useWords();
  const label = useMemo(() => memoryAlt(view, words), [view, words]);
  const make = useCallback((look: Look) => memoryOption(view, look, words), [view, words]);
  const panels = panelsOf(view, words);
  if (panels.length === 0 || view.ends_ns.length < 2) return null;
  return <Chart name="memory" label={label} height={() => panelsHeight(panels)} make={make} />;
}
