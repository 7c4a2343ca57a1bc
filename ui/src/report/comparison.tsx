/**
 * Pairs of targets at the same load: the change in each metric with its interval.
 *
 * Invariant: a verdict stands only where the comparison gives one; what is refused has its reason in a footnote.
 */
import { useMemo, useState } from "preact/hooks";
import { ForestChart } from "../charts";
import {
  NONE,
  change,
  changeInterval,
  changes,
  chosenPercent,
  count,
  difference,
  differenceInterval,
  pValue,
} from "../format";
import type { Comparison as Compared, Metric, RatioOfMeans } from "../schema/page";
import { fileColumn, nameColumn, numberColumn } from "../ui/columns";
import { Mark, verdictWord } from "../ui/mark";
import { usePrinting } from "../ui/lazy";
import { Choose, Fold, Footnotes, Notes } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { Told, glued, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Figure, Section, type SectionProps } from "./frame";
import { KEY_METRICS, type Pair, pairsOf, unitOf } from "./model";
import { PairName } from "./pair";
import { Shifts } from "./shift";
import { type Text, already } from "../words/said/text";

/** A chart of more pairs than this is read by nobody: the first ones are drawn, all are in the table. */
const PAIRS_DRAWN = 8;
/** Paper is patient, but not endless. */
const PAIRS_PRINTED = 40;
/** Reasons beyond these are in the table of all metrics. */
const REASONS_SHOWN = 5;

export function Comparison({ page }: SectionProps) {
  const words = useWords();
  const { comparisons, confidence, margin } = page.analysis;
  const key = useMemo(() => comparisons.filter(({ metric }) => KEY_METRICS.includes(metric)), [comparisons]);
  const pairs = useMemo(() => pairsOf(key), [key]);
  const notes = useMemo(() => new Footnotes(comparisons.map(({ refused }) => refused)), [comparisons]);
  const keyNotes = useMemo(() => new Footnotes(key.map(({ refused }) => refused)), [key]);
  const file = [page.analysis.run, "comparisons"];
  const keyTable = () => (
    <>
      <DataTable
        caption={words.comparison.key}
        file={file}
        columns={keyColumns(words, keyNotes)}
        rows={key}
        group={(row) => <PairName of={row} />}
        groupKey={keyOf}
      />
      <Notes notes={keyNotes} />
    </>
  );
  return (
    <Section
      id="comparison"
      title={words.sections.comparison}
      about={words.comparison.about(chosenPercent(confidence), `±${chosenPercent(margin)}`)}
    >
      {page.analysis.family && (
        <p>
          <Told text={page.analysis.family.text} isSentence />
        </p>
      )}
      <Forests pairs={pairs} margin={margin} />
      <Refused comparisons={key} />
      <Shifts page={page} />
      <Fold title={words.comparison.key}>{keyTable}</Fold>
      <Fold title={words.comparison.all}>
        {() => (
          <>
            <DataTable
              caption={words.comparison.allCaption}
              file={[...file, "all"]}
              columns={allColumns(words, notes)}
              rows={comparisons}
              group={(row) => <PairName of={row} />}
              groupKey={keyOf}
              dense
            />
            <Notes notes={notes} />
          </>
        )}
      </Fold>
    </Section>
  );
}

const keyOf = (row: Compared) => JSON.stringify([row.a, row.b]);

interface Reason {
  why: Text;
  metrics: Set<Metric>;
  /** The pairs for which it holds, by their key. */
  pairs: Map<string, Compared>;
}

/** Each reason once, with the metrics for which it holds, and in which pairs where a metric has several. */
function Refused({ comparisons }: { comparisons: Compared[] }) {
  const words = useWords();
  const reasons = new Map<string, Reason>();
  for (const of of comparisons) {
    if (!of.refused) continue;
    const reason = reasons.get(of.refused.text) ?? { why: of.refused, metrics: new Set(), pairs: new Map() };
    reason.metrics.add(of.metric);
    reason.pairs.set(keyOf(of), of);
    reasons.set(of.refused.text, reason);
  }
  if (reasons.size === 0) return null;
  const isOneOfSeveral = ({ metrics }: Reason) =>
    [...reasons.values()].some(
      (other) => other.metrics !== metrics && [...metrics].some((of) => other.metrics.has(of)),
    );
  return (
    <div class="refusals">
      <p>{words.comparison.refused}</p>
      <ul>
        {[...reasons].slice(0, REASONS_SHOWN).map(([key, reason]) => (
          <li key={key}>
            <b>{[...reason.metrics].map((metric) => words.metrics[metric]).join(words.comma)}</b>
            <Told text={reason.why} isUnbroken />
            {isOneOfSeveral(reason) && <Where pairs={[...reason.pairs.values()]} />}
          </li>
        ))}
        {reasons.size > REASONS_SHOWN && (
          <li class="soft">{words.comparison.moreReasons(reasons.size - REASONS_SHOWN)}</li>
        )}
      </ul>
    </div>
  );
}

/** The first of these pairs by name, and how many more there are. */
function Where({ pairs: [first, ...others] }: { pairs: Compared[] }) {
  const words = useWords();
  if (!first) return null;
  return (
    <span class="refused-in">
      {words.comparison.inPair(first.a_target, first.b_target, others.length)}
      {first.load !== "" && others.length === 0 && (
        <>
          {words.comma}
          <Told text={first.load} as="place" />
        </>
      )}
    </span>
  );
}

/** All pairs where they are few; else those of one load. */
function Forests({ pairs, margin }: { pairs: Pair[]; margin: number }) {
  const words = useWords();
  const told = useTold();
  const loads = useMemo(() => [...new Set(pairs.map(({ load }) => load))], [pairs]);
  const [at, choose] = useState(0);
  const isPrinting = usePrinting();
  const isFew = pairs.length <= PAIRS_DRAWN || loads.length < 2;
  const wanted = useMemo(
    () => (isFew || isPrinting ? pairs : pairs.filter(({ load }) => load === loads[at])),
    [pairs, loads, at, isFew, isPrinting],
  );
  const most = isPrinting ? PAIRS_PRINTED : PAIRS_DRAWN;
  const drawn = useMemo(
    () =>
      wanted
        .slice(0, most)
        .flatMap(({ comparisons }) => comparisons)
        .map((of) => ({
          ...of,
          load: told(of.load, "place"),
          refused: of.refused && already(told(of.refused)),
        })),
    [wanted, most, told],
  );
  return (
    <>
      {!isFew && (
        <Choose
          label={words.load}
          value={at}
          choose={choose}
          options={loads.map((load) => told(load, "place") || words.comparison.differ)}
        />
      )}
      <Figure about={words.comparison.band(`±${chosenPercent(margin)}`)}>
        <ForestChart comparisons={drawn} margin={margin} />
      </Figure>
      {wanted.length > most && <p class="about">{words.comparison.notDrawn(most, wanted.length)}</p>}
    </>
  );
}

const isRatio = (of: Compared) => of.basis !== "difference";

function changed(of: Compared): string {
  if (!isRatio(of)) return difference(unitOf(of.metric), of.difference);
  return of.interval ? changes(of.ratio, of.interval)[0] : change(of.ratio);
}

function changedInterval(of: Compared): string {
  if (of.verdict === "refused") return NONE;
  if (isRatio(of)) return of.interval ? changes(of.ratio, of.interval)[1] : NONE;
  return of.difference_interval ? differenceInterval(unitOf(of.metric), of.difference_interval) : NONE;
}

/** The check by ranks, in the same terms. */
function ranks(of: Compared): string {
  if (typeof of.hodges_lehmann !== "number") return NONE;
  const unit = unitOf(of.metric);
  const ends = of.hodges_lehmann_interval;
  if (isRatio(of)) {
    if (!ends) return `${change(of.hodges_lehmann)} (${NONE})`;
    const [estimate, interval] = changes(of.hodges_lehmann, ends);
    return `${estimate} (${interval})`;
  }
  return `${difference(unit, of.hodges_lehmann)} (${ends ? differenceInterval(unit, ends) : NONE})`;
}

function means(found: RatioOfMeans | null | undefined, words: Words): string {
  if (!found) return NONE;
  const but = found.excluded ? words.comparison.butNot(changeInterval(found.excluded)) : "";
  const [ratio, interval] = changes(found.ratio, found.interval);
  return `${ratio} (${interval}${but})`;
}

function keyColumns(words: Words, notes: Footnotes): Column<Compared>[] {
  return [
    nameColumn(
      words.metric,
      "metric",
      (row) => words.metrics[row.metric],
      (row) => row.metric,
    ),
    {
      head: words.change,
      key: "ratio",
      kind: "number",
      cell: (row) => <strong>{glued(changed(row))}</strong>,
      raw: (row) => row.ratio,
    },
    {
      head: words.interval,
      key: "interval_low",
      kind: "number",
      cell: changedInterval,
      raw: (row) => row.interval?.low,
    },
    fileColumn("interval_high", (row) => row.interval?.high),
    fileColumn("difference", (row) => row.difference),
    fileColumn("difference_low", (row) => row.difference_interval?.low),
    fileColumn("difference_high", (row) => row.difference_interval?.high),
    fileColumn("a", (row) => row.a_target),
    fileColumn("b", (row) => row.b_target),
    fileColumn("load", (row) => row.load),
    fileColumn("refused", (row) => row.refused),
    {
      head: words.verdict,
      key: "verdict",
      cell: (row) => (
        <>
          <Mark word={verdictWord(words, row.verdict, row.metric)} />
          {notes.sign(row.refused)}
        </>
      ),
      raw: (row) => row.verdict,
    },
  ];
}

function allColumns(words: Words, notes: Footnotes): Column<Compared>[] {
  const t = words.comparison;
  return [
    ...keyColumns(words, notes),
    { head: t.ranks, key: "hodges_lehmann", kind: "number", cell: ranks, raw: (row) => row.hodges_lehmann },
    {
      head: t.means,
      key: "ratio_of_means",
      kind: "number",
      cell: (row) => means(row.ratio_of_means, words),
      raw: (row) => row.ratio_of_means?.ratio,
    },
    {
      head: t.bootstrap,
      key: "bootstrap_low",
      kind: "number",
      cell: (row) => (row.bootstrap ? changeInterval(row.bootstrap.interval) : NONE),
      raw: (row) => row.bootstrap?.interval.low,
    },
    fileColumn("bootstrap_high", (row) => row.bootstrap?.interval.high),
    numberColumn(words.pFamily, "p_family", pValue, (row) => row.p_family),
    numberColumn(words.blocks, "blocks", count, (row) => row.blocks),
  ];
}
