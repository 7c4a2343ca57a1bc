/**
 * How charts look: colours, marks and room. Colours are the tokens of `theme.css`.
 *
 * Invariants: charts drawn as SVG carry `var(--token)`, so a change of theme and printing need no new drawing; a
 * series differs from the others by colour, by dash and by sign, never by colour alone; the same target has the same
 * mark in each chart of a page.
 * Absent on purpose: colours of its own.
 */
import { token } from "../theme";

/** What option functions may know of the screen. */
export interface Look {
  /** Width of the drawing in CSS pixels. */
  width: number;
  /** Whether there is no room beside the plot for names and numbers. */
  narrow: boolean;
  ink: string;
  soft: string;
  faint: string;
  line: string;
  strong: string;
  ground: string;
  raised: string;
  good: string;
  bad: string;
  warn: string;
  quiet: string;
  event: string;
  warmup: string;
  drain: string;
  /** Colours of series, in order. */
  series: string[];
  /** From few to many. */
  heat: string[];
  font: string;
}

/** Below this width names stand above their rows, and a key above the chart. */
export const NARROW = 560;

const SERIES = 8;
const HEAT = 6;

function lookBy(width: number, colour: (name: string) => string, font: string): Look {
  return {
    width,
    narrow: width < NARROW,
    ink: colour("ink"),
    soft: colour("ink-soft"),
    faint: colour("ink-faint"),
    line: colour("line"),
    strong: colour("line-strong"),
    ground: colour("ground"),
    raised: colour("raised"),
    good: colour("good"),
    bad: colour("bad"),
    warn: colour("warn"),
    quiet: colour("quiet"),
    event: colour("event"),
    warmup: colour("phase-warmup"),
    drain: colour("phase-drain"),
    series: Array.from({ length: SERIES }, (_, index) => colour(`series-${index + 1}`)),
    heat: Array.from({ length: HEAT }, (_, index) => colour(`heat-${index}`)),
    font,
  };
}

/** For SVG: colours that follow the theme by themselves. */
export const svgLook = (width: number, font = "sans-serif"): Look =>
  lookBy(width, (name) => `var(--${name})`, font);

/** For canvas, which knows no variables: the colours of this moment. */
export const canvasLook = (width: number, font = "sans-serif"): Look => lookBy(width, token, font);

export type Dash = "solid" | number[];
export type Sign = "circle" | "rect" | "triangle" | "diamond";

/** How a series is drawn. */
export interface Mark {
  color: string;
  dash: Dash;
  sign: Sign;
  /** Hollow signs tell the second four from the first four. */
  hollow: boolean;
}

const SIGNS: Sign[] = ["circle", "rect", "triangle", "diamond"];
const DASHES: Dash[] = ["solid", [7, 3], [2, 3], [10, 3, 2, 3]];

/** The mark of series `index`, from 0. Where the colours begin again, dashes and signs are shifted by one. */
export function markOf(look: Look, index: number): Mark {
  const at = Math.max(0, index);
  const shifted = at + Math.floor(at / look.series.length);
  return {
    color: look.series[at % look.series.length] ?? look.ink,
    dash: DASHES[shifted % DASHES.length] ?? "solid",
    sign: SIGNS[shifted % SIGNS.length] ?? "circle",
    hollow: at % (2 * SIGNS.length) >= SIGNS.length,
  };
}

/** Which series index stands for which target: by order of appearance in the cells, as on the plain page. */
export function targetIndex(cells: readonly { target: string }[]): (target: string) => number {
  const known: string[] = [];
  for (const { target } of cells) if (!known.includes(target)) known.push(target);
  return (target) => Math.max(0, known.indexOf(target));
}
