/**
 * The summary on paper: question, answer, ranking, belief, claims, thresholds, comparisons and findings, on two pages of A4.
 *
 * Invariants: the page is as it was once printing has ended; what is left out stays on the page and in the whole print.
 * Absent on purpose: what belongs to it, which `report.css` says (`data-print="summary"`).
 */

/** Prints the summary and nothing else. */
export function printSummary() {
  const root = document.documentElement;
  root.dataset.print = "summary";
  addEventListener("afterprint", () => delete root.dataset.print, { once: true });
  print();
}
