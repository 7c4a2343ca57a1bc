/**
 * Panels over time: one axis that tells the time since the origin, with a zoom; and how such panels show values.
 *
 * Absent on purpose: what the panels mean.
 */
import { axisBytes, axisDuration, axisNumber, bytes, duration, plain, rate } from "../format";
import { clock } from "./base";
import type { ChartOption } from "./echarts";
import type { Look } from "./look";
import { type Panel, type PanelsOptions, panelsOption } from "./panels";

/** How values look in a tooltip and on the axis. */
export type Shown = Pick<Panel, "show" | "showAxis" | "bytes" | "whole">;

export const TIME: Shown = { show: duration, showAxis: axisDuration };
export const RATE: Shown = { show: rate, showAxis: axisNumber };
export const SIZE: Shown = { show: bytes, showAxis: axisBytes, bytes: true };
export const NUMBER: Shown = { show: plain, showAxis: axisNumber };
/** What comes in ones, such as threads. */
export const COUNT: Shown = { ...NUMBER, whole: true };

interface OverTime extends Pick<PanelsOptions, "left" | "right"> {
  range: [number, number];
  /** Stands before the time in the tooltip, where a point is the end of an interval. */
  until?: string;
}

export function panelsOverTime(
  panels: Panel[],
  { range, until, ...room }: OverTime,
  look: Look,
): ChartOption {
  const show = (ns: number) => clock(ns, range[1] - range[0]);
  const tell = (ns: number) => (until ? `${until} ${show(ns)}` : show(ns));
  return panelsOption(panels, { axis: { range, show, tell, time: true }, zoom: true, ...room }, look);
}
