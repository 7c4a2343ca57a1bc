/**
 * The phases of a trial and what happened on purpose, as bands and places of a time axis.
 *
 * Invariant: what was cut off as warm-up and what came in the drain has another ground than what was measured.
 */
import type { Words } from "../words";
import type { Detail, Trial } from "./data";
import type { Look } from "./look";
import type { Band, Place } from "./panels";

/** Warm-up and drain. */
export function phaseBands(trial: Pick<Trial, "series">, look: Look, words: Words): Band[] {
  const ends = (phase: "warmup" | "sample" | "drain") =>
    trial.series.filter((point) => point.phase === phase).map((point) => point.t_ns);
  const bands: Band[] = [];
  const warm = ends("warmup");
  const sample = ends("sample");
  const drain = ends("drain");
  const warmEnd = Math.max(0, ...warm);
  if (warm.length) bands.push({ from: 0, to: warmEnd, name: words.charts.warmup, color: look.warmup });
  if (drain.length) {
    const from = Math.max(warmEnd, ...sample);
    bands.push({ from, to: Math.max(...drain), name: words.charts.drain, color: look.drain });
  }
  return bands;
}

/** What happened on purpose. */
export function eventPlaces(detail: Pick<Detail, "events"> | undefined, look: Look): Place[] {
  return (detail?.events ?? []).map((event) => ({ at: event.t_ns, name: event.name, color: look.event }));
}

/** From the origin to the end of the last interval. */
export function timeRange(ends: number[]): [number, number] {
  return [0, Math.max(1, ...ends)];
}
