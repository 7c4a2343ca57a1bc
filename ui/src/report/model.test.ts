/** The choices of the decision table follow from verdicts alone, and never claim what no comparison shows. */
import { describe, expect, it } from "vitest";
import type { Comparison, Verdict } from "../schema/page";
import { choose, commandLine, counts, pairsOf, settingsOf, wallTime } from "./model";

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
    refused,
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

  it("gives the reason where nothing is told", () => {
    expect(choose([comparison("x", "y", "refused", "one block: run five")])).toEqual({
      kind: "untold",
      reason: "one block: run five",
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
