/** The tables of `crates/report/src/format.rs`, so that both pages print the same number the same way. */
import { describe, expect, it } from "vitest";
import * as format from "./format";
import type { Maybe } from "./format";

function check(show: (value: Maybe) => string, table: [Maybe, string][]) {
  for (const [input, expected] of table) expect(show(input), `for ${input}`).toBe(expected);
}

describe("format", () => {
  it("never prints NaN or Infinity", () => {
    const shows = [
      format.duration,
      format.rate,
      format.chosenRate,
      format.bytes,
      format.percent,
      format.change,
      format.ratio,
      format.pValue,
      format.axis,
      format.count,
      format.plain,
      format.setting,
      format.chosenPercent,
    ];
    for (const show of shows) {
      for (const bad of [NaN, Infinity, -Infinity, null, undefined]) expect(show(bad)).toBe("–");
    }
    expect(format.interval("bytes", { low: NaN })).toBe("−∞ … ∞");
  });

  it("writes durations", () => {
    check(format.duration, [
      [0, "0 ns"],
      [1, "1 ns"],
      [950, "950 ns"],
      [12.345, "12.3 ns"],
      [999.4, "999 ns"],
      [999.6, "1.00 µs"],
      [1_234, "1.23 µs"],
      [9_996, "10.0 µs"],
      [999_700, "1.00 ms"],
      [1_234_567, "1.23 ms"],
      [12_345_678, "12.3 ms"],
      [-1_500_000, "−1.50 ms"],
      [999_999_999, "1.00 s"],
      [65e9, "65.0 s"],
      [119.9e9, "2.00 min"],
      [7200e9, "2.00 h"],
      [1e18, "277,778 h"],
    ]);
    check(format.setting, [
      [5e9, "5 s"],
      [1.5e9, "1.5 s"],
      [250e6, "250 ms"],
      [0, "0 ns"],
      [100e9, "100 s"],
    ]);
  });

  it("writes rates, sizes and shares", () => {
    check(format.rate, [
      [0, "0/s"],
      [0.5, "0.500/s"],
      [999.4, "999/s"],
      [999.6, "1,000/s"],
      [48_213.4, "48,213/s"],
    ]);
    check(format.chosenRate, [
      [201.5, "201.5/s"],
      [200, "200/s"],
      [12_500, "12,500/s"],
      [1 / 3, "0.333/s"],
      [2e21, "2,000,000,000,000,000,000,000/s"],
    ]);
    check(format.bytes, [
      [0, "0 B"],
      [1023, "1,023 B"],
      [1024, "1.00 KiB"],
      [1_268_776, "1.21 MiB"],
      [1_048_570, "1.00 MiB"],
      [1e15, "909 TiB"],
      [2e15, "1,819 TiB"],
    ]);
    check(format.percent, [
      [0, "0 %"],
      [1e-9, "< 0.001 %"],
      [0.00123, "0.123 %"],
      [0.05, "5.00 %"],
      [0.12345, "12.3 %"],
      [1, "100 %"],
    ]);
    check(format.chosenPercent, [
      [0.02, "2 %"],
      [0.005, "0.5 %"],
    ]);
  });

  it("writes ratios, p values and axes", () => {
    check(format.change, [
      [1.041, "+4.1 %"],
      [1, "0.0 %"],
      [1.0004, "0.0 %"],
      [0.9997, "0.0 %"],
      [0.5, "−50.0 %"],
      [0, "−100.0 %"],
      [12.34, "×12.3"],
    ]);
    check(format.ratio, [
      [1.0412, "1.041"],
      [0.5, "0.500"],
      [1234, "1,234"],
    ]);
    check(format.pValue, [
      [0.0312, "0.031"],
      [1e-9, "< 0.001"],
      [1, "1.000"],
    ]);
    check(format.axis, [
      [0, "0"],
      [-2.5, "−2.5"],
      [950, "950"],
      [12_000, "12k"],
      [1_500_000, "1.5M"],
    ]);
    check(format.count, [
      [0, "0"],
      [999, "999"],
      [1000, "1,000"],
      [1_234_567, "1,234,567"],
    ]);
    expect(format.quantile(0.999)).toBe("p99.9");
  });

  it("labels one axis in one unit, with the digits that tell its ticks apart", () => {
    const labels = (unit: format.Unit, ticks: number[]) =>
      ticks.map((tick) => format.axisValue(unit, tick, Math.max(...ticks)));
    expect(labels("nanoseconds", [0, 3e8, 9e8, 1.2e9])).toEqual(["0 s", "0.3 s", "0.9 s", "1.2 s"]);
    expect(labels("nanoseconds", [15.02e6, 15.04e6])).toEqual(["15.02 ms", "15.04 ms"]);
    expect(labels("per_second", [980, 1000])).toEqual(["980", "1,000"]);
    expect(labels("per_second", [0, 5000, 10_000])).toEqual(["0", "5k", "10k"]);
    expect(labels("bytes", [0, 512 * 1024, 1024 ** 2])).toEqual(["0 MiB", "0.5 MiB", "1 MiB"]);
    expect(labels("bytes", [500 * 1024, 1000 * 1024, 1100 * 1024]).slice(0, 2)).toEqual([
      "500 KiB",
      "1,000 KiB",
    ]);
    expect(labels("share", [0, 0.005])).toEqual(["0 %", "0.5 %"]);
    expect(format.axisDuration(NaN, 1)).toBe(format.NONE);
  });

  it("names a shared unit once", () => {
    expect(format.interval("nanoseconds", { low: 1.2e6, high: 1.31e6 })).toBe("1.20 … 1.31 ms");
    expect(format.interval("nanoseconds", { low: 9.8e5, high: 1.02e6 })).toBe("980 µs … 1.02 ms");
    expect(format.interval("per_second", { low: 48_100, high: 49_200 })).toBe("48,100 … 49,200/s");
    expect(format.interval("bytes", { low: null, high: 2048 })).toBe("−∞ … 2.00 KiB");
    expect(format.changeInterval({ low: 0.98, high: 1.05 })).toBe("−2.0 … +5.0 %");
    expect(format.changeInterval({ low: 1.01, high: null })).toBe("+1.0 % … ∞");
    expect(format.ratioInterval({ low: 0.98, high: 1.05 })).toBe("0.980 … 1.050");
    expect(format.differenceInterval("nanoseconds", { low: 1.2e6, high: 1.31e6 })).toBe("+1.20 … +1.31 ms");
    expect(format.difference("share", -0.001)).toBe("−0.100 %");
    expect(format.difference("share", 1e-9)).toBe("0 %");
  });

  it("gives the ends of a narrow interval the digits in which they differ", () => {
    expect(format.interval("per_second", { low: 799.92, high: 800.31 })).toBe("799.9 … 800.3/s");
    expect(format.interval("per_second", { low: 48_100.12, high: 48_100.19 })).toBe("48,100.1 … 48,100.2/s");
    expect(format.interval("nanoseconds", { low: 8_000_100, high: 8_001_300 })).toBe("8.000 … 8.001 ms");
    expect(format.interval("bytes", { low: 1024 ** 2, high: 1024 ** 2 + 2048 })).toBe("1.000 … 1.002 MiB");
    expect(format.interval("share", { low: 0.12341, high: 0.12344 })).toBe("12.341 … 12.344 %");
    expect(format.changeInterval({ low: 1.09991, high: 1.10008 })).toBe("+9.99 … +10.01 %");
    expect(format.changeInterval({ low: 0.9998, high: 1.0001 })).toBe("−0.02 … +0.01 %");
    expect(format.ratioInterval({ low: 1.10001, high: 1.10008 })).toBe("1.1000 … 1.1001");
    expect(format.differenceInterval("nanoseconds", { low: 1.2e6, high: 1.2004e6 })).toBe(
      "+1.2000 … +1.2004 ms",
    );
    // One number where the ends are the same, or as good as that.
    expect(format.interval("nanoseconds", { low: 8e6, high: 8e6 })).toBe("8.00 ms");
    expect(format.changeInterval({ low: 1.1, high: 1.1 + 1e-9 })).toBe("+10.0 %");
  });
});
