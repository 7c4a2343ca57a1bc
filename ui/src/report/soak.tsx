/** The answer of a soak: what grows, how sure that is, and when it would be used up. */
import { SoakChart, soakShown } from "../charts";
import { type Maybe, NONE, count, duration, pValue, setting } from "../format";
import type { SoakCounter, SoakTrend } from "../schema/page";
import { Mark, headed, soakWord } from "../ui/mark";
import { markColumn, nameColumn, numberColumn } from "../ui/columns";
import { type Column, DataTable } from "../ui/table";
import { Told, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Figure, Section, type SectionProps } from "./frame";
import { already } from "../words/said/text";

export function Soak({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const soak = page.analysis.soak!;
  const t = words.soaks;
  const of = t.windows(count(soak.windows), count(soak.windows_planned), setting(soak.window_ns));
  return (
    <Section id="soak" title={words.sections.soak} about={t.about}>
      <div class={`verdict ${soakWord(words, soak.verdict).tone}`}>
        <Mark word={headed(soakWord(words, soak.verdict))} />
        <p>
          <Told text={soak.answer} isUnbroken isSentence byClause />
        </p>
      </div>
      <p class="about">
        {[
          told(soak.cell, "cell"),
          of,
          t.horizon(setting(soak.horizon_ns)),
          t.segments(soak.segments.length),
        ].join(words.comma)}
      </p>
      <DataTable
        caption={t.caption}
        file={[page.analysis.run, "soak"]}
        columns={columns(words)}
        rows={soak.trends}
        below={({ text }) => [text]}
      />
      {soak.notes.length > 0 && (
        <ul class="plain-list">
          {soak.notes.map((note) => (
            <li key={note.text}>
              <Told text={note} />
            </li>
          ))}
        </ul>
      )}
      <p class="about">{t.drawn}</p>
      <div class="small-charts">
        {soak.trends.map((trend) => (
          <Figure
            key={trend.counter}
            title={
              <>
                {t.counters[trend.counter]} <Mark word={soakWord(words, trend.class)} />
              </>
            }
          >
            <SoakChart trend={{ ...trend, text: already(told(trend.text)) }} />
          </Figure>
        ))}
      </div>
    </Section>
  );
}

/** A value of a counter in its unit. */
function held(counter: SoakCounter, of: Maybe): string {
  return of == null ? NONE : soakShown(counter).show(of);
}

/** A value with its interval under it, which keeps a wide table within the page. */
function Between({ value, low, high }: { value: string; low: string; high: string }) {
  return (
    <>
      {value}
      <span class="sub">
        {low} … {high}
      </span>
    </>
  );
}

function Slope({ row }: { row: SoakTrend }) {
  if (row.slope_per_h == null) return <>{NONE}</>;
  const of = (value: Maybe) => held(row.counter, value);
  return (
    <Between value={of(row.slope_per_h)} low={of(row.slope_low_per_h)} high={of(row.slope_high_per_h)} />
  );
}

function Exhausted({ row }: { row: SoakTrend }) {
  const { never } = useWords().soaks;
  if (row.exhausted_in_ns == null) return <>{NONE}</>;
  const end = (ns: Maybe) => (ns == null ? never : duration(ns));
  return (
    <Between
      value={duration(row.exhausted_in_ns)}
      low={end(row.exhausted_in_low_ns)}
      high={end(row.exhausted_in_high_ns)}
    />
  );
}

function columns(words: Words): Column<SoakTrend>[] {
  const t = words.soaks;
  return [
    nameColumn(
      t.counter,
      "counter",
      (row) => t.counters[row.counter],
      (row) => row.counter,
    ),
    markColumn(
      words.verdict,
      "class",
      (row) => soakWord(words, row.class),
      (row) => row.class,
    ),
    heldColumn(t.first, "first"),
    heldColumn(t.last, "last"),
    {
      head: t.anHour,
      key: "slope_per_h",
      kind: "number",
      cell: (row) => <Slope row={row} />,
      raw: (row) => row.slope_per_h,
    },
    numberColumn("p", "p", pValue, (row) => row.p_value),
    {
      head: t.exhausted,
      key: "exhausted_in_ns",
      kind: "number",
      cell: (row) => <Exhausted row={row} />,
      raw: (row) => row.exhausted_in_ns,
    },
    {
      head: t.limit,
      key: "limit",
      kind: "text",
      cell: (row) =>
        row.limit ? (
          <>
            {held(row.counter, row.limit.value)}
            {words.comma}
            <Told text={row.limit.source} as="limit_source" />
          </>
        ) : (
          NONE
        ),
      raw: (row) => row.limit?.value,
    },
  ];
}

const heldColumn = (head: string, key: "first" | "last"): Column<SoakTrend> => ({
  head,
  key,
  kind: "number",
  cell: (row) => held(row.counter, row[key]),
  raw: (row) => row[key],
});
