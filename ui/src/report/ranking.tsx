/**
 * The ranking directly under the answer: the cells of each load, best first, with the key metrics and their intervals.
 *
 * Invariant: the order is that of `model.rankings`, the same as in the terminal; a bar is as long as its value, against
 * the largest of its table.
 */
import { useMemo } from "preact/hooks";
import type { CellSummary, PageFile } from "../schema/page";
import { Footnotes, Notes } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { Told, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { keyColumns, refusalsOf } from "./data";
import { type Ranking as Ranked, centerOf, rankings } from "./model";

export function Ranking({ page }: { page: PageFile }) {
  const words = useWords();
  const told = useTold();
  const tables = useMemo(() => rankings(page.analysis), [page]);
  const notes = useMemo(() => new Footnotes(page.analysis.cells.flatMap(refusalsOf)), [page]);
  const t = words.ranking;
  const caption = ({ load, by, isRanked }: Ranked) => {
    const order = isRanked ? t.by(words.metrics[by]) : t.inOrder;
    return tables.length === 1 ? order : `${told(load, "place")}${words.colon}${order}`;
  };
  return (
    <div class="ranking">
      {tables.map((table) => (
        <DataTable
          key={table.load}
          caption={caption(table)}
          file={[page.analysis.run, "ranking"]}
          columns={[nameColumn(table, words), ...keyColumns(words, notes)]}
          rows={table.cells}
        />
      ))}
      <Notes notes={notes} />
    </div>
  );
}

function nameColumn({ cells, by }: Ranked, words: Words): Column<CellSummary> {
  const largest = Math.max(...cells.map((cell) => centerOf(cell, by) ?? 0));
  return {
    head: words.cell,
    key: "cell",
    kind: "name",
    cell: (cell) => (
      <>
        <Told text={cell.label} as="cell" />
        <Bar share={largest > 0 ? (centerOf(cell, by) ?? 0) / largest : 0} />
      </>
    ),
    raw: (cell) => cell.label,
  };
}

const Bar = ({ share }: { share: number }) => (
  <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
    <rect width={100 * share} height="4" />
  </svg>
);
