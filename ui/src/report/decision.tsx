/**
 * Which option under which load: read off the comparisons, with "no difference shown" as an answer.
 *
 * Invariant: an option stands alone only where it was shown to be better than each other one (`model.choose`).
 */
import { useMemo } from "preact/hooks";
import type { Metric } from "../schema/page";
import { toldNameColumn } from "../ui/columns";
import { type Column, DataTable } from "../ui/table";
import { Footnotes, Notes } from "../ui/parts";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { type Choice, KEY_METRICS, type Workload, workloads } from "./model";
import { english } from "../words/said/text";

export const hasDecision = ({ page }: SectionProps): boolean =>
  page.analysis.comparisons.some(({ load }) => load !== "");

export function Decision({ page }: SectionProps) {
  const words = useWords();
  const rows = useMemo(() => workloads(page), [page]);
  const metrics = KEY_METRICS.filter((metric) => rows.some(({ choices }) => choices.has(metric)));
  const notes = useMemo(
    () =>
      new Footnotes(
        rows.flatMap(({ choices }) => KEY_METRICS.map((metric) => reasonOf(choices.get(metric)))),
      ),
    [rows],
  );
  return (
    <Section id="decision" title={words.sections.decision} about={words.decision.about}>
      <DataTable
        caption={words.decision.caption}
        file={[page.analysis.run, "decision"]}
        columns={[
          toldNameColumn<Workload>(words.decision.workload, "workload", ({ load }) => load, "place"),
          ...metrics.map((metric) => column(metric, words, notes)),
        ]}
        rows={rows}
      />
      <Notes notes={notes} />
    </Section>
  );
}

const reasonOf = (choice: Choice | undefined) => (choice?.kind === "untold" ? choice.reason : null);

const column = (metric: Metric, words: Words, notes: Footnotes): Column<Workload> => ({
  head: words.decision.best[metric] ?? words.metrics[metric],
  key: metric,
  kind: "text",
  cell: ({ choices }) => <Cell choice={choices.get(metric)} notes={notes} />,
  raw: ({ choices }) => plainText(choices.get(metric)),
});

function Cell({ choice, notes }: { choice: Choice | undefined; notes: Footnotes }) {
  const t = useWords().decision;
  switch (choice?.kind) {
    case undefined:
      return <span class="soft">{t.notCompared}</span>;
    case "best":
      return (
        <span class="best">
          <span aria-hidden="true">★ </span>
          <b>{choice.option}</b>
        </span>
      );
    case "among":
      return (
        <>
          {choice.options.join(t.or)} <span class="sub">{t.among}</span>
        </>
      );
    case "none":
      return <span class="soft">{choice.equivalent ? t.equivalent : t.noDifference}</span>;
    case "untold":
      return (
        <span class="soft">
          {t.untold}
          {notes.sign(choice.reason)}
        </span>
      );
  }
}

/** The same for a file, in English. */
function plainText(choice: Choice | undefined): string {
  switch (choice?.kind) {
    case undefined:
      return "";
    case "best":
      return choice.option;
    case "among":
      return `not shown to differ: ${choice.options.join(" | ")}`;
    case "none":
      return choice.equivalent ? "equivalent" : "no difference shown";
    case "untold":
      return `refused: ${english(choice.reason)}`;
  }
}
