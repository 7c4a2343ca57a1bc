/** What happened to the target on purpose, what it cost, and how long recovery took. */
import { type Maybe, NONE, count, duration, rate } from "../format";
import type { EventSummary } from "../schema/page";
import { fileColumn, numberColumn, ownNameColumn } from "../ui/columns";
import { type Column, DataTable } from "../ui/table";
import { Told, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { labels } from "./model";

export function Events({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const { analysis } = page;
  const label = labels(analysis.cells);
  return (
    <Section id="events" title={words.sections.events} about={words.events.about}>
      <DataTable
        caption={words.events.caption}
        file={[analysis.run, "events"]}
        columns={columns(words)}
        rows={analysis.events ?? []}
        group={(row) => (
          <b>
            <Told text={label(row.cell)} as="cell" />
          </b>
        )}
        groupKey={({ cell }) => cell}
        below={({ errors }) => errors.map((error) => words.events.notDone(told(error)))}
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

function columns(words: Words): Column<EventSummary>[] {
  const t = words.events;
  /** A number that only trials which saw the event can give. */
  const seen = (
    head: string,
    key: string,
    show: (value: Maybe) => string,
    of: (row: EventSummary) => Maybe,
  ): Column<EventSummary> => ({
    ...numberColumn(head, key, show, of),
    cell: (row) => (row.trials > 0 ? show(of(row)) : NONE),
  });
  return [
    ownNameColumn(t.event, "event", (row) => row.name),
    fileColumn("cell", (row) => row.cell),
    seen(t.throughputBefore, "throughput_before_per_s", rate, (row) => row.before.throughput_per_s),
    seen(t.atWorst, "throughput_worst_per_s", rate, (row) => row.worst.throughput_per_s),
    seen(t.p99Before, "p99_before_ns", duration, (row) => row.before.p99_ns),
    seen(t.atWorst, "p99_worst_ns", duration, (row) => row.worst.p99_ns),
    {
      head: t.lost,
      key: "requests_lost",
      kind: "number",
      cell: (row) => (row.trials > 0 ? t.lostAtMost(count(row.lost), count(row.lost_max)) : NONE),
      raw: (row) => row.lost,
    },
    {
      head: t.noAnswer,
      key: "unavailable_ns",
      kind: "number",
      cell: (row) => (row.unavailable_ns > 0 ? duration(row.unavailable_ns) : NONE),
      raw: (row) => row.unavailable_ns,
    },
    {
      head: t.recovered,
      key: "recovered_ns",
      kind: "number",
      cell: (row) => (row.trials > 0 ? recovered(row, words) : NONE),
      raw: (row) => row.recovered_ns,
    },
  ];
}
