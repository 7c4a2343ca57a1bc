/** What is known of a run in progress after each event; and which page an address means. */
import { describe, expect, it } from "vitest";
import type { LiveHello, LiveInterval, Progress } from "../schema/lab-hello";
import { addressOf, to, wall } from "./address";
import { api } from "./api";
import { type Told, after } from "./stream";

const progress = (trial: number | null, t_ns: number, value: number): Progress => ({
  state: "running",
  trials_done: 0,
  trials_planned: 2,
  share: 0,
  elapsed_ns: 0,
  left_ns: 0,
  trial: trial
    ? {
        id: trial,
        block: 1,
        cell: "c1",
        label: "x",
        phase: null,
        sample: null,
        samples: 1,
        elapsed_ns: 0,
        expected_ns: 1,
      }
    : null,
  interval: null,
  counters: [{ source: "target.process", name: "rss_bytes", value, kind: "gauge", unit: "bytes", t_ns }],
});

const interval = (trial: number, t_ns: number): LiveInterval => ({
  trial,
  t_ns,
  phase: "sample",
  sample: 1,
  throughput_per_s: 1,
  scheduled_per_s: 1,
  p50_ns: 1,
  p99_ns: 2,
  failed: 0,
  backlog: 0,
  in_flight: 0,
  generator_cpus: 0,
});

const hello = (): LiveHello =>
  ({
    schema: "prony.lab/4",
    card: { id: "r", state: "running" },
    cells: [],
    order: [],
    trials: [],
    intervals: [],
    findings: [],
    progress: progress(1, 5, 10),
  }) as unknown as LiveHello;

const fleet = (trials: number) => ({ trials, agents: [] });

const told = (...events: Told[]) => events.reduce(after, undefined as ReturnType<typeof after>);

describe("a run in progress", () => {
  it("is nothing before its beginning, and what a new beginning says after a break", () => {
    expect(told({ name: "interval", data: interval(1, 1) })).toBeUndefined();
    const live = told(
      { name: "hello", data: hello() },
      { name: "interval", data: interval(1, 1) },
      { name: "hello", data: hello() },
    );
    expect(live?.hello.intervals).toEqual([]);
  });

  it("keeps the intervals of the present trial only, and a bounded number of them", () => {
    const many = Array.from({ length: 1000 }, (_, at): Told => ({ name: "interval", data: interval(1, at) }));
    const live = told({ name: "hello", data: hello() }, ...many);
    expect(live?.hello.intervals.length).toBe(900);
    expect(live?.hello.intervals.at(-1)?.t_ns).toBe(999);
    expect(after(live, { name: "interval", data: interval(2, 1) })?.hello.intervals).toEqual([
      interval(2, 1),
    ]);
  });

  it("draws a counter once for each reading, and starts over for another trial", () => {
    const key = "target.process/rss_bytes";
    const live = told(
      { name: "hello", data: hello() },
      { name: "progress", data: progress(1, 5, 10) },
      { name: "progress", data: progress(1, 6, 12) },
    );
    expect(live?.values.get(key)).toEqual([10, 12]);
    expect(after(live, { name: "progress", data: progress(2, 1, 7) })?.values.get(key)).toEqual([7]);
  });

  it("has the agents as the last analysis found them", () => {
    const began = told({ name: "hello", data: { ...hello(), fleet: fleet(0) } });
    expect(began?.hello.fleet).toEqual(fleet(0));
    expect(after(began, { name: "fleet", data: fleet(2) })?.hello.fleet).toEqual(fleet(2));
  });

  it("ends with the run as it is then", () => {
    const card = { id: "r", state: "done" } as unknown as LiveHello["card"];
    const live = told({ name: "hello", data: hello() }, { name: "end", data: { card } });
    expect(live?.hasEnded).toBe(true);
    expect(live?.hello.card).toBe(card);
  });
});

describe("addresses", () => {
  const odd = "a b&run=/?#<x>,ü";
  it("come back as they were, whatever a name holds", () => {
    const search = (address: string) => new URL(address, "http://x/").search;
    expect(addressOf(search(to.run(odd)))).toEqual({ page: "run", run: odd });
    expect(addressOf(search(to.live(odd)))).toEqual({ page: "live", run: odd });
    expect(addressOf(search(to.history(odd)))).toEqual({ page: "history", experiment: odd });
    expect(addressOf(search(to.compare(["a", "b"])))).toEqual({ page: "compare", runs: ["a", "b"] });
    expect(addressOf(search(to.experiments)).page).toBe("experiments");
    expect(addressOf("").page).toBe("library");
    expect(addressOf("?q=x").page).toBe("library");
  });

  it("of the API have one segment for each name", () => {
    expect(api("runs", "../x", "page")).toBe("api/runs/..%2Fx/page");
  });

  it("show times as people read them", () => {
    expect(wall("2026-11-22T05:14:56.123Z")).toBe("2026-11-22 05:14 UTC");
    expect(wall("")).toBe("");
  });
});
