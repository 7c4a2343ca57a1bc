/**
 * Tables that people read and programs can have as CSV.
 *
 * Invariants: the file has all rows and raw values, whatever is shown; a long table shows its first rows and the
 * rest when asked or printed; a wide one scrolls by itself, also with the keyboard; one of mostly text stands on a
 * phone as one block a row, label above value, and is the same table for the ear.
 * Absent on purpose: sorting and filtering (the order means something: it is that of the analysis).
 */
import type { AriaRole } from "preact";
import type { Children } from "../jsx/children";
import { useId, useState } from "preact/hooks";
import { count } from "../format";
import { useWords } from "../words";
import { type Raw, csv, download, fileName } from "./csv";
import { usePrinting } from "./lazy";
import { Told, glued } from "./told";
import { type Text, english } from "../words/said/text";

export interface Column<Row> {
  /** Head for people. */
  head?: string;
  /** Head in the CSV file: a key with its unit, the same in all languages. */
  key: string;
  /** What is shown; a column without it is in the file only. */
  cell?: (row: Row) => Children;
  /** The value for the CSV file. */
  raw: (row: Row) => Raw;
  kind?: "number" | "name" | "text" | "mark";
}

interface TableProps<Row> {
  /** Names the table for the ear and, with the run, the file. */
  caption: string;
  file: string[];
  columns: Column<Row>[];
  rows: Row[];
  /** Rows with the same group stand under one heading. */
  group?: (row: Row) => Children;
  groupKey?: (row: Row) => string;
  /** Rows to show before being asked. */
  limit?: number;
  /** Further lines under a row, for example reasons. */
  below?: (row: Row) => Text[];
  isQuiet?: (row: Row) => boolean;
  dense?: boolean;
}

export function DataTable<Row>(props: TableProps<Row>) {
  const { caption, file, columns: all, rows, limit = 60, dense } = props;
  const columns = all.filter(({ cell }) => cell !== undefined);
  const isStacked = isOfText(columns);
  // A table whose rows are blocks is none for some browsers, unless it says so.
  const role = (of: AriaRole) => (isStacked ? { role: of } : {});
  const words = useWords();
  const id = useId();
  const [isWhole, whole] = useState(false);
  const isPrinting = usePrinting();
  const shown = isWhole || isPrinting || rows.length <= limit + 5 ? rows : rows.slice(0, limit);
  const save = () =>
    download(
      fileName(...file),
      csv(
        all.map((column) => column.key),
        rows.map((row) => all.map((column) => column.raw(row))),
      ),
    );
  return (
    <div class="table">
      <div class="table-head">
        <p id={id}>{caption}</p>
        <button type="button" class="plain no-print" onClick={save} aria-label={`${words.csv}: ${caption}`}>
          {words.csv}
        </button>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-labelledby={id}>
        <table
          class={[dense && "dense", isStacked && "stacked"].filter(Boolean).join(" ")}
          aria-labelledby={id}
          {...role("table")}
        >
          <thead {...role("rowgroup")}>
            <tr {...role("row")}>
              {columns.map((column) => (
                <th scope="col" class={classOf(column)} key={column.key} {...role("columnheader")}>
                  {column.head}
                </th>
              ))}
            </tr>
          </thead>
          <Bodies {...props} columns={columns} rows={shown} role={role} />
        </table>
      </div>
      {shown.length < rows.length && (
        <button type="button" class="plain more no-print" onClick={() => whole(true)}>
          {words.showAll(count(rows.length))}
        </button>
      )}
    </div>
  );
}

/** Whether it has at least as many columns of running text as of numbers, which are read down a column. */
function isOfText<Row>(columns: Column<Row>[]): boolean {
  const of = (kind: Column<Row>["kind"]) => columns.filter((column) => column.kind === kind).length;
  return of("text") > 0 && of("text") >= of("number");
}

interface BodyProps<Row> extends TableProps<Row> {
  role: (of: AriaRole) => { role?: AriaRole };
}

function Bodies<Row>(props: BodyProps<Row>) {
  const { rows, group, groupKey, columns, role } = props;
  if (!group || !groupKey) {
    return (
      <tbody {...role("rowgroup")}>
        <Rows {...props} />
      </tbody>
    );
  }
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = groupKey(row);
    const known = groups.get(key);
    if (known) known.push(row);
    else groups.set(key, [row]);
  }
  return (
    <>
      {[...groups].map(([key, of]) => (
        <tbody key={key} {...role("rowgroup")}>
          <tr class="group" {...role("row")}>
            <th colSpan={columns.length} scope="rowgroup" {...role("rowheader")}>
              {group(of[0]!)}
            </th>
          </tr>
          <Rows {...props} rows={of} />
        </tbody>
      ))}
    </>
  );
}

function Rows<Row>({ rows, columns, below, isQuiet, role }: BodyProps<Row>) {
  // Of two columns the first names the second.
  const label = (column: Column<Row>) => (columns.length > 2 ? { "data-label": column.head } : {});
  return (
    <>
      {rows.map((row, index) => (
        <>
          <tr key={index} class={isQuiet?.(row) ? "unused" : undefined} {...role("row")}>
            {columns.map((column) =>
              column.kind === "name" ? (
                <th scope="row" key={column.key} {...label(column)} {...role("rowheader")}>
                  {column.cell?.(row)}
                </th>
              ) : (
                <td class={classOf(column)} key={column.key} {...label(column)} {...role("cell")}>
                  {cellOf(column, row)}
                </td>
              ),
            )}
          </tr>
          {below?.(row).map((text) => (
            <tr class="reason" key={english(text)} {...role("row")}>
              <td colSpan={columns.length} {...role("cell")}>
                <span>
                  <Told text={text} isUnbroken isSentence />
                </span>
              </td>
            </tr>
          ))}
        </>
      ))}
    </>
  );
}

/** On paper columns are narrow; a number and its unit stay together. */
function cellOf<Row>(column: Column<Row>, row: Row): Children {
  const cell = column.cell?.(row);
  return column.kind === "number" && typeof cell === "string" ? glued(cell) : cell;
}

const CLASSES = { number: "n", text: "t", mark: "m", name: undefined };

const classOf = <Row,>(column: Column<Row>) => column.kind && CLASSES[column.kind];

/** Names and values, two columns. */
export function Facts({ rows }: { rows: [Children, Children][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value], index) => (
        <div key={index}>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? glued(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}
