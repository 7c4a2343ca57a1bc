/**
 * Response times of each request (endpoint) of a scenario over one trial: a line a request, of p50 or p99.
 *
 * Invariants: lines differ by colour and dash together, for as many requests as a file holds (16); warm-up has another
 * ground, the drain, which has no load, is left out; a gap is a time without answers of that request.
 */
import { useCallback, useMemo, useState } from "preact/hooks";
import { duration } from "../format";
import { Choose } from "../ui/parts";
import { type Words, useWords } from "../words";
import { clean, extent, positive } from "./base";
import { Chart } from "./chart";
import type { Detail, RequestCurve, Trial } from "./data";
import type { ChartOption } from "./echarts";
import { Key } from "./key";
import type { Look } from "./look";
import { TIME, panelsOverTime } from "./over_time";
import { type Panel, panelsHeight } from "./panels";
import { eventPlaces, phaseBands, timeRange } from "./phases";

/** Which percentile is drawn. */
export type Percentile = "p50" | "p99";
const PERCENTILES: Percentile[] = ["p50", "p99"];

export interface EndpointsData {
  /** Its phases. */
  trial: Pick<Trial, "id" | "series">;
  /** Ends of the intervals that the curves have values for. */
  t_ns: number[];
  requests: RequestCurve[];
  /** What happened on purpose. */
  events?: Pick<Detail, "events"> | undefined;
  percentile: Percentile;
}

const HEIGHT = 168;

/** What a request is called; all without a line of their own have no name. */
const nameOf = (request: RequestCurve, words: Words): string => request.name ?? words.charts.otherRequests;

/** Where the drain begins. */
const drainOf = ({ series }: Pick<Trial, "series">): number =>
  Math.max(...series.filter(({ phase }) => phase !== "drain").map(({ t_ns }) => t_ns));

function panelOf(data: EndpointsData, look: Look, words: Words): Panel {
  const { trial, t_ns, requests, percentile } = data;
  const end = drainOf(trial);
  const lines = requests.map((request, index) => ({
    name: nameOf(request, words),
    index,
    points: t_ns.flatMap((at, place): [number, number | null][] =>
      at > end ? [] : [[at, request[`${percentile}_ns`][place] ?? null]],
    ),
  }));
  const range = extent(lines.flatMap(({ points }) => points.map(([, ns]) => ns)));
  return {
    title: words.charts.latencyOf(words.metrics[percentile]),
    ...TIME,
    height: HEIGHT,
    // Requests of one scenario may differ by powers of ten.
    log: range !== undefined && positive(range[0]) && range[1] / range[0] > 6,
    lines,
    bands: phaseBands({ series: trial.series.filter(({ phase }) => phase !== "drain") }, look, words),
    places: eventPlaces(data.events, look),
  };
}

export function endpointsOption(data: EndpointsData, look: Look, words: Words): ChartOption {
  const panel = panelOf(data, look, words);
  const range = timeRange(data.t_ns.filter((at) => at <= drainOf(data.trial)));
  return panelsOverTime([panel], { range, until: words.charts.until, left: 72, right: 52 }, look);
}

export function endpointsAlt({ trial, requests, percentile }: EndpointsData, words: Words): string {
  const ranges = requests.flatMap((request) => {
    const range = extent(request[`${percentile}_ns`]);
    const name = clean(nameOf(request, words));
    return range ? [words.charts.fromTo(name, duration(range[0]), duration(range[1]))] : [];
  });
  return `${words.charts.endpoints(trial.id)}, ${words.metrics[percentile]}. ${ranges.join("; ")}`;
}

/** Whether there is something to draw: a scenario of one request has the same in the trial's own chart. */
export const hasEndpoints = (t_ns: number[], requests: RequestCurve[] | undefined): boolean =>
  (requests?.length ?? 0) > 1 && t_ns.length > 1;

export function EndpointsChart({ trial, t_ns, requests, events }: Omit<EndpointsData, "percentile">) {
  const words = useWords();
  const [at, choose] = useState(1);
  const percentile = PERCENTILES[at] ?? "p99";
  const data = useMemo(
    () => ({ trial, t_ns, requests, events, percentile }),
    [trial, t_ns, requests, events, percentile],
  );
  const label = useMemo(() => endpointsAlt(data, words), [data, words]);
  const make = useCallback((look: Look) => endpointsOption(data, look, words), [data, words]);
  if (!hasEndpoints(t_ns, requests) || trial.series.length < 2) return null;
  return (
    <>
      <Choose
        label={words.charts.percentile}
        value={at}
        choose={choose}
        options={PERCENTILES.map((one) => words.metrics[one])}
      />
      <Key items={requests.map((request, index) => ({ name: nameOf(request, words), index }))} always />
      <Chart
        name="endpoints"
        label={label}
        height={(look) => panelsHeight([panelOf(data, look, words)])}
        make={make}
      />
    </>
  );
}
