/**
 * Messages on streams: the ledger of each cell, beside that of the streams that carry them, and their times.
 *
 * Absent on purpose: comparisons. A claim that names a metric of messages stands among the claims.
 */
import { type Maybe, count, value } from "../format";
import type { CellMessages, CellSummary, Metric } from "../schema/page";
import { numberColumn, toldNameColumn } from "../ui/columns";
import { type Column, DataTable } from "../ui/table";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { unitOf } from "./model";

export const hasMessages = ({ page }: SectionProps): boolean => streamed(page.analysis.cells).length > 0;

const streamed = (cells: CellSummary[]) => cells.filter(({ messages }) => messages);

export function Messages({ page }: SectionProps) {
  const words = useWords();
  return (
    <Section id="messages" title={words.sections.messages} about={words.messages.about}>
      <DataTable
        caption={words.messages.caption}
        file={[page.analysis.run, "messages"]}
        columns={columns(words)}
        rows={streamed(page.analysis.cells)}
      />
    </Section>
  );
}

const columns = (words: Words): Column<CellSummary>[] => {
  const ledger = (head: string, key: "scheduled" | "completed" | "failed" | "unanswered" | "censored") =>
    numberColumn<CellSummary>(head, key, count, ({ messages }) => messages?.[key]);
  const metric = (metric: Metric, key: string, of: (messages: CellMessages) => Maybe) =>
    numberColumn<CellSummary>(
      words.metrics[metric],
      key,
      (n) => value(unitOf(metric), n),
      ({ messages }) => (messages ? of(messages) : undefined),
    );
  return [
    toldNameColumn(words.cell, "cell", (row) => row.label, "cell"),
    ledger(words.data.scheduled, "scheduled"),
    ledger(words.data.completed, "completed"),
    ledger(words.data.failed, "failed"),
    ledger(words.messages.unanswered, "unanswered"),
    ledger(words.data.censored, "censored"),
    metric("messages_completed", "completed_per_s", (of) => of.completed_per_s),
    metric("messages_received", "received_per_s", (of) => of.received_per_s),
    metric("stream_length", "per_stream", (of) => of.per_stream),
    metric("message_p50", "response_p50_ns", (of) => of.response_p50_ns),
    metric("message_p99", "response_p99_ns", (of) => of.response_p99_ns),
    metric("first_message_p50", "first_message_p50_ns", (of) => of.first_message_p50_ns),
    metric("first_message_p99", "first_message_p99_ns", (of) => of.first_message_p99_ns),
    metric("message_gap_p99", "gap_p99_ns", (of) => of.gap_p99_ns),
  ];
};
