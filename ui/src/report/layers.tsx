/** What each layer of an ordered factor costs, as a waterfall and a table. */
import { useMemo } from "preact/hooks";
import { WaterfallChart } from "../charts";
import { NONE, difference, differenceInterval, duration, pValue } from "../format";
import type { LayerCost, LayerCosts, LayerMetric } from "../schema/page";
import { fileColumn, intervalColumns } from "../ui/columns";
import { Mark, layerWord } from "../ui/mark";
import { Choose, Footnotes, Notes, useFew } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { type Tell, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Figure, Section, type SectionProps } from "./frame";
import { already } from "../words/said/text";

export function Layers({ page }: SectionProps) {
  const words = useWords();
  const layers = page.analysis.layers ?? [];
  const { shown, isFew, at, choose } = useFew(layers);
  const told = useTold();
  const name = ({ factor, at }: LayerCosts) => words.layers.at(told(factor, "factor"), told(at, "place"));
  return (
    <Section id="layers" title={words.sections.layers} about={words.layers.about}>
      {!isFew && <Choose label={words.layers.where} value={at} choose={choose} options={layers.map(name)} />}
      {shown.map((costs) => (
        <OneFactor key={name(costs)} costs={costs} name={name(costs)} run={page.analysis.run} />
      ))}
    </Section>
  );
}

/** A line of the table: the base, a layer, or all of them. */
type Line = { metric: LayerMetric } & ({ kind: "base" } | { kind: "layer" | "total"; of: LayerCost });

const linesOf = (metrics: LayerMetric[]): Line[] =>
  metrics.flatMap((metric) => [
    { metric, kind: "base" as const },
    ...metric.layers.map((of) => ({ metric, kind: "layer" as const, of })),
    ...(metric.total ? [{ metric, kind: "total" as const, of: metric.total }] : []),
  ]);

const refusedOf = (line: Line) => (line.kind === "base" ? line.metric.base_refused : line.of.refused);

/** A metric with its reasons in the language of the page, for the chart. */
const inWords = (metric: LayerMetric, told: Tell): LayerMetric => ({
  ...metric,
  layers: metric.layers.map((of) => ({ ...of, refused: of.refused && already(told(of.refused)) })),
});

function OneFactor({ costs, name, run }: { costs: LayerCosts; name: string; run: string }) {
  const words = useWords();
  const told = useTold();
  const lines = useMemo(() => linesOf(costs.metrics), [costs]);
  const notes = useMemo(() => new Footnotes(lines.map(refusedOf)), [lines]);
  return (
    <>
      <h3>{name}</h3>
      {costs.metrics.map((metric) => (
        <Figure key={metric.metric} title={words.metrics[metric.metric]}>
          <WaterfallChart metric={inWords(metric, told)} />
        </Figure>
      ))}
      <DataTable
        caption={words.layers.caption}
        file={[run, "layers", costs.factor, costs.at]}
        columns={columns(words, notes)}
        rows={lines}
        group={({ metric }) => words.metrics[metric.metric]}
        groupKey={({ metric }) => metric.metric}
      />
      <Notes notes={notes} />
    </>
  );
}

function columns(words: Words, notes: Footnotes): Column<Line>[] {
  const t = words.layers;
  const of = (line: Line) => (line.kind === "base" ? null : line.of);
  return [
    {
      head: t.layer,
      key: "layer",
      kind: "name",
      cell: (line) =>
        line.kind === "base"
          ? line.metric.base
          : line.kind === "layer"
            ? `+ ${line.of.level}`
            : t.all(line.metric.layers.length),
      raw: (line) => (line.kind === "base" ? line.metric.base : line.of.level),
    },
    fileColumn("kind", (line) => line.kind),
    fileColumn("metric", (line) => line.metric.metric),
    {
      head: t.cost,
      key: "cost_ns",
      kind: "number",
      cell: (line) =>
        line.kind === "base" ? (
          duration(line.metric.base_ns)
        ) : (
          <strong>{difference("nanoseconds", line.of.cost_ns)}</strong>
        ),
      raw: (line) => (line.kind === "base" ? line.metric.base_ns : line.of.cost_ns),
    },
    ...intervalColumns<Line>(words.interval, {
      of: (line) => of(line)?.interval,
      show: (ends) => differenceInterval("nanoseconds", ends),
      none: (line) => (line.kind === "base" ? "" : NONE),
      unit: "_ns",
    }),
    {
      head: words.verdict,
      key: "verdict",
      cell: (line) => (
        <>
          {line.kind === "base" ? (
            <span class="soft">{t.base}</span>
          ) : (
            <Mark word={layerWord(words, line.of.verdict)} />
          )}
          {notes.sign(refusedOf(line))}
        </>
      ),
      raw: (line) => of(line)?.verdict,
    },
    {
      head: words.pHolm,
      key: "p_holm",
      kind: "number",
      cell: (line) => (line.kind === "base" ? "" : pValue(line.of.p_holm)),
      raw: (line) => of(line)?.p_holm,
    },
    {
      head: words.blocks,
      key: "blocks",
      kind: "number",
      cell: (line) => of(line)?.blocks ?? "",
      raw: (line) => of(line)?.blocks,
    },
  ];
}
