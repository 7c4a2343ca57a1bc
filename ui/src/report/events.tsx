/** What happened to the target on purpose, what it cost, and how long recovery took. */
import { NONE, count, duration, rate } from "../format";
import type { EventSummary } from "../schema/page";
import { type Column, DataTable } from "../ui/table";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { labels } from "./model";

export function Events({ page }: SectionProps) {
  const words = useWords();
  const { analysis } = page;
  return (
    <Section id="events" title={words.sections.events} about={words.events.about}>
      <DataTable
        caption={words.events.caption}
        file={[analysis.run, "events"]}
        columns={columns(labels(analysis.cells), words)}
        rows={analysis.events ?? []}
        below={({ errors }) => errors.map((error) => words.events.notDone(error))}
      />
    </Section>
  );
}

function recovered(event: EventSummary, words: Words): string {
  const never = event.not_recovered === 0 ? "" : words.events.notIn(event.not_recovered, event.trials);
  if (event.recovered_ns == null) return never || NONE;
  const after = event.recovered_ns === 0 && never === "" ? words.events.atOnce : duration(event.recovered_ns);
  return never === "" ? after : `${after}${words.comma}${never}`;
}

function columns(label: (cell: string) => string, words: Words): Column<EventSummary>[] {
  const t = words.events;
  const number = "number" as const;
  const seen = (row: EventSummary, text: string) => (row.trials > 0 ? text : NONE);
  return [
    { head: t.event, key: "event", kind: "name", cell: (row) => row.name, raw: (row) => row.name },
    { head: words.cell, key: "cell", cell: (row) => label(row.cell), raw: (row) => row.cell },
    {
      head: t.throughputBefore,
      key: "throughput_before_per_s",
      kind: number,
      cell: (row) => seen(row, rate(row.before.throughput_per_s)),
      raw: (row) => row.before.throughput_per_s,
    },
    {
      head: t.atWorst,
      key: "throughput_worst_per_s",
      kind: number,
      cell: (row) => seen(row, rate(row.worst.throughput_per_s)),
      raw: (row) => row.worst.throughput_per_s,
    },
    {
      head: t.p99Before,
      key: "p99_before_ns",
      kind: number,
      cell: (row) => seen(row, duration(row.before.p99_ns)),
      raw: (row) => row.before.p99_ns,
    },
    {
      head: t.atWorst,
      key: "p99_worst_ns",
      kind: number,
      cell: (row) => seen(row, duration(row.worst.p99_ns)),
      raw: (row) => row.worst.p99_ns,
    },
    {
      head: t.lost,
      key: "requests_lost",
      kind: number,
      cell: (row) => seen(row, t.lostAtMost(count(row.lost), count(row.lost_max))),
      raw: (row) => row.lost,
    },
    {
      head: t.noAnswer,
      key: "unavailable_ns",
      kind: number,
      cell: (row) => (row.unavailable_ns > 0 ? duration(row.unavailable_ns) : NONE),
      raw: (row) => row.unavailable_ns,
    },
    {
      head: t.recovered,
      key: "recovered_ns",
      kind: number,
      cell: (row) => seen(row, recovered(row, words)),
      raw: (row) => row.recovered_ns,
    },
  ];
}
