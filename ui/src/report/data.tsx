/**
 * The tables behind everything: cells, trials, the spread by level, limits.
 *
 * Invariant: each can be had as CSV with raw values.
 */
import { useMemo } from "preact/hooks";
import { NONE, count, duration, interval, percent, value } from "../format";
import type { CellSummary, Metric, MetricSummary, ThrottlingSummary, TrialRow } from "../schema/page";
import { Mark, outcomeWord } from "../ui/mark";
import { Fold, Footnotes, Notes } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { KEY_METRICS, labels, unitOf } from "./model";

export function Data({ page }: SectionProps) {
  const words = useWords();
  const t = words.data;
  const { analysis } = page;
  const { run, cells } = analysis;
  const label = labels(cells);
  const notes = useMemo(() => new Footnotes(cells.flatMap(refusals)), [cells]);
  const levels = cells.filter(({ levels }) => levels);
  const limits = cells.filter(({ limits }) => limits);
  return (
    <Section id="data" title={words.sections.data} about={t.about}>
      <DataTable caption={t.cells} file={[run, "cells"]} columns={cellColumns(words, notes)} rows={cells} />
      <Notes notes={notes} />
      {limits.length > 0 && (
        <DataTable caption={t.limits} file={[run, "limits"]} columns={limitColumns(words)} rows={limits} />
      )}
      {levels.length > 0 && (
        <Fold title={t.levels}>
          {() => (
            <>
              <p class="about">{t.levelsAbout}</p>
              <DataTable
                caption={t.levels}
                file={[run, "levels"]}
                columns={levelColumns(words)}
                rows={levels}
              />
            </>
          )}
        </Fold>
      )}
      <DataTable
        caption={t.trials}
        file={[run, "trials"]}
        columns={trialColumns(label, words)}
        rows={analysis.trials}
        below={({ reasons }) => reasons}
        isQuiet={({ outcome }) => outcome !== "valid"}
        dense
      />
    </Section>
  );
}

/** No error in any trial needs no excuse for having no interval. */
const isClean = ({ metric, center }: MetricSummary) => metric === "error_rate" && center === 0;

const refusedOf = (summary: MetricSummary) => (isClean(summary) ? null : summary.refused);

const refusals = ({ metrics }: CellSummary) =>
  metrics.filter(({ metric }) => KEY_METRICS.includes(metric)).map(refusedOf);

const summaryOf = (cell: CellSummary, metric: Metric) => cell.metrics.find((of) => of.metric === metric);

function CellValue({ summary, notes }: { summary: MetricSummary | undefined; notes: Footnotes }) {
  if (!summary) return <>{NONE}</>;
  return (
    <>
      {value(summary.unit, summary.center)}
      {notes.sign(refusedOf(summary))}
      {summary.interval && <span class="sub">{interval(summary.unit, summary.interval)}</span>}
    </>
  );
}

/** Metrics of the file that are not among those shown. */
const OTHERS: Metric[] = ["mean", "p90", "p95", "p999", "alloc_per_request"];

const SUFFIX = { per_second: "_per_s", nanoseconds: "_ns", share: "", bytes: "_bytes" } as const;

const keyOf = (metric: Metric) => `${metric}${SUFFIX[unitOf(metric)]}`;

const cellColumns = (words: Words, notes: Footnotes): Column<CellSummary>[] => [
  { key: "id", raw: (row) => row.cell },
  { head: words.cell, key: "cell", kind: "name", cell: (row) => row.label, raw: (row) => row.label },
  ...KEY_METRICS.flatMap((metric): Column<CellSummary>[] => [
    {
      head: words.metrics[metric],
      key: keyOf(metric),
      kind: "number",
      cell: (row) => <CellValue summary={summaryOf(row, metric)} notes={notes} />,
      raw: (row) => summaryOf(row, metric)?.center,
    },
    { key: `${keyOf(metric)}_low`, raw: (row) => summaryOf(row, metric)?.interval?.low },
    { key: `${keyOf(metric)}_high`, raw: (row) => summaryOf(row, metric)?.interval?.high },
  ]),
  ...OTHERS.map((metric): Column<CellSummary> => ({
    key: keyOf(metric),
    raw: (row) => summaryOf(row, metric)?.center,
  })),
  {
    head: words.data.coldStart,
    key: "cold_start_ns",
    kind: "number",
    cell: (row) => duration(row.cold_start_ns),
    raw: (row) => row.cold_start_ns,
  },
  {
    head: words.trials,
    key: "trials_valid",
    kind: "number",
    cell: (row) => words.data.outcomes(row.trials_valid, row.trials_void, row.trials_failed),
    raw: (row) => row.trials_valid,
  },
  { key: "trials_void", raw: (row) => row.trials_void },
  { key: "trials_failed", raw: (row) => row.trials_failed },
];

const valueOf = (row: TrialRow, metric: Metric) => row.values.find((of) => of.metric === metric)?.value;

const trialColumns = (label: (cell: string) => string, words: Words): Column<TrialRow>[] => {
  const t = words.data;
  const number = "number" as const;
  const counted = (
    head: string,
    key: "scheduled" | "completed" | "failed" | "censored",
  ): Column<TrialRow> => ({
    head,
    key,
    kind: number,
    cell: (row) => count(row[key]),
    raw: (row) => row[key],
  });
  const metric = (metric: Metric, isShown: boolean): Column<TrialRow> => ({
    ...(isShown && {
      head: words.metrics[metric],
      cell: (row: TrialRow) => value(unitOf(metric), valueOf(row, metric)),
    }),
    key: keyOf(metric),
    kind: number,
    raw: (row) => valueOf(row, metric),
  });
  return [
    { head: words.trial, key: "trial", kind: "name", cell: (row) => row.id, raw: (row) => row.id },
    { head: t.block, key: "block", kind: number, cell: (row) => row.block, raw: (row) => row.block },
    { head: words.cell, key: "cell", cell: (row) => label(row.cell), raw: (row) => label(row.cell) },
    { key: "cell_id", raw: (row) => row.cell },
    {
      head: t.outcome,
      key: "outcome",
      cell: (row) => <Mark word={outcomeWord(words, row.outcome)} />,
      raw: (row) => row.outcome,
    },
    { head: t.window, key: "window", cell: (row) => steady(row, words), raw: (row) => row.steadiness?.class },
    ...(["throughput", "p50", "p99"] as const).map((of) => metric(of, true)),
    ...(["error_rate", "cpu_per_request", "memory", ...OTHERS] as const).map((of) => metric(of, false)),
    counted(t.scheduled, "scheduled"),
    counted(t.completed, "completed"),
    counted(t.failed, "failed"),
    counted(t.censored, "censored"),
  ];
};

function steady(row: TrialRow, words: Words): string {
  if (!row.steadiness) return NONE;
  return row.steadiness.class ? words.data.steady[row.steadiness.class] : words.data.cannotBeTold;
}

const levelColumns = (words: Words): Column<CellSummary>[] => {
  const t = words.data;
  const number = "number" as const;
  return [
    { head: words.cell, key: "cell", kind: "name", cell: (row) => row.label, raw: (row) => row.label },
    {
      head: words.metric,
      key: "metric",
      cell: ({ levels }) => words.metrics[levels!.metric],
      raw: ({ levels }) => levels!.metric,
    },
    {
      head: t.trialsSamples,
      key: "trials",
      kind: number,
      cell: ({ levels }) => `${levels!.trials} × ${levels!.samples}`,
      raw: ({ levels }) => levels!.trials,
    },
    { key: "samples", raw: ({ levels }) => levels!.samples },
    {
      head: t.betweenSamples,
      key: "sample_cv",
      kind: number,
      cell: ({ levels }) => percent(levels!.sample_cv),
      raw: ({ levels }) => levels!.sample_cv,
    },
    {
      head: t.betweenTrials,
      key: "trial_cv",
      kind: number,
      cell: ({ levels }) => (levels!.clipped ? t.clipped : percent(levels!.trial_cv)),
      raw: ({ levels }) => levels!.trial_cv,
    },
    {
      head: t.trialShare,
      key: "trial_share",
      kind: number,
      cell: ({ levels }) => percent(levels!.trial_share),
      raw: ({ levels }) => levels!.trial_share,
    },
    {
      head: t.samplesBest,
      key: "samples_best",
      kind: number,
      cell: ({ levels }) => count(levels!.samples_best),
      raw: ({ levels }) => levels!.samples_best,
    },
  ];
};

const throttled = (seen: ThrottlingSummary | null | undefined, words: Words): string => {
  if (!seen) return NONE;
  if (seen.share === 0) return words.data.neverThrottled;
  return words.data.throttled(percent(seen.share), duration(seen.throttled_ns));
};

const limitColumns = (words: Words): Column<CellSummary>[] => [
  { head: words.cell, key: "cell", kind: "name", cell: (row) => row.label, raw: (row) => row.label },
  {
    head: words.data.limit,
    key: "limits",
    kind: "text",
    cell: (row) => row.limits,
    raw: (row) => row.limits,
  },
  {
    head: words.data.quota,
    key: "throttled_share",
    kind: "text",
    cell: (row) => throttled(row.throttling, words),
    raw: (row) => row.throttling?.share,
  },
];
