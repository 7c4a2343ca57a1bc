/** Foreign text: nothing unseen passes, and no CSV field is a formula. */
import { describe, expect, it } from "vitest";
import { cleanAll, cleanText } from "./clean";
import { csv, field, fileName } from "./csv";
import { unbroken } from "./told";

describe("clean", () => {
  it("replaces what cannot be seen and keeps what can", () => {
    expect(cleanText("a\u001b[31mred")).toBe("a\ufffd[31mred");
    expect(cleanText("abc\u202edcba\u2066")).toBe("abc\ufffddcba\ufffd");
    expect(cleanText("zero\u200bwidth")).toBe("zero\ufffdwidth");
    expect(cleanText("half \ud800 pair")).toBe("half \ufffd pair");
    expect(cleanText("中文 – µs ≥ 😀")).toBe("中文 – µs ≥ 😀");
    expect(cleanText("a\r\n\tb")).toBe("a\n    b");
    expect(cleanText("<b>&amp;")).toBe("<b>&amp;");
  });

  it("reaches every text of a document, and no number", () => {
    const page = {
      names: ["x\u0007"],
      map: { "k\u202e": 1 },
      values: [1, 2.5],
      deep: [{ log: ["\u001b]8;;"] }],
    };
    expect(cleanAll(page)).toEqual({
      names: ["x\ufffd"],
      map: { "k\ufffd": 1 },
      values: [1, 2.5],
      deep: [{ log: ["\ufffd]8;;"] }],
    });
  });
});

describe("unbroken", () => {
  it("keeps numbers and units together, and nothing else", () => {
    expect(unbroken("10 % more in 5 blocks, 1.2 ms")).toBe("10\u00a0% more in 5 blocks, 1.2\u00a0ms");
    expect(unbroken("2 servers, 3 s")).toBe("2 servers, 3\u00a0s");
  });
});

describe("csv", () => {
  it("neutralises formulas and quotes", () => {
    expect(field("=cmd|' /C calc'!A0")).toBe("'=cmd|' /C calc'!A0");
    expect(field("@SUM(1)")).toBe("'@SUM(1)");
    expect(field("+4.1 %")).toBe("'+4.1 %");
    expect(field("-1.5")).toBe("-1.5");
    expect(field(-1.5)).toBe("-1.5");
    expect(field('say "a, b"')).toBe('"say ""a, b"""');
    expect(field(null)).toBe("");
    expect(csv(["a", "b"], [[1, "x\ny"]])).toBe('a,b\r\n1,"x\ny"\r\n');
  });

  it("makes harmless file names", () => {
    expect(fileName("2026-11-22-demo", "../../trials")).toBe("2026-11-22-demo-trials.csv");
  });
});
