/**
 * Memory, garbage collection and p99 of one trial: a panel each, over one time axis.
 *
 * Invariants: time begins with the first value, which stands at the end of its interval; the values of every panel
 * begin at 0; what the target does not tell has no panel.
 */
import { useCallback, useMemo } from "preact/hooks";
import { type Words, useWords } from "../words";
import { extent } from "./base";
import { Chart } from "./chart";
import type { MemoryKind, MemoryView } from "./data";
import type { ChartOption } from "./echarts";
import type { Look } from "./look";
import { NUMBER, SIZE, type Shown, TIME, panelsOverTime } from "./over_time";
import { type Panel, panelsHeight } from "./panels";

function showOf(kind: MemoryKind): Shown {
  switch (kind) {
    case "resident":
    case "heap":
    case "alloc_rate":
      return SIZE;
    case "collections":
      return NUMBER;
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
      const name = words.charts.memory[series.kind];
      return {
        title: name,
        ...showOf(series.kind),
        height: 84,
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
  const panels = panelsOf(view, words);
  const places = panels.flatMap(({ lines }) =>
    lines.flatMap(({ points }) => points.flatMap(([end, value]) => (value === null ? [] : [end]))),
  );
  const [begin, end] = extent(places) ?? [view.begin_ns, view.begin_ns];
  const range: [number, number] = [begin, Math.max(begin + 1, end)];
  return panelsOverTime(panels, { range, until: words.charts.until, left: 72 }, look);
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
