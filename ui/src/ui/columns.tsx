/**
 * The columns that tables share: a name, a number, a text, a verdict, and the ends of an interval.
 *
 * Invariants: what is shown and what stands in the file come from the same value; of an interval the file has both
 * ends, in columns of their own.
 * Absent on purpose: what a table is about. A column with a cell of its own is written out where it is needed.
 */
import type { Children } from "../jsx/children";
import { type Ends, type Maybe, NONE } from "../format";
import type { Raw } from "./csv";
import { Mark, type Word } from "./mark";
import type { Column } from "./table";
import { Told, type ToldAs } from "./told";
import type { Text } from "../words/said/text";

/** What a row is called. */
export const nameColumn = <Row,>(
  head: string,
  key: string,
  cell: (row: Row) => Children,
  raw: (row: Row) => Raw,
): Column<Row> => ({ head, key, kind: "name", cell, raw });

/** A name that is the same in the file. */
export const ownNameColumn = <Row,>(head: string, key: string, of: (row: Row) => string | number) =>
  nameColumn(head, key, of, of);

/** A number: `show` has its unit, the file has it raw. */
export const numberColumn = <Row,>(
  head: string,
  key: string,
  show: (value: Maybe) => Children,
  of: (row: Row) => Maybe,
): Column<Row> => ({ head, key, kind: "number", cell: (row) => show(of(row)), raw: of });

/** A name of the analysis that is shown in the language of the page; the file has it as it is. */
export const toldNameColumn = <Row,>(
  head: string,
  key: string,
  of: (row: Row) => string,
  as: ToldAs,
): Column<Row> => nameColumn(head, key, (row) => <Told text={of(row)} as={as} />, of);

/** Running text of the analysis, which may break lines. */
export const textColumn = <Row,>(
  head: string,
  key: string,
  of: (row: Row) => Text | null | undefined,
  none: string = NONE,
  as?: ToldAs,
): Column<Row> => ({
  head,
  key,
  kind: "text",
  cell: (row) => <Told text={of(row) ?? none} {...(as && { as })} />,
  raw: of,
});

/** A verdict as sign and word. */
export const markColumn = <Row,>(
  head: string,
  key: string,
  word: (row: Row) => Word,
  raw: (row: Row) => Raw,
): Column<Row> => ({ head, key, kind: "mark", cell: (row) => <Mark word={word(row)} />, raw });

/** What only the file has. */
export const fileColumn = <Row,>(key: string, raw: (row: Row) => Raw): Column<Row> => ({ key, raw });

interface IntervalColumns<Row> {
  of: (row: Row) => Ends | null | undefined;
  show: (ends: Ends) => string;
  /** What stands where there is no interval. */
  none?: (row: Row) => string;
  /** Ends the keys of the file. */
  unit?: string;
}

/** An interval: one column for people, two for the file. */
export function intervalColumns<Row>(
  head: string,
  { of, show, none = () => NONE, unit = "" }: IntervalColumns<Row>,
): Column<Row>[] {
  const cell = (row: Row) => {
    const ends = of(row);
    return ends ? show(ends) : none(row);
  };
  return [
    { head, key: `interval_low${unit}`, kind: "number", cell, raw: (row) => of(row)?.low },
    fileColumn(`interval_high${unit}`, (row) => of(row)?.high),
  ];
}
