/**
 * How numbers are shown: the one home of number formatting in the front end, as `crates/report/src/format.rs` is of
 * the plain page, and with the same results (`format.test.ts` holds its tables).
 *
 * Invariants: nothing prints `NaN` or `Infinity`; a number that is missing or not finite is `NONE`; measured values
 * have three significant digits, counts have all of theirs with thousands separators.
 * Absent on purpose: arithmetic on results, and locales (numbers look the same in each language).
 */

/** Stands for a value that is missing. */
export const NONE = "–";

/** The unit of a metric, as in the schemas. */
export type Unit = "per_second" | "nanoseconds" | "share" | "bytes";

/** A number that may be missing. */
export type Maybe = number | null | undefined;

/** A confidence interval; an absent end is unbounded. */
export interface Ends {
  low?: Maybe;
  high?: Maybe;
}

/** A number and its unit, apart, so that an interval can name the unit once. */
interface Shown {
  number: string;
  unit: string;
}

const MINUS = "−";

function finite(value: Maybe): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** A real minus sign, as wide as a digit. */
function signed(number: string): string {
  return number.startsWith("-") ? MINUS + number.slice(1) : number;
}

/** Groups the digits before the point in threes. */
function thousands(number: string): string {
  const [whole = "", rest] = number.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

/** `digits` significant digits, without an exponent; integers above that keep all their digits, grouped. */
function significant(value: number, digits = 3): string {
  if (value === 0) return "0";
  // The exponent form rounds first, so 9.996 counts as 10.0 and gets one decimal.
  const exponent = Number(value.toExponential(digits - 1).split("e")[1]);
  const decimals = Math.max(0, digits - 1 - exponent);
  return thousands(signed(fixed(value, Math.min(decimals, 100))));
}

/** As `toFixed`, which leaves the plain form from 1e21 on. */
function fixed(value: number, decimals: number): string {
  return Math.abs(value) < 1e21 ? value.toFixed(decimals) : BigInt(Math.round(value)).toString();
}

/** Each unit is used until its three digits would round up to the next one. */
const DURATIONS: [number, number, string][] = [
  [1, 999.5, " ns"],
  [1e3, 999.5e3, " µs"],
  [1e6, 999.5e6, " ms"],
  [1e9, 119.5e9, " s"],
  [60e9, 119.5 * 60e9, " min"],
  [3600e9, Infinity, " h"],
];

function shownDuration(ns: number): Shown {
  const [factor, , unit] = DURATIONS.find(([, until]) => Math.abs(ns) < until) ?? [3600e9, 0, " h"];
  // Nanoseconds are whole: the clock has no finer step.
  const whole = factor === 1 && Number.isInteger(ns);
  return { number: whole ? signed(ns.toFixed(0)) : significant(ns / factor), unit };
}

function shownRate(perS: number): Shown {
  const number = Math.abs(perS) >= 999.5 ? thousands(signed(fixed(perS, 0))) : significant(perS);
  return { number, unit: "/s" };
}

const SIZES: [number, string][] = [
  [1, " B"],
  [1024, " KiB"],
  [1024 ** 2, " MiB"],
  [1024 ** 3, " GiB"],
  [1024 ** 4, " TiB"],
];

function shownBytes(bytes: number): Shown {
  const [factor, unit] = SIZES.find(([factor]) => Math.abs(bytes) < factor * 1023.5) ?? [1024 ** 4, " TiB"];
  const number = factor === 1 ? thousands(signed(bytes.toFixed(0))) : significant(bytes / factor);
  return { number, unit };
}

function shownPercent(share: number): Shown {
  const percent = share * 100;
  if (percent === 0) return { number: "0", unit: " %" };
  return { number: Math.abs(percent) < 0.001 ? "< 0.001" : significant(percent), unit: " %" };
}

function shownChange(ratio: number): Shown {
  if (ratio >= 10) return { number: `×${significant(ratio)}`, unit: "" };
  const percent = ((ratio - 1) * 100).toFixed(1);
  if (Number(percent) === 0) return { number: "0.0", unit: " %" };
  return { number: percent.startsWith("-") ? signed(percent) : `+${percent}`, unit: " %" };
}

function shownIn(unit: Unit, value: number): Shown {
  switch (unit) {
    case "per_second":
      return shownRate(value);
    case "nanoseconds":
      return shownDuration(value);
    case "share":
      return shownPercent(value);
    case "bytes":
      return shownBytes(value);
  }
}

function shownDifference(unit: Unit, value: number): Shown {
  // What is below the resolution of the text has no sign worth showing, and `<` none at all.
  const tiny = unit === "share" && value !== 0 && Math.abs(value) < 1e-5;
  const shown = tiny ? { number: "0", unit: " %" } : shownIn(unit, value);
  return value > 0 && shown.number !== "0" ? { ...shown, number: `+${shown.number}` } : shown;
}

function joined(value: Maybe, show: (value: number) => Shown): string {
  if (!finite(value)) return NONE;
  const { number, unit } = show(value);
  return number + unit;
}

function between(ends: Ends, show: (value: number) => Shown): string {
  const low = finite(ends.low) ? show(ends.low) : null;
  const high = finite(ends.high) ? show(ends.high) : null;
  if (low === null && high === null) return "−∞ … ∞";
  if (low === null) return `−∞ … ${high!.number}${high!.unit}`;
  if (high === null) return `${low.number}${low.unit} … ∞`;
  const first = low.unit === high.unit ? low.number : low.number + low.unit;
  return `${first} … ${high.number}${high.unit}`;
}

/** A time in nanoseconds: `950 ns`, `1.23 ms`, `12.3 s`. Minutes from 2 min on. */
export const duration = (ns: Maybe): string => joined(ns, shownDuration);

/** A chosen length of time without trailing zeros: `5 s`, `1.5 s`, `250 ms`. */
export function setting(ns: Maybe): string {
  if (!finite(ns)) return NONE;
  const { number, unit } = shownDuration(ns);
  return (number.includes(".") ? number.replace(/\.?0+$/, "") : number) + unit;
}

/** Events per second: `48,213/s`, below a thousand with three significant digits. */
export const rate = (perS: Maybe): string => joined(perS, shownRate);

/** A size in powers of 1024: `512 B`, `1.21 MiB`. */
export const bytes = (value: Maybe): string => joined(value, shownBytes);

/** A share from 0 to 1 as percent; what is above zero never shows as zero. */
export const percent = (share: Maybe): string => joined(share, shownPercent);

/** A chosen share without trailing zeros: `2 %`, `0.5 %`. */
export function chosenPercent(share: Maybe): string {
  return finite(share) ? `${signed(String(Number((share * 100).toFixed(4))))} %` : NONE;
}

/** A ratio as the change it means: 1.041 is `+4.1 %`, 0.5 is `−50.0 %`; from a factor of ten on `×12.3`. */
export const change = (ratio: Maybe): string => joined(ratio, shownChange);

/** A ratio as it stands: `1.041`. */
export function ratio(value: Maybe): string {
  if (!finite(value)) return NONE;
  return Math.abs(value) >= 100 ? significant(value) : signed(value.toFixed(3));
}

/** A p value: `0.031`, below a thousandth `< 0.001`. */
export function pValue(p: Maybe): string {
  if (!finite(p)) return NONE;
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/** A count with thousands separators: `1,234,567`. */
export const count = (n: Maybe): string => (finite(n) ? thousands(signed(fixed(n, 0))) : NONE);

/** A number without a unit: whole ones with all their digits, others with three significant ones. */
export function plain(number: Maybe): string {
  if (!finite(number)) return NONE;
  return Number.isInteger(number) && Math.abs(number) < 1e15
    ? thousands(signed(number.toFixed(0)))
    : significant(number);
}

/** A value in a metric's unit. */
export const value = (unit: Unit, number: Maybe): string => joined(number, (n) => shownIn(unit, n));

/** An interval in a metric's unit, which is named once where both ends share it: `1.20 … 1.31 ms`. */
export const interval = (unit: Unit, ends: Ends): string => between(ends, (n) => shownIn(unit, n));

/** An interval of a ratio as changes: `+3.2 … +5.0 %`. */
export const changeInterval = (ends: Ends): string => between(ends, shownChange);

/** An interval of a ratio as it stands: `1.032 … 1.050`. */
export const ratioInterval = (ends: Ends): string =>
  between(ends, (value) => ({ number: ratio(value), unit: "" }));

/** An interval of plain numbers: `24 … 32`. */
export const plainInterval = (ends: Ends): string =>
  between(ends, (value) => ({ number: plain(value), unit: "" }));

/** A difference of two values of a metric with its sign: `+1.20 ms`, `−0.100 %`, `0 ns`. */
export const difference = (unit: Unit, number: Maybe): string =>
  joined(number, (n) => shownDifference(unit, n));

/** An interval of a difference: `+1.20 … +1.31 ms`. */
export const differenceInterval = (unit: Unit, ends: Ends): string =>
  between(ends, (n) => shownDifference(unit, n));

/** A quantile's name: 0.5 is `p50`, 0.999 is `p99.9`. */
export const quantile = (q: number): string => `p${Number((q * 100).toFixed(6))}`;

const AXIS_STEPS: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** A number for an axis: `0`, `950`, `12k`, `1.5M`. */
export function axis(value: Maybe): string {
  if (!finite(value)) return NONE;
  const [factor, suffix] = AXIS_STEPS.find(([factor]) => Math.abs(value) >= factor) ?? [1, ""];
  return signed(`${Number((value / factor).toFixed(2))}${suffix}`);
}

/** A time for an axis, without trailing zeros: `500 µs`, `10 ms`. */
export const axisDuration = (ns: Maybe): string => setting(ns);

/** A value for an axis in a metric's unit. */
export function axisValue(unit: Unit, number: Maybe): string {
  switch (unit) {
    case "per_second":
      return axis(number);
    case "nanoseconds":
      return setting(number);
    case "share":
      return chosenPercent(number);
    case "bytes":
      return bytes(number).replace(/\.?0+(?= )/, (zeros) => (zeros.startsWith(".") ? "" : zeros));
  }
}
