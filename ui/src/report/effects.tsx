/** What each factor does, over all levels of the others, and how two of them act together. */
import { useMemo } from "preact/hooks";
import { change, changeInterval, count, pValue } from "../format";
import type { Effect, EffectLevel, Effects as All } from "../schema/page";
import { fileColumn, intervalColumns, nameColumn, numberColumn } from "../ui/columns";
import { Mark, shownWord } from "../ui/mark";
import { Footnotes, Notes, Refusal } from "../ui/parts";
import { type Column, DataTable, Facts } from "../ui/table";
import { type Tell, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { type Text, english } from "../words/said/text";

export function Effects({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const effects = page.analysis.effects!;
  const notes = useMemo(() => new Footnotes(effects.effects.map(({ refused }) => refused)), [effects]);
  return (
    <Section id="factors" title={words.sections.factors} about={words.effects.about}>
      <Facts rows={effects.factors.map(({ name, levels }) => [name, levels.join(", ")])} />
      {effects.refused && <Refusal>{effects.refused}</Refusal>}
      {effects.effects.length > 0 && (
        <DataTable
          caption={words.effects.caption}
          file={[page.analysis.run, "effects"]}
          columns={columns(words, notes, told)}
          rows={effects.effects}
          group={(row) => words.metrics[row.metric]}
          groupKey={(row) => row.metric}
          isQuiet={(row) => !row.shown}
        />
      )}
      {refusals(effects, words).map(([metrics, why]) => (
        <Refusal key={english(why)} what={metrics}>
          {why}
        </Refusal>
      ))}
      <Notes notes={notes} />
    </Section>
  );
}

/** Each reason once, with the metrics it holds for. */
function refusals(effects: All, words: Words): [string, Text][] {
  const reasons = new Map<string, { why: Text; metrics: string[] }>();
  for (const [metric, why] of Object.entries(effects.metrics_refused ?? {})) {
    if (why === undefined) continue;
    const name = (words.metrics as Record<string, string>)[metric] ?? metric;
    const reason = reasons.get(why.text) ?? { why, metrics: [] };
    reasons.set(why.text, { why, metrics: [...reason.metrics, name] });
  }
  return [...reasons.values()].map(({ why, metrics }) => [metrics.join(", "), why]);
}

const columns = (words: Words, notes: Footnotes, told: Tell): Column<Effect>[] => [
  nameColumn(
    words.effects.effect,
    "effect",
    (row) => row.of.map((level) => step(level, words, told)).join(" × "),
    (row) => row.of.map(({ factor, level, against }) => `${factor} ${level} against ${against}`).join(" × "),
  ),
  numberColumn(words.change, "ratio", change, (row) => row.ratio),
  ...intervalColumns<Effect>(words.interval, { of: (row) => row.interval, show: changeInterval }),
  fileColumn("metric", (row) => row.metric),
  {
    head: words.verdict,
    key: "shown",
    cell: (row) => (
      <>
        <Mark word={shownWord(words, row.shown)} />
        {notes.sign(row.refused)}
      </>
    ),
    raw: (row) => row.shown,
  },
  numberColumn(words.pHolm, "p_holm", pValue, (row) => row.p_holm),
  numberColumn(words.blocks, "blocks", count, (row) => row.blocks),
];

const step = ({ factor, level, against }: EffectLevel, words: Words, told: Tell) =>
  `${told(factor, "factor")} ${told(level, "level")} ${words.against} ${told(against, "level")}`;
