/**
 * A run in progress as the server tells it: one beginning, then what is new.
 *
 * Invariants: pure but for the hook at the end; a new beginning replaces all that was there; what is kept of the past
 * is bounded. Absent on purpose: arithmetic; every number is the server's.
 */
import { useEffect, useState } from "preact/hooks";
import type {
  Finding,
  FleetSummary,
  LiveCounter,
  LiveHello,
  LiveInterval,
  LivePlanned,
  LiveTrial,
  Progress,
} from "../schema/lab-hello";
import type { LiveEnd } from "../schema/lab-end";
import { cleanAll } from "../ui/clean";
import { type Fault, api, faultOf, get } from "./api";

/** As many as the server gives one who comes late. */
const INTERVALS_MAX = 900;
/** Values of a counter's small line. */
const VALUES_MAX = 90;

export interface Live {
  hello: LiveHello;
  /** Values of each counter, oldest first, by source and name. */
  values: Map<string, number[]>;
  hasEnded: boolean;
}

export type Told =
  | { name: "hello"; data: LiveHello }
  | { name: "plan"; data: LivePlanned[] }
  | { name: "interval"; data: LiveInterval }
  | { name: "trial"; data: LiveTrial }
  | { name: "finding"; data: Finding }
  | { name: "fleet"; data: FleetSummary }
  | { name: "progress"; data: Progress }
  | { name: "end"; data: LiveEnd };

export const EVENTS: Told["name"][] = [
  "hello",
  "plan",
  "interval",
  "trial",
  "finding",
  "fleet",
  "progress",
  "end",
];

export const counterOf = ({ source, name }: Pick<LiveCounter, "source" | "name">): string =>
  `${source}/${name}`;

/** What is known after one more event; nothing before the first beginning. */
export function after(live: Live | undefined, told: Told): Live | undefined {
  if (told.name === "hello") {
    return { hello: told.data, values: grown(new Map(), told.data.progress, undefined), hasEnded: false };
  }
  if (!live) return undefined;
  const { hello } = live;
  const say = (more: Partial<LiveHello>): Live => ({ ...live, hello: { ...hello, ...more } });
  switch (told.name) {
    case "plan":
      return say({ order: told.data });
    case "interval": {
      const same = hello.intervals.filter(({ trial }) => trial === told.data.trial);
      return say({ intervals: [...same, told.data].slice(-INTERVALS_MAX) });
    }
    case "trial":
      return say({ trials: [...hello.trials.filter(({ id }) => id !== told.data.id), told.data] });
    case "finding":
      return say({ findings: [...hello.findings, told.data] });
    case "fleet":
      return say({ fleet: told.data });
    case "progress":
      return {
        ...say({ progress: told.data }),
        values: grown(live.values, told.data, hello.progress),
      };
    case "end":
      return { ...say({ card: told.data.card }), hasEnded: true };
  }
}

/** The lines of counters with what was read since; another trial starts them over. */
function grown(
  values: Map<string, number[]>,
  now: Progress,
  before: Progress | undefined,
): Map<string, number[]> {
  const isOther = now.trial?.id !== before?.trial?.id;
  const old = new Map(before?.counters.map((counter) => [counterOf(counter), counter.t_ns]));
  const next = isOther ? new Map<string, number[]>() : new Map(values);
  for (const counter of now.counters) {
    const key = counterOf(counter);
    const isNew = isOther || old.get(key) !== counter.t_ns;
    if (isNew) next.set(key, [...(next.get(key) ?? []), counter.value].slice(-VALUES_MAX));
  }
  return next;
}

export interface Watched {
  live?: Live;
  isLost: boolean;
  fault?: Fault;
}

/** Watches a run until it ends or the page is left. */
export function useLive(run: string): Watched {
  const [live, tell] = useState<Live>();
  const [isLost, lose] = useState(false);
  const [fault, refuse] = useState<Fault>();
  useEffect(() => {
    const source = new EventSource(api("runs", run, "events"));
    for (const name of EVENTS) {
      source.addEventListener(name, (event) => {
        const data: unknown = cleanAll(JSON.parse((event as MessageEvent<string>).data));
        lose(false);
        tell((old) => after(old, { name, data } as Told));
        if (name === "end") source.close();
      });
    }
    source.addEventListener("error", () => {
      lose(true);
      // A refusal is not tried again, and does not say why: the run itself does.
      if (source.readyState === EventSource.CLOSED) {
        get(api("runs", run)).then(
          () => undefined,
          (error) => refuse(faultOf(error)),
        );
      }
    });
    return () => source.close();
  }, [run]);
  return { ...(live ? { live } : {}), isLost, ...(fault ? { fault } : {}) };
}
