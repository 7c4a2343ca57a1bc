/** Text, ticks and ranges that all charts share. */
import { describe, expect, it } from "vitest";
import { byteInterval, clean, clock, extent, logTicks, roundUp, timeInterval, widthOf } from "./base";
import { placeAfter } from "./chart";
import { markOf, svgLook, targetIndex } from "./look";
import { alone, apart, placeLines } from "./panels";

describe("text", () => {
  it("is one line without control characters, and opens no style of rich text", () => {
    expect(clean("a\nb\u0000c\u202Ed")).toBe("a b c d");
    expect(clean("{head|x}")).not.toMatch(/\{head\|/);
    expect([...clean("x".repeat(500), 20)]).toHaveLength(20);
  });
});

describe("axes", () => {
  it("have round ticks within their range, and not too many", () => {
    for (const [low, high, max] of [
      [3e5, 6e6, 9],
      [900, 1100, 6],
      [1, 1e9, 5],
      [7.1e6, 7.3e6, 4],
      [1, 1.0001, 5],
    ] as const) {
      const ticks = logTicks(low, high, max);
      expect(ticks.length, `${low} … ${high}`).toBeGreaterThan(0);
      expect(ticks.length).toBeLessThanOrEqual(max + 1);
      for (const tick of ticks) expect(tick >= low && tick <= high).toBe(true);
    }
    expect(logTicks(0, 10)).toEqual([]);
    expect(logTicks(NaN, 10)).toEqual([]);
    expect(logTicks(9e3, 2e7, 4)).toEqual([1e4, 1e5, 1e6, 1e7]);
  });

  it("count sizes in powers of 1024 and long times in minutes and hours", () => {
    expect(byteInterval(60 * 1024 ** 2, 4)).toBe(20 * 1024 ** 2);
    expect(byteInterval(900, 3)).toBe(500);
    expect(timeInterval(60e9, 6)).toBeUndefined();
    expect(timeInterval(3600e9, 8)).toBe(600e9);
    expect(timeInterval(86_400e9, 8)).toBe(14_400e9);
    expect(clock(0, 60e9)).toBe("0 s");
    expect(clock(0.3e9, 3e9)).toBe("0.3 s");
    expect(clock(20e9, 60e9)).toBe("20 s");
    expect(clock(200e9, 600e9)).toBe("3:20");
    expect(clock(5400e9, 20_000e9)).toBe("1 h 30");
    expect(roundUp(0.3)).toBeCloseTo(0.5);
  });

  it("leave out what cannot be drawn", () => {
    expect(extent([NaN, 2, Infinity, 1e300, null, undefined, -1])).toEqual([-1, 2]);
    expect(extent([null, NaN])).toBeUndefined();
  });
});

describe("labels", () => {
  it("stand apart, within their panel", () => {
    expect(apart([50, 50, 50], 15, 0, 100)).toEqual([50, 65, 80]);
    expect(apart([100, 98], 15, 0, 100)).toEqual([100, 85]);
    expect(apart([], 15, 0, 100)).toEqual([]);
  });

  it("of places cover neither each other nor the ends of the axis", () => {
    const places = [40, 50, 95].map((at) => ({ at, name: "warm the cache", color: "" }));
    for (const width of [1200, 330]) {
      const look = svgLook(width);
      const plot = width - 110;
      let free = 0;
      for (const { xAxis, label } of placeLines(places, [0, 100], look)) {
        const at = (xAxis / 100) * plot;
        const wide = label.width ?? widthOf("warm the cache");
        const [from, to] = label.align === "left" ? [at, at + wide] : [at - wide, at];
        expect(from).toBeGreaterThanOrEqual(free);
        expect(to).toBeLessThanOrEqual(plot);
        free = to;
      }
    }
  });
});

describe("a reading between two gaps", () => {
  it("has a sign, because no line reaches it", () => {
    const points = [1, null, 2, 3, null, 4].map((value, at): [number, number | null] => [at, value]);
    expect([...alone(points)]).toEqual([0, 5]);
    expect([...alone([[0, null]])]).toEqual([]);
  });
});

describe("marks", () => {
  it("differ by more than colour", () => {
    const look = svgLook(1000);
    const seen = new Set(
      Array.from({ length: 8 }, (_, at) => {
        const { dash, sign, hollow } = markOf(look, at);
        return JSON.stringify([dash, sign, hollow]);
      }),
    );
    expect(seen.size).toBe(8);
  });

  it("stand for targets by order of appearance", () => {
    const index = targetIndex([{ target: "b" }, { target: "a" }, { target: "b" }]);
    expect([index("b"), index("a"), index("unknown")]).toEqual([0, 1, 0]);
  });
});

describe("the keyboard", () => {
  it("walks over the values and stops at both ends", () => {
    expect(placeAfter("ArrowRight", -1, 4)).toBe(0);
    expect(placeAfter("ArrowRight", 4, 4)).toBe(4);
    expect(placeAfter("ArrowLeft", 0, 4)).toBe(0);
    expect(placeAfter("End", 0, 4)).toBe(4);
    expect(placeAfter("Escape", 3, 4)).toBe(-1);
    expect(placeAfter("Tab", 3, 4)).toBeUndefined();
    expect(placeAfter("ArrowRight", -1, -1)).toBeUndefined();
  });
});
