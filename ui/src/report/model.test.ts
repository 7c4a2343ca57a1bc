/** The choices of the decision table follow from verdicts alone, and never claim what no comparison shows. */
import { describe, expect, it } from "vitest";
import type { Capacity, CellSummary, Comparison, Verdict } from "../schema/page";
import { choose, commandLine, counts, pairsOf, rankings, settingsOf, standOut, wallTime } from "./model";

function comparison(a: string, b: string, verdict: Verdict, refused: string | null = null): Comparison {
  return {
    a: `cell ${a}`,
    b: `cell ${b}`,
    a_target: a,
    b_target: b,
    load: "8 connections",
    metric: "throughput",
    blocks: 5,
    verdict,
    refused: refused === null ? null : { text: refused },
  };
}

describe("choose", () => {
  it("names the one that beats all others", () => {
    expect(
      choose([
        comparison("x", "y", "slower"),
        comparison("x", "z", "equivalent"),
        comparison("y", "z", "faster"),
      ]),
    ).toEqual({ kind: "best", option: "y" });
    expect(choose([comparison("x", "y", "faster")])).toEqual({ kind: "best", option: "x" });
  });

  it("names all that were not beaten where none beats all", () => {
    expect(
      choose([
        comparison("x", "y", "faster"),
        comparison("x", "z", "inconclusive"),
        comparison("y", "z", "slower"),
      ]),
    ).toEqual({ kind: "among", options: ["x", "z"] });
    // x was never held against z: it is not shown to be the best.
    expect(choose([comparison("x", "y", "faster"), comparison("y", "z", "faster")])).toEqual({
      kind: "among",
      options: ["x"],
    });
  });

  it("says that no difference is shown", () => {
    expect(choose([comparison("x", "y", "inconclusive")])).toEqual({ kind: "none", equivalent: false });
    expect(choose([comparison("x", "y", "equivalent")])).toEqual({ kind: "none", equivalent: true });
  });

  it("gives the reason where nothing is reported", () => {
    expect(choose([comparison("x", "y", "refused", "one block: run five")])).toEqual({
      kind: "untold",
      reason: { text: "one block: run five" },
    });
    expect(choose([comparison("x", "y", "faster"), comparison("x", "z", "refused")])).toEqual({
      kind: "among",
      options: ["x", "z"],
    });
  });
});

describe("model", () => {
  it("gathers pairs in the order of their first appearance", () => {
    const pairs = pairsOf([
      comparison("x", "y", "faster"),
      comparison("x", "z", "slower"),
      { ...comparison("x", "y", "slower"), metric: "p99" },
    ]);
    expect(pairs.map(({ a, b, comparisons }) => [a, b, comparisons.length])).toEqual([
      ["x", "y", 2],
      ["x", "z", 1],
    ]);
  });

  it("flattens a plan, quotes a command, writes a time", () => {
    expect(settingsOf({ a: { b: [1, "x"], c: null }, d: false })).toEqual([
      ["a.b[0]", 1],
      ["a.b[1]", "x"],
      ["d", false],
    ]);
    expect(commandLine(["prony", "run", "my file.toml", "it's"])).toBe("prony run 'my file.toml' 'it'\\''s'");
    expect(wallTime("2026-11-22T05:14:56.437617785Z")).toBe("2026-11-22 05:14 UTC");
    expect(wallTime("yesterday")).toBe("yesterday");
    expect(counts(["a", "b", "c"], ["c", "a", "c"])).toEqual([
      ["a", 1],
      ["c", 2],
    ]);
  });
});

describe("curves that stand out", () => {
  const loads = [10, 20, 30, 40, 50, 60, 70, 80, 90];
  const cells = loads.map((load) => `c${load}`);
  const rows = loads.map((load) => ({ cell: `c${load}`, load })) as Capacity["rows"];
  const steps = loads.map((rate_per_s) => ({ rate_per_s, passed: rate_per_s < 55 }));
  const search = { steps, verified_per_s: 40 } as unknown as NonNullable<Capacity["search"]>;

  it("are the ends of a search and what lies next to its answer", () => {
    expect(standOut([{ rows, search, knees: [] }], cells)).toEqual(["c10", "c40", "c50", "c60", "c90"]);
    // The last word on a rate counts, and what has no curve cannot stand out.
    const again = { ...search, steps: [...steps, { rate_per_s: 50, passed: false }] } as typeof search;
    expect(standOut([{ rows, search: again, knees: [] }], cells.slice(1))).toEqual([
      "c20",
      "c40",
      "c50",
      "c90",
    ]);
  });

  it("are the ends of a ladder and its knee, and the first where there is none", () => {
    const knees = [{ at: 44 }, { at: null }] as Capacity["knees"];
    const highest = { from_load: 70 } as NonNullable<Capacity["highest"]>;
    expect(standOut([{ rows, knees, highest }], cells)).toEqual(["c10", "c40", "c70", "c90"]);
    expect(standOut([], cells)).toEqual(cells.slice(0, 5));
    expect(standOut([{ rows: [], knees: [] }], ["a", "b"])).toEqual(["a", "b"]);
  });
});

describe("rankings", () => {
  const cell = (name: string, load: string, throughput: number | null, p99: number | null) =>
    ({
      cell: name,
      target: name,
      load,
      metrics: [
        { metric: "throughput", center: throughput },
        { metric: "p99", center: p99 },
      ],
    }) as unknown as CellSummary;
  const names = (cells: CellSummary[]) =>
    rankings({ cells, margin: 0.02 }).map(({ by, cells }) => [by, ...cells.map(({ cell }) => cell)]);

  it("have the most requests first, at each load for itself, and what has no value last", () => {
    const cells = [
      cell("a", "8", 100, 1),
      cell("b", "8", null, 1),
      cell("c", "8", 300, 9),
      cell("d", "16", 5, 1),
    ];
    expect(names(cells)).toEqual([
      ["throughput", "c", "a", "b"],
      ["throughput", "d"],
    ]);
  });

  it("have the shortest p99 first where the load fixes the throughput", () => {
    expect(names([cell("a", "8", 1000, 9), cell("b", "8", 1001, 3)])).toEqual([["p99", "b", "a"]]);
  });

  it("keep the order of a ladder", () => {
    const ladder = rankings({ cells: [cell("a", "8", 100, 1), cell("b", "16", 300, 2)], margin: 0.02 });
    expect(ladder.map(({ isRanked, cells }) => [isRanked, cells.length])).toEqual([[false, 2]]);
  });
});
