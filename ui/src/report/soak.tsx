/** The answer of a soak: what grows, how sure that is, and when it would be used up. */
import { SoakChart } from "../charts";
import { NONE, bytes, count, duration, pValue, plain, rate, setting } from "../format";
import type { SoakCounter, SoakTrend } from "../schema/page";
import { Mark, soakWord } from "../ui/mark";
import { type Column, DataTable } from "../ui/table";
import { type Words, useWords } from "../words";
import { Figure, Section, type SectionProps } from "./frame";

export function Soak({ page }: SectionProps) {
  const words = useWords();
  const soak = page.analysis.soak!;
  const t = words.soaks;
  const of = t.windows(count(soak.windows), count(soak.windows_planned), setting(soak.window_ns));
  return (
    <Section id="soak" title={words.sections.soak} about={t.about}>
      <div class={`verdict ${soakWord(words, soak.verdict).tone}`}>
        <Mark word={soakWord(words, soak.verdict)} />
        <p>{soak.answer}</p>
      </div>
      <p class="about">
        {[soak.cell, of, t.horizon(setting(soak.horizon_ns)), t.segments(soak.segments.length)].join(
          words.comma,
        )}
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
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
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
            <SoakChart trend={trend} />
          </Figure>
        ))}
      </div>
    </Section>
  );
}

/** A value of a counter in its unit. */
function held(counter: SoakCounter, of: number | null | undefined): string {
  if (of == null) return NONE;
  switch (counter) {
    case "memory":
    case "heap":
      return bytes(of);
    case "p50":
    case "p99":
      return duration(of);
    case "throughput":
      return rate(of);
    default:
      return plain(of);
  }
}

function slope(row: SoakTrend): string {
  if (row.slope_per_h == null) return NONE;
  const of = (value: number | null | undefined) => held(row.counter, value);
  return `${of(row.slope_per_h)} (${of(row.slope_low_per_h)} … ${of(row.slope_high_per_h)})`;
}

function exhausted(row: SoakTrend, words: Words): string {
  if (row.exhausted_in_ns == null) return NONE;
  const end = (ns: number | null | undefined) => (ns == null ? words.soaks.never : duration(ns));
  return `${duration(row.exhausted_in_ns)} (${end(row.exhausted_in_low_ns)} … ${end(row.exhausted_in_high_ns)})`;
}

function columns(words: Words): Column<SoakTrend>[] {
  const t = words.soaks;
  const number = "number" as const;
  return [
    {
      head: t.counter,
      key: "counter",
      kind: "name",
      cell: (row) => t.counters[row.counter],
      raw: (row) => row.counter,
    },
    {
      head: words.verdict,
      key: "class",
      cell: (row) => <Mark word={soakWord(words, row.class)} />,
      raw: (row) => row.class,
    },
    {
      head: t.first,
      key: "first",
      kind: number,
      cell: (row) => held(row.counter, row.first),
      raw: (row) => row.first,
    },
    {
      head: t.last,
      key: "last",
      kind: number,
      cell: (row) => held(row.counter, row.last),
      raw: (row) => row.last,
    },
    { head: t.anHour, key: "slope_per_h", kind: number, cell: slope, raw: (row) => row.slope_per_h },
    { head: "p", key: "p", kind: number, cell: (row) => pValue(row.p_value), raw: (row) => row.p_value },
    {
      head: t.exhausted,
      key: "exhausted_in_ns",
      kind: number,
      cell: (row) => exhausted(row, words),
      raw: (row) => row.exhausted_in_ns,
    },
    {
      head: t.limit,
      key: "limit",
      kind: "text",
      cell: (row) =>
        row.limit ? `${held(row.counter, row.limit.value)}${words.comma}${row.limit.source}` : NONE,
      raw: (row) => row.limit?.value,
    },
  ];
}
