/**
 * One trial over time: throughput, p50 and p99, failures, and under them any counters on the same axis.
 *
 * Invariants: warm-up and drain have another ground, events are lines, a void trial is drawn in grey and says so; all
 * panels share cursor and zoom (Ctrl and wheel, or drag); a gap is a time without answers, or without a reading.
 */
import { useCallback, useMemo } from "preact/hooks";
import {
  axisBytes,
  axisDuration,
  axisNumber,
  axisValue,
  bytes,
  count,
  duration,
  percent,
  plain,
  rate,
  setting,
} from "../format";
import { type Words, useWords } from "../words";
import { isCpuTime } from "../words/counters";
import { clean, extent, positive } from "./base";
import { Chart } from "./chart";
import type { Counter, Detail, Trial } from "./data";
import type { ChartOption } from "./echarts";
import type { Look } from "./look";
import { RATE, TIME, panelsOverTime } from "./over_time";
import { type Panel, type Point, panelsHeight } from "./panels";
import { eventPlaces, phaseBands, timeRange } from "./phases";
import { english } from "../words/said/text";

export interface TimelineData {
  trial: Trial;
  /** Counters and events, where the page has them. */
  detail?: Detail | undefined;
  /** Which counters to show, by `counterKey`. */
  counters?: string[];
}

/** How a counter is identified: `target.process/cpu_ns`. */
export const counterKey = (counter: Pick<Counter, "source" | "name">): string =>
  `${counter.source}/${counter.name}`;

/** What people call a counter, and programs where that is not the same. */
export function counterTitle(counter: Pick<Counter, "source" | "name">, words: Words) {
  const key = counterKey(counter);
  const name = words.charts.counter(key);
  return name === undefined ? { name: key } : { name, key };
}

/** How a value of a counter is shown, by its unit; a rate is per second, of CPU time it is a number of CPUs. */
export function counterFormat(
  counter: Pick<Counter, "source" | "name" | "kind" | "unit">,
  words: Words,
  short = false,
): (n: number, end?: number) => string {
  if (counter.kind === "delta" && counter.unit === "ns" && isCpuTime(counterKey(counter))) {
    const { cpus } = words.charts;
    return (n, end = n) => cpus(short ? axisNumber(n / 1e9, end / 1e9) : plain(n / 1e9));
  }
  const per = counter.kind === "delta" ? "/s" : "";
  const factor = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 } as const;
  switch (counter.unit) {
    case "bytes":
      return (n, end) => (short ? axisBytes(n, end) : bytes(n)) + per;
    case "bytes_per_s":
      return (n, end) => `${short ? axisBytes(n, end) : bytes(n)}/s${per}`;
    case "share":
      return (n) => (short ? axisValue("share", n) : percent(n)) + per;
    case "percent":
      return (n) => `${plain(n)} %${per}`;
    case "ns":
    case "us":
    case "ms":
    case "s": {
      const ns = factor[counter.unit];
      return (n, end = n) => (short ? axisDuration(n * ns, end * ns) : duration(n * ns)) + per;
    }
    default:
      return (n, end) => (short ? axisNumber(n, end) : plain(n)) + per;
  }
}

const CALM = 108;

function loadPanels(trial: Trial, look: Look, words: Words): Panel[] {
  const t = words.charts;
  const isValid = trial.outcome === "valid";
  const color = isValid ? {} : { color: look.faint };
  const points = (value: (point: Trial["series"][number]) => number | null | undefined): Point[] =>
    // The drain has no load: what it shows is no throughput.
    trial.series
      .filter((point) => point.phase !== "drain")
      .map((point) => [point.t_ns, value(point) ?? null]);
  const p50 = points((point) => point.p50_ns);
  const p99 = points((point) => point.p99_ns);
  const range = extent([...p50, ...p99].map(([, ns]) => ns));
  const failed = points((point) => point.failed);
  const panels: Panel[] = [
    {
      // A void trial is grey, and called so.
      title: t.throughputPanel + (isValid ? "" : ` – ${t.outcomes[trial.outcome]}`),
      ...RATE,
      height: CALM,
      lines: [
        {
          name: words.metrics.throughput,
          index: 0,
          points: points((p) => p.throughput_per_s),
          ...color,
          area: true,
          dash: "solid",
        },
      ],
    },
  ];
  // Intervals with too few answers have no percentiles.
  if (range) {
    panels.push({
      // Without room for names at the ends of lines their signs tell them apart.
      title: look.narrow
        ? `${t.latencyPanel} (● ${words.metrics.p50}, ■ ${words.metrics.p99})`
        : t.latencyPanel,
      ...TIME,
      height: CALM + 30,
      // Where the tail lies far above the middle, only a logarithmic axis shows both.
      log: positive(range[0]) && range[1] / range[0] > 6,
      lines: [
        { name: words.metrics.p50, index: 0, points: p50, label: true, ...color },
        { name: words.metrics.p99, index: 1, points: p99, label: true, ...color },
      ],
    });
  }
  if (failed.some(([, n]) => (n ?? 0) > 0)) {
    panels.push({
      title: t.failedPanel,
      show: count,
      showAxis: axisNumber,
      height: 64,
      lines: [
        { name: t.failed, index: 1, points: failed, color: look.bad, dash: "solid", step: true, area: true },
      ],
    });
  }
  return panels;
}

function counterPanel(counter: Counter, ends: number[], words: Words): Panel {
  const flat = counter.kind === "gauge";
  const { name, key } = counterTitle(counter, words);
  return {
    title: clean(name),
    ...(key === undefined ? {} : { key }),
    show: counterFormat(counter, words),
    showAxis: counterFormat(counter, words, true),
    height: 80,
    bytes: counter.unit === "bytes" || counter.unit === "bytes_per_s",
    zero: !flat,
    lines: [
      {
        name,
        index: 2,
        dash: "solid",
        signs: false,
        points: ends.map((end, at) => [end, counter.values[at] ?? null]),
      },
    ],
  };
}

/** The panels from top to bottom. */
export function timelinePanels(
  { trial, detail, counters = [] }: TimelineData,
  look: Look,
  words: Words,
): Panel[] {
  const chosen = counters.flatMap((key) => detail?.counters.filter((one) => counterKey(one) === key) ?? []);
  const panels = [
    ...loadPanels(trial, look, words),
    ...chosen.map((one) => counterPanel(one, detail?.t_ns ?? [], words)),
  ];
  const bands = phaseBands(trial, look, words);
  const places = eventPlaces(detail, look);
  // Events are named once, above all panels.
  const unnamed = places.map((place) => ({ ...place, name: "" }));
  return panels.map((panel, at) => ({ ...panel, bands, places: at === 0 ? places : unnamed }));
}

export function timelineOption(data: TimelineData, look: Look, words: Words): ChartOption {
  const ends = [...data.trial.series.map((point) => point.t_ns), ...(data.detail?.t_ns ?? [])];
  const range = timeRange(ends);
  return panelsOverTime(
    timelinePanels(data, look, words),
    { range, until: words.charts.until, left: 72, right: 52 },
    look,
  );
}

export function timelineAlt({ trial, detail }: TimelineData, words: Words): string {
  const t = words.charts;
  const range = (name: string, values: (number | null | undefined)[], show: (n: number) => string) => {
    const found = extent(values);
    return found ? [t.fromTo(name, show(found[0]), show(found[1]))] : [];
  };
  const told = [
    ...range(
      words.metrics.throughput,
      trial.series.map((p) => p.throughput_per_s),
      rate,
    ),
    ...range(
      words.metrics.p50,
      trial.series.map((p) => p.p50_ns),
      duration,
    ),
    ...range(
      words.metrics.p99,
      trial.series.map((p) => p.p99_ns),
      duration,
    ),
    ...(detail?.events ?? []).map((event) => `${clean(event.name)}: ${setting(event.t_ns)}`),
    ...(trial.outcome === "valid"
      ? []
      : [`${t.outcomes[trial.outcome]}: ${clean(trial.reasons.map(english).join("; "), 300)}`]),
  ];
  return `${t.timeline(trial.id)}. ${told.join("; ")}`;
}

export function TimelineChart({ trial, detail, counters }: TimelineData) {
  const words = useWords();
  const label = useMemo(() => timelineAlt({ trial, detail }, words), [trial, detail, words]);
  const data = useMemo(() => ({ trial, detail, counters: counters ?? [] }), [trial, detail, counters]);
  const make = useCallback((look: Look) => timelineOption(data, look, words), [data, words]);
  if (trial.series.length < 2) return null;
  return (
    <Chart
      name="timeline"
      label={label}
      height={(look) => panelsHeight(timelinePanels(data, look, words))}
      make={make}
    />
  );
}
