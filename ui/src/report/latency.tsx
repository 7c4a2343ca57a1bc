/**
 * Response times: percentile curves, distribution, and the value of every trial.
 *
 * Invariants: one chart holds one load; each trial is a point of its own, void ones too; of the many loads of one
 * target, as a search tries them, a few stand out and the others stand back, and a table has them all.
 */
import { useMemo, useState } from "preact/hooks";
import {
  type Binned,
  CdfChart,
  type Curve,
  HistogramChart,
  PartsChart,
  PercentilesChart,
  StripsChart,
  withinTarget,
} from "../charts";
import { duration, quantile } from "../format";
import type { CellSummary, Metric, PageFile } from "../schema/page";
import { numberColumn, ownNameColumn } from "../ui/columns";
import { Choose, Fold, useFew } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { type Tell, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Note } from "./belief";
import { Figure, Section, type SectionProps } from "./frame";
import { CURVES_MOST, standOut } from "./model";
import { already } from "../words/said/text";

/** More curves than this in one figure cannot be distinguished. */
const CHARTS_AT_ONCE = 3;
const STRIPS: Metric[] = [
  "throughput",
  "mean",
  "p50",
  "p99",
  "p999",
  "error_rate",
  "cpu_per_request",
  "memory",
];

interface Group {
  name: string;
  curves: {
    name: string;
    index: number;
    cell: string;
    curve: CellSummary["curve"];
    histogram: NonNullable<CellSummary["histogram"]>;
  }[];
}

/** Targets are held against each other under one load; of a single target, its loads are. */
export function groupsOf(cells: CellSummary[]): Group[] {
  const targets = [...new Set(cells.map(({ target }) => target))];
  const drawn = cells.filter(({ curve }) => curve.length > 1);
  if (targets.length < 2) {
    return drawn.length === 0
      ? []
      : [
          {
            name: targets[0]!,
            curves: drawn.map((of, index) => ({
              name: withinTarget(of),
              index,
              cell: of.cell,
              curve: of.curve,
              histogram: of.histogram ?? [],
            })),
          },
        ];
  }
  const groups = new Map<string, Group>();
  for (const cell of drawn) {
    const { target, curve, cell: id, histogram = [] } = cell;
    const name = withinTarget(cell);
    const group = groups.get(name) ?? { name, curves: [] };
    group.curves.push({ name: target, index: targets.indexOf(target), cell: id, curve, histogram });
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** Whether each curve has a mark of its own. */
const isApart = (curves: Group["curves"]) => new Set(curves.map(({ index }) => index)).size === curves.length;

/** The names of loads in the language of the page; those of targets stay. */
const toldOf =
  (told: Tell) =>
  ({ name, curves }: Group, _: number, { length }: Group[]): Group => {
    const isOfLoads = length === 1 && isApart(curves);
    const names = isOfLoads ? curves.map((of) => ({ ...of, name: told(of.name, "place") })) : curves;
    return { name: told(name, "place"), curves: names };
  };

export function Latency({ page }: SectionProps) {
  const words = useWords();
  const { analysis } = page;
  const told = useTold();
  const groups = useMemo(() => groupsOf(analysis.cells).map(toldOf(told)), [analysis, told]);
  const { shown, isFew, at, choose } = useFew(groups, CHARTS_AT_ONCE);
  return (
    <Section id="latency" title={words.sections.latency} about={words.latency.about}>
      {!isFew && (
        <Choose label={words.load} value={at} choose={choose} options={groups.map(({ name }) => name)} />
      )}
      {shown.map((group) => (
        <Curves key={group.name} group={group} page={page} />
      ))}
      <Parts page={page} />
      <Strips page={page} />
    </Section>
  );
}

/** The curves with those that stand back marked, and the others renumbered so that their marks differ. */
function backed(curves: Group["curves"], apart: Set<string>): (Curve & Binned)[] {
  const order = curves.filter(({ cell }) => apart.has(cell));
  return curves.map((of) => {
    const at = order.indexOf(of);
    return at < 0 ? { ...of, isFaint: true } : { ...of, index: at };
  });
}

function Curves({ group, page }: { group: Group; page: PageFile }) {
  const words = useWords();
  const { capacity, cells } = page.analysis;
  const [more, also] = useState(0);
  // Targets keep their marks, and are too few to stand back.
  const isMany = group.curves.length > CURVES_MOST && new Set(cells.map(({ target }) => target)).size < 2;
  const first = useMemo(
    () =>
      standOut(
        capacity ?? [],
        group.curves.map(({ cell }) => cell),
      ),
    [capacity, group],
  );
  const back = isMany ? group.curves.filter(({ cell }) => !first.includes(cell)) : [];
  const wanted = back[more - 1]?.cell;
  const curves = useMemo(
    () => (isMany ? backed(group.curves, new Set([...first, ...(wanted ? [wanted] : [])])) : group.curves),
    [isMany, group, first, wanted],
  );
  return (
    <>
      {isMany && (
        <Choose
          label={words.latency.standOut}
          value={more}
          choose={also}
          options={[words.latency.ofChoice(back.length), ...back.map(({ name }) => name)]}
        />
      )}
      <Figure
        title={
          <>
            {words.latency.percentiles} <span class="soft">{group.name}</span>
          </>
        }
        about={
          isMany ? (
            <>
              {words.latency.standOutAbout}
              <br />
              {words.latency.percentilesAbout}
            </>
          ) : (
            words.latency.percentilesAbout
          )
        }
      >
        <PercentilesChart curves={curves} />
      </Figure>
      {isMany && <Fold title={words.latency.table}>{() => <Quantiles page={page} />}</Fold>}
      <Fold title={`${words.charts.histogram}${words.comma}${group.name}`}>
        {() => (
          <Figure>
            <HistogramChart cells={curves} />
          </Figure>
        )}
      </Fold>
      <Fold title={`${words.latency.cdf}${words.comma}${group.name}`}>
        {() => (
          <Figure>
            <CdfChart curves={curves} />
          </Figure>
        )}
      </Fold>
    </>
  );
}

/** More columns than this are for the file. */
const QUANTILES_SHOWN = 9;
/** Else those that people ask for, and their neighbours on the grid of the histogram. */
const ASKED = [0, 0.498813, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

function Quantiles({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const { cells, run } = page.analysis;
  const columns = useMemo(() => quantileColumns(cells, words, told), [cells, words, told]);
  return (
    <DataTable
      caption={words.latency.table}
      file={[run, "percentiles"]}
      columns={columns}
      rows={cells.filter(({ curve }) => curve.length > 0)}
      dense
    />
  );
}

function quantileColumns(cells: CellSummary[], words: Words, told: Tell): Column<CellSummary>[] {
  const all = [...new Set(cells.flatMap(({ curve }) => curve.map((point) => point.quantile)))].sort(
    (a, b) => a - b,
  );
  const isFew = all.length <= QUANTILES_SHOWN;
  return [
    {
      ...ownNameColumn<CellSummary>(words.load, "load", withinTarget),
      cell: (row) => told(withinTarget(row), "place"),
    },
    ...all.map((q): Column<CellSummary> => {
      const column = numberColumn<CellSummary>(
        q === 0 ? words.charts.least : quantile(q),
        `${q === 0 ? "min" : quantile(q)}_ns`,
        duration,
        ({ curve }) => curve.find((point) => point.quantile === q)?.ns,
      );
      return isFew || ASKED.includes(q) ? column : { key: column.key, raw: column.raw };
    }),
  ];
}

/** The trials that have a ring, in sentences. */
function Outliers({ page }: SectionProps) {
  const words = useWords();
  const { outliers = [] } = page.analysis;
  if (outliers.length === 0) return null;
  return (
    <ul class="notes" id="outliers">
      {outliers.map((outlier) => (
        <Note key={outlier.trial} sign="◯" tone="warn" level={words.charts.outlying} text={outlier.text} />
      ))}
    </ul>
  );
}

/** Where the time of a cell's mean response goes. */
function Parts({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const cells = page.analysis.cells.filter(({ parts = [] }) => parts.length > 1);
  const { shown, isFew, at, choose } = useFew(cells);
  if (cells.length === 0) return null;
  return (
    <>
      <h3>{words.charts.partsOf}</h3>
      {!isFew && (
        <Choose
          label={words.load}
          value={at}
          choose={choose}
          options={cells.map(({ label }) => told(label, "cell"))}
        />
      )}
      {shown.map(({ cell, label, parts = [] }) => (
        <Figure key={cell} title={told(label, "cell")} about={words.latency.partsAbout}>
          <PartsChart parts={parts} />
        </Figure>
      ))}
    </>
  );
}

function Strips({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const { analysis } = page;
  const named = useMemo(
    () => ({
      ...analysis,
      cells: analysis.cells.map((of) => ({
        ...of,
        label: told(of.label, "cell"),
        load: told(withinTarget(of), "place"),
      })),
      trials: analysis.trials.map((of) => ({
        ...of,
        reasons: of.reasons.map((reason) => already(told(reason))),
      })),
      outliers: (analysis.outliers ?? []).map((of) => ({ ...of, text: already(told(of.text)) })),
    }),
    [analysis, told],
  );
  const metrics = STRIPS.filter((metric) =>
    analysis.trials.some(({ values }) => values.some((of) => of.metric === metric && of.value != null)),
  );
  const [at, choose] = useState(Math.max(0, metrics.indexOf("p99")));
  const metric = metrics[at];
  if (metric === undefined) return null;
  return (
    <>
      <h3>{words.latency.strips}</h3>
      <Choose
        label={words.metric}
        value={at}
        choose={choose}
        options={metrics.map((of) => words.metrics[of])}
      />
      <Figure about={words.latency.stripsAbout}>
        <StripsChart analysis={named} metric={metric} />
      </Figure>
      <Outliers page={page} />
    </>
  );
}
