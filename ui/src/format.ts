/**
 * How numbers are shown: the one home of number formatting in the front end, as `units::format::table` is in Rust, and
 * with the same results: both are held to the cases of `crates/units/cases/numbers.json`. The labels of axes are the
 * page's own.
 *
 * Invariants: nothing prints `NaN` or `Infinity`; a number that is missing or not finite is `NONE`; measured values
 * have three significant digits, counts have all of theirs with thousands separators; an interval is never shown
 * between two numbers that look the same.
 * Absent on purpose: arithmetic on results, and locales (numbers look the same in each language).
 */

/** Stands for a value that is missing. */
export const NONE = "–";

/** The unit of a metric, as in the schemas. */
export type Unit = "per_second" | "nanoseconds" | "share" | "bytes" | "count" | "bytes_per_second";

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

function shownDuration(ns: number, more = 0): Shown {
  const [factor, , unit] = DURATIONS.find(([, until]) => Math.abs(ns) < until) ?? [3600e9, 0, " h"];
  // Nanoseconds are whole: the clock has no finer step.
  const whole = factor === 1 && Number.isInteger(ns);
  return { number: whole ? signed(ns.toFixed(0)) : significant(ns / factor, 3 + more), unit };
}

function shownRate(perS: number, more = 0): Shown {
  const isWhole = Math.abs(perS) >= 999.5;
  const number = isWhole ? thousands(signed(fixed(perS, more))) : significant(perS, 3 + more);
  return { number, unit: "/s" };
}

const SIZES: [number, string][] = [
  [1, " B"],
  [1024, " KiB"],
  [1024 ** 2, " MiB"],
  [1024 ** 3, " GiB"],
  [1024 ** 4, " TiB"],
];

function shownBytes(bytes: number, more = 0): Shown {
  const [factor, unit] = sizeOf(bytes);
  const number =
    factor === 1 ? thousands(signed(bytes.toFixed(more))) : significant(bytes / factor, 3 + more);
  return { number, unit };
}

function shownPercent(share: number, more = 0): Shown {
  const percent = share * 100;
  if (percent === 0) return { number: "0", unit: " %" };
  return { number: Math.abs(percent) < 0.001 ? "< 0.001" : significant(percent, 3 + more), unit: " %" };
}

/** Ratios from here on are shown as factors. */
const FACTOR = 2;

const shownFactor = (ratio: number, more = 0): Shown => ({
  number: `×${significant(ratio, 3 + more)}`,
  unit: "",
});

function shownChange(ratio: number, more = 0): Shown {
  if (ratio >= FACTOR) return shownFactor(ratio, more);
  const percent = ((ratio - 1) * 100).toFixed(1 + more);
  if (Number(percent) === 0) return { number: percent.replace("-", ""), unit: " %" };
  return { number: percent.startsWith("-") ? signed(percent) : `+${percent}`, unit: " %" };
}

function shownIn(unit: Unit, value: number, more = 0): Shown {
  switch (unit) {
    case "per_second":
      return shownRate(value, more);
    case "nanoseconds":
      return shownDuration(value, more);
    case "share":
      return shownPercent(value, more);
    case "bytes":
      return shownBytes(value, more);
    case "count":
      return { ...shownRate(value, more), unit: "" };
    case "bytes_per_second": {
      const { number, unit: size } = shownBytes(value, more);
      return { number, unit: `${size}/s` };
    }
  }
}

function shownDifference(unit: Unit, value: number, more = 0): Shown {
  // What is below the resolution of the text has no sign worth showing, and `<` none at all.
  const tiny = unit === "share" && value !== 0 && Math.abs(value) < 1e-5;
  const shown = tiny ? { number: "0", unit: " %" } : shownIn(unit, value, more);
  return value > 0 && shown.number !== "0" ? { ...shown, number: `+${shown.number}` } : shown;
}

function joined(value: Maybe, show: (value: number) => Shown): string {
  if (!finite(value)) return NONE;
  const { number, unit } = show(value);
  return number + unit;
}

/** Ends that differ only beyond this many more digits than usual are one number. */
const MORE_MAX = 3;

/** `show` gives a number with so many digits more than usual. */
function between({ low, high }: Ends, show: (value: number, more: number) => Shown): string {
  const text = ({ number, unit }: Shown) => number + unit;
  if (!finite(low)) return finite(high) ? `−∞ … ${text(show(high, 0))}` : "−∞ … ∞";
  if (!finite(high)) return `${text(show(low, 0))} … ∞`;
  for (let more = 0; more <= MORE_MAX; more += 1) {
    const [from, to] = [show(low, more), show(high, more)];
    if (text(from) === text(to)) continue;
    return `${from.unit === to.unit ? from.number : text(from)} … ${text(to)}`;
  }
  return text(show(low, 0));
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

/** A chosen rate with the digits that it was chosen with: `201.5/s`, `10,000/s`. */
export function chosenRate(perS: Maybe): string {
  if (!finite(perS)) return NONE;
  const rounded = Number(perS.toFixed(3));
  const decimals = String(rounded).split(".")[1]?.length ?? 0;
  return `${thousands(signed(fixed(rounded, decimals)))}/s`;
}

/** A size in powers of 1024: `512 B`, `1.21 MiB`. */
export const bytes = (value: Maybe): string => joined(value, shownBytes);

/** A share from 0 to 1 as percent; what is above zero never shows as zero. */
export const percent = (share: Maybe): string => joined(share, shownPercent);

/** A chosen share without trailing zeros: `2 %`, `0.5 %`. */
export function chosenPercent(share: Maybe): string {
  return finite(share) ? `${signed(String(Number((share * 100).toFixed(4))))} %` : NONE;
}

/** A ratio as the change it means: 1.041 is `+4.1 %`, 0.5 is `−50.0 %`; from a factor of two on `×2.30`. */
export const change = (ratio: Maybe): string => joined(ratio, shownChange);

/** A ratio as it stands: `1.041`. */
export const ratio = (value: Maybe): string => joined(value, shownRatio);

function shownRatio(value: number, more = 0): Shown {
  const number = Math.abs(value) >= 100 ? significant(value, 3 + more) : signed(value.toFixed(3 + more));
  return { number, unit: "" };
}

/** A p value: `0.031`, below a thousandth `< 0.001`. */
export function pValue(p: Maybe): string {
  if (!finite(p)) return NONE;
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/** A count with thousands separators: `1,234,567`. */
export const count = (n: Maybe): string => (finite(n) ? thousands(signed(fixed(n, 0))) : NONE);

/** A number without a unit: whole ones with all their digits, others with three significant ones. */
export const plain = (number: Maybe): string => joined(number, shownPlain);

function shownPlain(value: number, more = 0): Shown {
  const isWhole = Number.isInteger(value) && Math.abs(value) < 1e15;
  return { number: isWhole ? thousands(signed(value.toFixed(0))) : significant(value, 3 + more), unit: "" };
}

/** A value in a metric's unit. */
export const value = (unit: Unit, number: Maybe): string => joined(number, (n) => shownIn(unit, n));

/** An interval in a metric's unit, which is named once where both ends share it: `1.20 … 1.31 ms`. */
export const interval = (unit: Unit, ends: Ends): string =>
  between(ends, (n, more) => shownIn(unit, n, more));

/** An interval of a ratio as changes: `+3.2 … +5.0 %`. */
export const changeInterval = (ends: Ends): string => changes(null, ends)[1];

/**
 * A ratio with the ends of its interval, all as changes or, where one of them is a factor of two or more, all as
 * factors: `+4.1 %` and `+3.2 … +5.0 %`, `×9.30` and `×8.10 … 13.3`.
 */
export function changes(ratio: Maybe, ends: Ends): [string, string] {
  const isFactor = [ratio, ends.low, ends.high].some((one) => finite(one) && one >= FACTOR);
  const show = isFactor ? shownFactor : shownChange;
  const text = between(ends, show);
  return [joined(ratio, show), isFactor ? text.replace("… ×", "… ") : text];
}

/** An interval of a ratio as it stands: `1.032 … 1.050`. */
export const ratioInterval = (ends: Ends): string => between(ends, shownRatio);

/** An interval of plain numbers: `24 … 32`. */
export const plainInterval = (ends: Ends): string => between(ends, shownPlain);

/** A difference of two values of a metric with its sign: `+1.20 ms`, `−0.100 %`, `0 ns`. */
export const difference = (unit: Unit, number: Maybe): string =>
  joined(number, (n) => shownDifference(unit, n));

/** An interval of a difference: `+1.20 … +1.31 ms`. */
export const differenceInterval = (unit: Unit, ends: Ends): string =>
  between(ends, (n, more) => shownDifference(unit, n, more));

/** A quantile's name: 0.5 is `p50`, 0.999 is `p99.9`. */
export const quantile = (q: number): string => `p${Number((q * 100).toFixed(6))}`;

const AXIS_STEPS: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** A short number: `0`, `950`, `12k`, `1.5M`. */
export function axis(value: Maybe): string {
  if (!finite(value)) return NONE;
  const [factor, suffix] = AXIS_STEPS.find(([factor]) => Math.abs(value) >= factor) ?? [1, ""];
  return signed(`${Number((value / factor).toFixed(2))}${suffix}`);
}

/**
 * A label of an axis with all digits of its round tick, so that no two are alike. A linear axis gives its end, whose
 * unit all of its labels have, so that none goes from `900 ms` to `1.2 s`; on a logarithmic one each has its own.
 */
const onAxis = (value: number, [factor, unit]: readonly [number, string]): string =>
  thousands(signed(String(Number((value / factor).toPrecision(10))))) + unit;

/** A number on an axis: `0`, `950`, `1,000`; from ten thousand on `12k`, `1.5M`. */
export function axisNumber(value: Maybe, end: Maybe = value): string {
  if (!finite(value)) return NONE;
  const step = AXIS_STEPS.find(([factor]) => Math.abs(end ?? 0) >= Math.max(factor, 1e4));
  return onAxis(value, value === 0 ? [1, ""] : (step ?? [1, ""]));
}

/** A time on an axis: `0 ms`, `0.5 ms`, `1 ms`. */
export function axisDuration(ns: Maybe, end: Maybe = ns): string {
  if (!finite(ns)) return NONE;
  const [factor, , unit] = DURATIONS.find(([, until]) => Math.abs(end ?? 0) < until) ?? [3600e9, 0, " h"];
  return onAxis(ns, [factor, unit]);
}

const sizeOf = (of: number) =>
  SIZES.find(([factor]) => Math.abs(of) < factor * 1023.5) ?? ([1024 ** 4, " TiB"] as const);

/** A size on an axis: `0 MiB`, `0.5 MiB`; in its own unit where it is round only there, as 500 KiB are. */
export function axisBytes(value: Maybe, end: Maybe = value): string {
  if (!finite(value)) return NONE;
  const shared = sizeOf(end ?? 0);
  return onAxis(value, Number.isInteger((value / shared[0]) * 100) ? shared : sizeOf(value));
}

/** A value on an axis in a metric's unit. */
export function axisValue(unit: Unit, number: Maybe, end: Maybe = number): string {
  switch (unit) {
    case "per_second":
      return axisNumber(number, end);
    case "nanoseconds":
      return axisDuration(number, end);
    case "share":
      return chosenPercent(number);
    case "bytes":
    case "bytes_per_second":
      return axisBytes(number, end);
    case "count":
      return axisNumber(number, end);
  }
}
