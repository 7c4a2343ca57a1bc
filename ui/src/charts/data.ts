/** The parts of the page file that charts take, by the generated types, and what cells are called. */
import type { PageFile } from "../schema/page";

export type Analysis = PageFile["analysis"];
export type Cell = Analysis["cells"][number];
export type Trial = Analysis["trials"][number];
export type Comparison = Analysis["comparisons"][number];
export type Metric = Comparison["metric"];
export type Verdict = Comparison["verdict"];
export type MetricSummary = Cell["metrics"][number];
export type MemoryView = NonNullable<Cell["memory_view"]>;
export type MemoryKind = MemoryView["series"][number]["kind"];
export type Capacity = NonNullable<Analysis["capacity"]>[number];
export type Shift = NonNullable<Analysis["shifts"]>[number];
export type Layers = NonNullable<Analysis["layers"]>[number];
export type LayerMetric = Layers["metrics"][number];
export type TimePart = NonNullable<Cell["parts"]>[number];
export type Soak = NonNullable<Analysis["soak"]>;
export type SoakTrend = Soak["trends"][number];
export type CellPlan = PageFile["run"]["plan"]["cells"][number];
export type Detail = PageFile["details"][number];
export type Heat = NonNullable<Detail["heat"]>;
export type RequestCurve = NonNullable<Detail["by_request"]>[number];
export type Outlier = NonNullable<Analysis["outliers"]>[number];
export type Counter = Detail["counters"][number];
export type Profile = PageFile["profiles"][number];

/** What tells the cells of one target apart. */
export const withinTarget = ({ label, target, load }: Pick<Cell, "label" | "target" | "load">): string =>
  label.startsWith(`${target}, `) ? label.slice(target.length + 2) : load || label;

/** A frame of a flame graph with what it called. The generated type of the tree is the same at each depth. */
export interface Frame {
  name: string;
  value: number;
  children?: Frame[];
}
