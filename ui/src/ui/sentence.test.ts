/** Sentences that stand alone. */
import { describe, expect, it } from "vitest";
import { clauses, sentence } from "./sentence";

describe("a sentence", () => {
  it("begins with a capital, unless it begins with a name or with no plain word", () => {
    const names = ["plain", "no", ""];
    expect(sentence("no answer on requests per second")).toBe("No answer on requests per second");
    expect(sentence("plain uses 22 % less", names)).toBe("plain uses 22 % less");
    expect(sentence("plainly better", names)).toBe("Plainly better");
    expect(sentence("nothing was found", names)).toBe("Nothing was found");
    for (const kept of ["p99 needs 30,000 requests", "go/planted serves", "2 of 2 cells", "µs", ""])
      expect(sentence(kept)).toBe(kept);
  });

  it("has its clauses apart, without a character lost, and none of those in brackets", () => {
    const text = "a is faster (95 %; 5 blocks); b is not; c";
    expect(clauses(text)).toEqual(["a is faster (95 %; 5 blocks); ", "b is not; ", "c"]);
    expect(clauses("甲更快；乙不是")).toEqual(["甲更快；", "乙不是"]);
    expect(clauses("x; ")).toEqual(["x; "]);
    expect(clauses("")).toEqual([]);
  });
});
