/**
 * Response times: percentile curves, distribution, and the value of every trial.
 *
 * Invariants: one chart holds one load; each trial is a point of its own, void ones too.
 */
import { useMemo, useState } from "preact/hooks";
import { CdfChart, PercentilesChart, StripsChart, withinTarget } from "../charts";
import type { CellSummary, Metric } from "../schema/page";
import { Choose, Fold, useFew } from "../ui/parts";
import { type Tell, useTold } from "../ui/told";
import { useWords } from "../words";
import { Figure, Section, type SectionProps } from "./frame";

/** More curves than this in one figure cannot be told apart. */
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
  curves: { name: string; index: number; curve: CellSummary["curve"] }[];
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
            curves: drawn.map((cell, index) => ({ name: withinTarget(cell), index, curve: cell.curve })),
          },
        ];
  }
  const groups = new Map<string, Group>();
  for (const cell of drawn) {
    const { target, curve } = cell;
    const name = withinTarget(cell);
    const group = groups.get(name) ?? { name, curves: [] };
    group.curves.push({ name: target, index: targets.indexOf(target), curve });
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** The names of loads in the language of the page; those of targets stay. */
const toldOf =
  (told: Tell) =>
  ({ name, curves }: Group, _: number, { length }: Group[]): Group => {
    const isOfLoads = length === 1 && new Set(curves.map(({ index }) => index)).size === curves.length;
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
        <Curves key={group.name} group={group} />
      ))}
      <Strips page={page} />
    </Section>
  );
}

function Curves({ group }: { group: Group }) {
  const words = useWords();
  return (
    <>
      <Figure
        title={
          <>
            {words.latency.percentiles} <span class="soft">{group.name}</span>
          </>
        }
        about={words.latency.percentilesAbout}
      >
        <PercentilesChart curves={group.curves} />
      </Figure>
      <Fold title={`${words.latency.cdf}${words.comma}${group.name}`}>
        {() => (
          <Figure>
            <CdfChart curves={group.curves} />
          </Figure>
        )}
      </Fold>
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
      trials: analysis.trials.map((of) => ({ ...of, reasons: of.reasons.map((reason) => told(reason)) })),
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
    </>
  );
}
