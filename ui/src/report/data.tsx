/**
 * The tables behind everything: cells, trials, the spread by level, limits.
 *
 * Invariant: each can be had as CSV with raw values.
 */
import { useMemo } from "preact/hooks";
import { NONE, count, duration, interval, percent, value } from "../format";
import type { CellSummary, Metric, MetricSummary, ThrottlingSummary, TrialRow } from "../schema/page";
import {
  fileColumn,
  markColumn,
  numberColumn,
  ownNameColumn,
  textColumn,
  toldNameColumn,
} from "../ui/columns";
import { outcomeWord } from "../ui/mark";
import { Fold, Footnotes, Notes } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { Told } from "../ui/told";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { KEY_METRICS, labels, unitOf } from "./model";

export function Data({ page }: SectionProps) {
  const words = useWords();
  const t = words.data;
  const { analysis } = page;
  const { run, cells } = analysis;
  const label = labels(cells);
  const notes = useMemo(() => new Footnotes(cells.flatMap(refusalsOf)), [cells]);
  const levels = cells.filter(({ levels }) => levels);
  const limits = cells.filter(({ limits }) => limits);
  return (
    <Section id="data" title={words.sections.data} about={t.about}>
      <DataTable caption={t.cells} file={[run, "cells"]} columns={cellColumns(words, notes)} rows={cells} />
      <Notes notes={notes} />
      <Fold title={t.usual}>
        {() => (
          <>
            <p class="about">{t.usualAbout}</p>
            <DataTable caption={t.usual} file={[run, "usual"]} columns={usualColumns(words)} rows={cells} />
          </>
        )}
      </Fold>
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

export const refusalsOf = ({ metrics }: CellSummary) =>
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

const SUFFIX = {
  per_second: "_per_s",
  nanoseconds: "_ns",
  share: "",
  bytes: "_bytes",
  count: "",
  bytes_per_second: "_bytes_per_s",
} as const;

const keyOf = (metric: Metric) => `${metric}${SUFFIX[unitOf(metric)]}`;

/** The key metrics of a cell, each with its interval. */
export const keyColumns = (words: Words, notes: Footnotes): Column<CellSummary>[] =>
  KEY_METRICS.flatMap((metric): Column<CellSummary>[] => [
    {
      head: words.metrics[metric],
      key: keyOf(metric),
      kind: "number",
      cell: (row) => <CellValue summary={summaryOf(row, metric)} notes={notes} />,
      raw: (row) => summaryOf(row, metric)?.center,
    },
    fileColumn(`${keyOf(metric)}_low`, (row) => summaryOf(row, metric)?.interval?.low),
    fileColumn(`${keyOf(metric)}_high`, (row) => summaryOf(row, metric)?.interval?.high),
  ]);

const cellColumns = (words: Words, notes: Footnotes): Column<CellSummary>[] => [
  fileColumn("id", (row) => row.cell),
  toldNameColumn(words.cell, "cell", (row) => row.label, "cell"),
  ...keyColumns(words, notes),
  ...OTHERS.map((metric): Column<CellSummary> =>
    fileColumn(keyOf(metric), (row) => summaryOf(row, metric)?.center),
  ),
  numberColumn(words.data.coldStart, "cold_start_ns", duration, (row) => row.cold_start_ns),
  {
    head: words.trials,
    key: "trials_valid",
    kind: "number",
    cell: (row) => words.data.outcomes(row.trials_valid, row.trials_void, row.trials_failed),
    raw: (row) => row.trials_valid,
  },
  fileColumn("trials_void", (row) => row.trials_void),
  fileColumn("trials_failed", (row) => row.trials_failed),
];

/** As load tools print a cell: no intervals, and what is never compared. */
const usualColumns = (words: Words): Column<CellSummary>[] => {
  const center = (metric: Metric): Column<CellSummary> =>
    numberColumn(
      words.metrics[metric],
      keyOf(metric),
      (n) => value(unitOf(metric), n),
      (row) => summaryOf(row, metric)?.center,
    );
  return [
    toldNameColumn(words.cell, "cell", (row) => row.label, "cell"),
    ...(["throughput", "mean", "p50", "p90", "p95", "p99"] as const).map(center),
    numberColumn(words.data.max, "max_ns", duration, ({ extremes }) => extremes?.max_ns),
    numberColumn(words.data.cpu, "cpu", percent, ({ extremes }) => extremes?.cpu),
    numberColumn(words.data.cpuPeak, "cpu_peak", percent, ({ extremes }) => extremes?.cpu_peak),
    center("error_rate"),
  ];
};

const valueOf = (row: TrialRow, metric: Metric) => row.values.find((of) => of.metric === metric)?.value;

const trialColumns = (label: (cell: string) => string, words: Words): Column<TrialRow>[] => {
  const t = words.data;
  const shown = (metric: Metric): Column<TrialRow> =>
    numberColumn(
      words.metrics[metric],
      keyOf(metric),
      (n) => value(unitOf(metric), n),
      (row) => valueOf(row, metric),
    );
  return [
    ownNameColumn(words.trial, "trial", (row) => row.id),
    numberColumn(t.block, "block", count, (row) => row.block),
    {
      head: words.cell,
      key: "cell",
      cell: (row) => <Told text={label(row.cell)} as="cell" />,
      raw: (row) => label(row.cell),
    },
    fileColumn("cell_id", (row) => row.cell),
    markColumn(
      t.outcome,
      "outcome",
      (row) => outcomeWord(words, row.outcome),
      (row) => row.outcome,
    ),
    { head: t.window, key: "window", cell: (row) => steady(row, words), raw: (row) => row.steadiness?.class },
    ...(["throughput", "p50", "p99"] as const).map(shown),
    ...(["error_rate", "cpu_per_request", "memory", ...OTHERS] as const).map((metric) =>
      fileColumn<TrialRow>(keyOf(metric), (row) => valueOf(row, metric)),
    ),
    numberColumn(t.scheduled, "scheduled", count, (row) => row.scheduled),
    numberColumn(t.completed, "completed", count, (row) => row.completed),
    numberColumn(t.failed, "failed", count, (row) => row.failed),
    numberColumn(t.censored, "censored", count, (row) => row.censored),
  ];
};

function steady(row: TrialRow, words: Words): string {
  if (!row.steadiness) return NONE;
  return row.steadiness.class ? words.data.steady[row.steadiness.class] : words.data.cannotBeTold;
}

const levelColumns = (words: Words): Column<CellSummary>[] => {
  const t = words.data;
  return [
    toldNameColumn(words.cell, "cell", (row) => row.label, "cell"),
    {
      head: words.metric,
      key: "metric",
      cell: ({ levels }) => words.metrics[levels!.metric],
      raw: ({ levels }) => levels!.metric,
    },
    {
      head: t.trialsSamples,
      key: "trials",
      kind: "number",
      cell: ({ levels }) => `${levels!.trials} × ${levels!.samples}`,
      raw: ({ levels }) => levels!.trials,
    },
    fileColumn("samples", ({ levels }) => levels!.samples),
    numberColumn(t.betweenSamples, "sample_cv", percent, ({ levels }) => levels!.sample_cv),
    {
      head: t.betweenTrials,
      key: "trial_cv",
      kind: "number",
      cell: ({ levels }) => (levels!.clipped ? t.clipped : percent(levels!.trial_cv)),
      raw: ({ levels }) => levels!.trial_cv,
    },
    numberColumn(t.trialShare, "trial_share", percent, ({ levels }) => levels!.trial_share),
    numberColumn(t.samplesBest, "samples_best", count, ({ levels }) => levels!.samples_best),
  ];
};

const throttled = (seen: ThrottlingSummary | null | undefined, words: Words): string => {
  if (!seen) return NONE;
  if (seen.share === 0) return words.data.neverThrottled;
  return words.data.throttled(percent(seen.share), duration(seen.throttled_ns));
};

const limitColumns = (words: Words): Column<CellSummary>[] => [
  toldNameColumn(words.cell, "cell", (row) => row.label, "cell"),
  textColumn(words.data.limit, "limits", (row) => row.limits, NONE, "limits"),
  {
    head: words.data.quota,
    key: "throttled_share",
    kind: "text",
    cell: (row) => throttled(row.throttling, words),
    raw: (row) => row.throttling?.share,
  },
];
