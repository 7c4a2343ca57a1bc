/** The cases of `crates/units/cases/numbers.json`, so that the page writes each number as Rust does. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import * as format from "./format";
import type { Ends, Maybe } from "./format";

interface Cases {
  table: Record<string, [number, string][]>;
  table_intervals: Record<string, [number | null, number | null, string][]>;
}

const file = resolve(import.meta.dirname, "../../crates/units/cases/numbers.json");
const cases = JSON.parse(readFileSync(file, "utf8")) as Cases;

const ONE: Record<string, (value: Maybe) => string> = {
  duration: format.duration,
  setting: format.setting,
  rate: format.rate,
  bytes: format.bytes,
  percent: format.percent,
  chosen_percent: format.chosenPercent,
  change: format.change,
  ratio: format.ratio,
  p_value: format.pValue,
  axis: format.axis,
  plain: format.plain,
  count: format.count,
};

const BETWEEN: Record<string, (ends: Ends) => string> = {
  per_second: (ends) => format.interval("per_second", ends),
  nanoseconds: (ends) => format.interval("nanoseconds", ends),
  bytes: (ends) => format.interval("bytes", ends),
  share: (ends) => format.interval("share", ends),
  change: format.changeInterval,
  ratio: format.ratioInterval,
  difference_nanoseconds: (ends) => format.differenceInterval("nanoseconds", ends),
};

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

  it.each(Object.entries(cases.table))("writes each %s as Rust does", (name, table) => {
    const show = ONE[name];
    expect(show, `no function for ${name}`).toBeDefined();
    for (const [input, wanted] of table) expect(show!(input), `for ${input}`).toBe(wanted);
  });

  it.each(Object.entries(cases.table_intervals))("writes each interval of %s as Rust does", (name, table) => {
    const show = BETWEEN[name];
    expect(show, `no function for ${name}`).toBeDefined();
    for (const [low, high, wanted] of table)
      expect(show!({ low, high }), `for ${low} to ${high}`).toBe(wanted);
  });

  it("writes chosen rates and quantiles, which only the page has", () => {
    check(format.chosenRate, [
      [201.5, "201.5/s"],
      [200, "200/s"],
      [12_500, "12,500/s"],
      [1 / 3, "0.333/s"],
      [2e21, "2,000,000,000,000,000,000,000/s"],
    ]);
    expect(format.quantile(0.999)).toBe("p99.9");
    expect(format.difference("share", -0.001)).toBe("−0.100 %");
    expect(format.difference("share", 1e-9)).toBe("0 %");
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
});
