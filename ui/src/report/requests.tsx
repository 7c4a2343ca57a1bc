/**
 * The slowest requests and the first failures of each cell, and where the time of some went by the target's spans.
 *
 * Invariants: names of requests, spans and services are text and cut, whatever a target sends; each cell is folded away.
 * Absent on purpose: comparing moments of two hosts. Lengths of spans are all that is known of them.
 */
import { NONE, count, duration, percent } from "../format";
import type { CellNotable, CellSummary, RequestSpans, SpanTime, TrialRequest } from "../schema/page";
import { fileColumn, nameColumn, numberColumn } from "../ui/columns";
import { Fold } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { Told } from "../ui/told";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";

export const hasRequests = ({ page }: SectionProps): boolean => listing(page.analysis.cells).length > 0;

const listing = (cells: CellSummary[]) => cells.filter((cell) => listed(cell.notable).length > 0);

/** The lists in the order of reading. */
const LISTS = ["slowest", "slowest_sampled", "failures", "failures_sampled"] as const;

export interface Listed extends TrialRequest {
  list: (typeof LISTS)[number];
}

/** The requests of all lists, each with its list. */
export const listed = (of: CellNotable | undefined): Listed[] =>
  LISTS.flatMap((list) => (of?.[list] ?? []).map((one) => ({ ...one, list })));

export function Requests({ page }: SectionProps) {
  const words = useWords();
  return (
    <Section id="requests" title={words.sections.requests} about={words.requests.about}>
      {listing(page.analysis.cells).map((cell) => (
        <Fold key={cell.cell} title={<Told text={cell.label} as="cell" />}>
          {() => <OfCell cell={cell} run={page.analysis.run} />}
        </Fold>
      ))}
    </Section>
  );
}

function OfCell({ cell, run }: { cell: CellSummary; run: string }) {
  const words = useWords();
  const t = words.requests;
  const rows = listed(cell.notable);
  const hasTraces = rows.some(({ request }) => request.trace);
  return (
    <>
      <DataTable
        caption={t.caption}
        file={[run, "requests", cell.cell]}
        columns={[...columns(words), ...(hasTraces ? traceColumns(words) : [])]}
        rows={rows}
        group={({ list }) => t.lists[list]}
        groupKey={({ list }) => list}
      />
      {(cell.spans ?? []).length > 0 && <p class="about">{t.spansAbout}</p>}
      {cell.spans?.map((spans) => (
        <Spans key={`${spans.trial} ${spans.request.request}`} spans={spans} run={run} />
      ))}
    </>
  );
}

const columns = (words: Words): Column<Listed>[] => {
  const t = words.requests;
  return [
    nameColumn(
      t.request,
      "name",
      ({ request }) => cut(request.name),
      ({ request }) => request.name,
    ),
    fileColumn("list", ({ list }) => list),
    numberColumn(words.trial, "trial", count, ({ trial }) => trial),
    numberColumn(t.number, "request", count, ({ request }) => request.request),
    numberColumn(t.response, "response_ns", duration, ({ request }) => request.response_ns),
    numberColumn(t.waited, "wait_ns", duration, ({ request }) => request.wait_ns),
    { head: t.ended, key: "ended", cell: ended, raw: ended },
  ];
};

/** The class of a failure by its key, as files and `prony load` name it; else the status. */
const ended = ({ request: { error, status } }: Listed): string => error ?? (status ? String(status) : NONE);

const traceColumns = (words: Words): Column<Listed>[] => {
  const t = words.requests;
  return [
    {
      head: t.sampled,
      key: "sampled",
      cell: ({ request: { trace } }) => (trace ? (trace.sampled ? t.yes : t.no) : NONE),
      raw: ({ request: { trace } }) => trace && String(trace.sampled),
    },
    {
      head: t.trace,
      key: "trace_id",
      cell: ({ request: { trace } }) => (trace ? <code>{cut(trace.trace_id)}</code> : NONE),
      raw: ({ request: { trace } }) => trace?.trace_id,
    },
  ];
};

function Spans({ spans, run }: { spans: RequestSpans; run: string }) {
  const words = useWords();
  const t = words.requests;
  const { name, request, response_ns } = spans.request;
  const left = spans.spans_left_out ?? 0;
  return (
    <>
      <DataTable
        caption={t.spansOf(
          cut(name),
          String(request),
          String(spans.trial),
          duration(response_ns),
          duration(spans.outside_ns),
        )}
        file={[run, "spans", String(spans.trial), String(request)]}
        columns={spanColumns(words)}
        rows={spans.spans}
        dense
      />
      {left > 0 && <p class="about">{t.more(left)}</p>}
    </>
  );
}

/** Levels that are indented. */
const DEPTH_SHOWN = 8;

const spanColumns = (words: Words): Column<SpanTime>[] => {
  const t = words.requests;
  return [
    nameColumn(
      t.span,
      "span",
      ({ name, depth }) => "\u00a0\u00a0".repeat(Math.min(depth, DEPTH_SHOWN)) + cut(name),
      ({ name }) => name,
    ),
    fileColumn("depth", ({ depth }) => depth),
    {
      head: t.service,
      key: "service",
      cell: ({ service }) => cut(service, 24),
      raw: ({ service }) => service,
    },
    numberColumn(t.lasted, "duration_ns", duration, ({ duration_ns }) => duration_ns),
    numberColumn(t.itself, "self_ns", duration, ({ self_ns }) => self_ns),
    numberColumn(t.share, "self_share", percent, ({ self_share }) => self_share),
  ];
};

/** At most `most` characters, the last one `…` where text was cut off, as `crates/report/src/clean.rs` does. */
export function cut(text: string, most = 40): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : characters.slice(0, most - 1).join("") + "…";
}
