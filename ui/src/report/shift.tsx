/**
 * The whole curve of each pair: the ratio of response times at every quantile, drawn, in one sentence and as a table.
 *
 * Invariant: what is said of a quantile is read from its band, which is made for all quantiles at once.
 */
import { useMemo } from "preact/hooks";
import { ShiftChart, shiftSentence } from "../charts";
import { changes, chosenPercent, quantile } from "../format";
import type { CellSummary, PageFile, Shift, ShiftPoint } from "../schema/page";
import { fileColumn, nameColumn } from "../ui/columns";
import { usePrinting } from "../ui/lazy";
import { Choose, Fold, useFew } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { glued, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Figure } from "./frame";
import { PairName } from "./pair";

/** More charts than this on paper are read by nobody; the table has all. */
const PRINTED = 8;

interface Pair {
  shift: Shift;
  a_target: string;
  b_target: string;
  load: string;
}

type Row = ShiftPoint & { pair: Pair };

/** The curves whose cells are known. */
function pairsOf(shifts: Shift[], cells: CellSummary[]): Pair[] {
  const cell = (id: string) => cells.find((of) => of.cell === id);
  return shifts.flatMap((shift) => {
    const [a, b] = [cell(shift.a), cell(shift.b)];
    return a && b ? [{ shift, a_target: a.target, b_target: b.target, load: a.load }] : [];
  });
}

/** The part of the comparison that is about whole curves; nothing where no pair has one. */
export function Shifts({ page }: { page: PageFile }) {
  const words = useWords();
  const told = useTold();
  const { shifts, cells, confidence } = page.analysis;
  const pairs = useMemo(() => pairsOf(shifts ?? [], cells), [shifts, cells]);
  const rows = useMemo(
    () => pairs.flatMap((pair) => pair.shift.points.map((point): Row => ({ ...point, pair }))),
    [pairs],
  );
  const { shown, isFew, at, choose } = useFew(pairs);
  const isPrinting = usePrinting();
  if (pairs.length === 0) return null;
  const t = words.shift;
  const name = ({ a_target, b_target, load }: Pair) =>
    `${a_target} ${words.against} ${b_target}${load && words.comma}${told(load, "place")}`;
  return (
    <>
      <h3>{t.title}</h3>
      <p class="about">{t.about(chosenPercent(confidence))}</p>
      {!isFew && <Choose label={t.pair} value={at} choose={choose} options={pairs.map(name)} />}
      {shown.slice(0, PRINTED).map((pair) => (
        <Figure
          key={keyOf(pair)}
          title={<PairName of={pair} />}
          about={shiftSentence({ shift: pair.shift, a: pair.a_target }, words)}
        >
          <ShiftChart shift={pair.shift} a={pair.a_target} b={pair.b_target} />
        </Figure>
      ))}
      {isPrinting && pairs.length > PRINTED && (
        <p class="about">{words.comparison.notDrawn(PRINTED, pairs.length)}</p>
      )}
      <Fold title={t.table}>
        {() => (
          <DataTable
            caption={t.table}
            file={[page.analysis.run, "shifts"]}
            columns={columns(words)}
            rows={rows}
            group={({ pair }) => <PairName of={pair} />}
            groupKey={({ pair }) => keyOf(pair)}
            dense
          />
        )}
      </Fold>
    </>
  );
}

const keyOf = ({ shift }: Pair) => JSON.stringify([shift.a, shift.b]);

const columns = (words: Words): Column<Row>[] => [
  nameColumn(
    words.shift.quantile,
    "quantile",
    (row) => quantile(row.quantile),
    (row) => row.quantile,
  ),
  {
    head: words.change,
    key: "ratio",
    kind: "number",
    cell: (row) => <strong>{glued(changes(row.ratio, row.band)[0])}</strong>,
    raw: (row) => row.ratio,
  },
  {
    head: words.shift.band,
    key: "band_low",
    kind: "number",
    cell: (row) => changes(row.ratio, row.band)[1],
    raw: (row) => row.band.low,
  },
  fileColumn("band_high", (row) => row.band.high),
  fileColumn("a", (row) => row.pair.shift.a),
  fileColumn("b", (row) => row.pair.shift.b),
  fileColumn("blocks", (row) => row.pair.shift.blocks),
];
