/**
 * Makes the page of a run of 500 trials out of a small real one: ten cells, fifty blocks, 45 pairs in each metric.
 *
 * Usage: node scripts/many.mjs FROM.json TO.json
 * Invariants: the same input gives the same output; every list has the length that the lists beside it promise.
 * Absent on purpose: truth. It is for the time that the page takes and for nothing else; it is never stored.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const CELLS = 10;
const BLOCKS = 50;
const DETAILS = 24;

/** Numbers from 0 to 1 in a fixed order. */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** `page` grown to 500 trials. */
export function many(page) {
  const next = numbers(1);
  const about = (value) => (typeof value === "number" ? value * (0.97 + 0.06 * next()) : value);
  const { analysis, run } = page;
  const pick = (list, index) => list[index % list.length];
  const id = (index) => `c${index + 1}`;
  const cells = Array.from({ length: CELLS }, (_, index) => {
    const from = pick(analysis.cells, index);
    const target = `server-${(index % 5) + 1}`;
    const load = index < CELLS / 2 ? "8 connections" : "64 connections";
    return {
      ...structuredClone(from),
      cell: id(index),
      target,
      load,
      label: `${target}, ${load}`,
      trials_valid: BLOCKS,
      metrics: from.metrics.map((of) => ({
        ...of,
        values: Array.from({ length: BLOCKS }, () => about(of.center)),
      })),
      curve: from.curve.map((point) => ({ ...point, ns: Math.round(point.ns * (1 + index / 20)) })),
    };
  });
  const trials = Array.from({ length: CELLS * BLOCKS }, (_, index) => {
    const from = pick(analysis.trials, index);
    return {
      ...structuredClone(from),
      id: index + 1,
      block: Math.floor(index / CELLS) + 1,
      cell: id(index % CELLS),
      values: from.values.map((of) => ({ ...of, value: about(of.value) })),
    };
  });
  const pairs = cells.flatMap((a, index) =>
    cells
      .slice(index + 1)
      .filter((b) => b.load === a.load)
      .map((b) => [a, b]),
  );
  const first = analysis.comparisons.filter(
    ({ a, b }) => a === analysis.comparisons[0]?.a && b === analysis.comparisons[0]?.b,
  );
  const comparisons = pairs.flatMap(([a, b]) =>
    first.map((of) => ({
      ...of,
      a: a.cell,
      b: b.cell,
      a_target: a.target,
      b_target: b.target,
      load: a.load,
      blocks: BLOCKS,
    })),
  );
  const details =
    page.details.length === 0
      ? []
      : trials
          .slice(0, DETAILS)
          .map((trial, index) => ({ ...pick(page.details, index), id: trial.id, cell: trial.cell }));
  const order = trials.map(({ id, block, cell }) => ({ id, block, cell }));
  const plans = cells.map((cell, index) => ({
    ...pick(run.plan.cells, index),
    id: cell.cell,
    label: cell.label,
    target: cell.target,
  }));
  const why = cells.map((cell, index) => ({
    ...pick(analysis.why, index),
    cell: cell.cell,
    label: cell.label,
  }));
  return {
    ...page,
    run: { ...run, plan: { ...run.plan, blocks: BLOCKS, cells: plans, order } },
    analysis: { ...analysis, trials_planned: trials.length, trials, cells, comparisons, why },
    details,
    details_left_out: `Of ${trials.length} trials the first ${details.length} have details here.`,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , from, to] = process.argv;
  if (!from || !to) throw new Error("usage: node scripts/many.mjs FROM.json TO.json");
  writeFileSync(to, JSON.stringify(many(JSON.parse(readFileSync(from, "utf8")))));
}
