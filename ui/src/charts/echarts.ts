/**
 * The parts of Apache ECharts that the charts use, and no others: what is not listed here is not in the page.
 *
 * Invariant: this is the only file that imports ECharts for its code; all others import types or this file.
 * Absent on purpose: legends and titles (charts are labelled where they are, or by HTML above them), the toolbox,
 * animation, and the aria component (each chart has its own description).
 */
import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import type { CustomSeriesOption, LineSeriesOption, ScatterSeriesOption } from "echarts/charts";
import {
  DataZoomInsideComponent,
  GridComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import type {
  DataZoomComponentOption,
  GridComponentOption,
  TooltipComponentOption,
} from "echarts/components";
import { type ComposeOption, init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";

use([
  CanvasRenderer,
  CustomChart,
  DataZoomInsideComponent,
  GridComponent,
  LabelLayout,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  SVGRenderer,
  ScatterChart,
  TooltipComponent,
]);

export { init };
export type { ECharts } from "echarts/core";

/** Options of these parts only. */
export type ChartOption = ComposeOption<
  | CustomSeriesOption
  | DataZoomComponentOption
  | GridComponentOption
  | LineSeriesOption
  | ScatterSeriesOption
  | TooltipComponentOption
>;

type One<T> = T extends (infer U)[] ? U : T;
export type Series = One<NonNullable<ChartOption["series"]>>;
export type XAxis = One<NonNullable<ChartOption["xAxis"]>>;
export type YAxis = One<NonNullable<ChartOption["yAxis"]>>;
export type Grid = One<NonNullable<ChartOption["grid"]>>;
export type Tooltip = One<NonNullable<ChartOption["tooltip"]>>;
export type { CustomSeriesOption, LineSeriesOption, ScatterSeriesOption };
