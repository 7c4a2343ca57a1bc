/**
 * Load, throughput, latency and errors: the three-dimensional baseline with the knee, or why none is claimed.
 *
 * Invariants: predictions are called so; what is refused is shown with its reason and its cure.
 */
import type { Children } from "../jsx/children";
import { useMemo } from "preact/hooks";
import { LadderChart, SearchChart, ladderOfCells, laddersOf } from "../charts";
import {
  NONE,
  axis,
  change,
  changeInterval,
  chosenRate,
  count,
  interval,
  percent,
  plain,
  rate,
  value,
} from "../format";
import type { Ends, Maybe, Unit } from "../format";
import type {
  Capacity as Ladder,
  CapacityRow,
  Estimate,
  Hysteresis,
  Knee,
  LoadAxis,
  Scaling,
  SearchResult,
  SearchStep,
  UslFit,
} from "../schema/page";
import {
  intervalColumns,
  markColumn,
  nameColumn,
  numberColumn,
  ownNameColumn,
  textColumn,
} from "../ui/columns";
import { shownWord } from "../ui/mark";
import { Fold, Refusal } from "../ui/parts";
import { type Column, DataTable, Facts } from "../ui/table";
import { type Tell, Told, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Figure, Section, type SectionProps } from "./frame";
import { already, semicolons } from "../words/said/text";

export function Capacity({ page }: SectionProps) {
  const words = useWords();
  const { analysis } = page;
  const ladders = analysis.capacity ?? [];
  const data = useMemo(
    () => (ladders.length > 0 ? laddersOf(analysis) : ladderOfCells(analysis, page.run.plan.cells, "p99")),
    [analysis, page],
  );
  return (
    <Section id="capacity" title={words.sections.capacity} about={words.capacity.about}>
      {ladders
        .filter(({ answer }) => answer !== analysis.answer)
        .map((ladder, index) => (
          <p class="lead" key={index}>
            <Told text={ladder.answer} isUnbroken isSentence byClause />
          </p>
        ))}
      {data.map((of, index) => (
        <Figure key={index}>
          <LadderChart data={of} />
        </Figure>
      ))}
      {ladders.map((ladder, index) => (
        <OneLadder key={index} ladder={ladder} run={analysis.run} />
      ))}
    </Section>
  );
}

/** For the file, in English. */
const nameOf = ({ target, level }: Ladder) => (level ? `${target}, ${level}` : target);

/** Whether there is anything to draw or to say: a ladder, or cells whose loads differ by a number. */
export function hasCapacity({ page }: SectionProps): boolean {
  if ((page.analysis.capacity ?? []).length > 0) return true;
  return ladderOfCells(page.analysis, page.run.plan.cells, "p99").some(({ lines }) =>
    lines.some(({ rows }) => rows.length > 1),
  );
}

/** The search with its reasons in the language of the page, for the chart. */
const inWords = (search: SearchResult, told: Tell): SearchResult => ({
  ...search,
  steps: search.steps.map((step) => ({
    ...step,
    reasons: step.reasons.map((reason) => already(told(reason))),
  })),
});

function OneLadder({ ladder, run }: { ladder: Ladder; run: string }) {
  const words = useWords();
  const told = useTold();
  const name = nameOf(ladder);
  const search = useMemo(() => ladder.search && inWords(ladder.search, told), [ladder, told]);
  const shown = ladder.level ? `${ladder.target}${words.comma}${told(ladder.level, "place")}` : name;
  return (
    <>
      <h3>{shown}</h3>
      <Facts rows={found(ladder, words, told)} />
      {ladder.search && (
        <Figure title={words.capacity.steps}>
          <SearchChart search={search ?? ladder.search} />
        </Figure>
      )}
      <DataTable
        caption={words.capacity.levels(shown)}
        file={[run, "capacity", name]}
        columns={levelColumns(ladder, words)}
        rows={ladder.rows}
      />
      {(ladder.hysteresis ?? []).length > 0 && (
        <Fold title={words.capacity.hysteresis}>
          {() => (
            <DataTable
              caption={words.capacity.hysteresis}
              file={[run, "hysteresis", name]}
              columns={hysteresisColumns(ladder.axis, words, told)}
              rows={ladder.hysteresis!}
            />
          )}
        </Fold>
      )}
      {ladder.search && (
        <Fold title={words.capacity.steps}>
          {() => (
            <DataTable
              caption={words.capacity.steps}
              file={[run, "search", name]}
              columns={stepColumns(words)}
              rows={ladder.search!.steps}
            />
          )}
        </Fold>
      )}
    </>
  );
}

const load = (at: number, on: LoadAxis) => (on === "rate" ? chosenRate(at) : plain(at));

/** The same with its unit, which a rate has anyway. */
const loadOf = (at: number, on: LoadAxis, words: Words) =>
  on === "rate" ? load(at, on) : words.capacity.connectionsOf(plain(at));

type Found = [Children, Children];

function found(ladder: Ladder, words: Words, told: Tell): Found[] {
  const rows: Found[] = [];
  const { highest, highest_refused } = ladder;
  const t = words.capacity;
  if (highest) {
    const why = highest.refused ?? highest_refused;
    const sure = highest.interval
      ? `(${interval("per_second", highest.interval)})`
      : why
        ? `(${words.noInterval}${words.colon}${told(why)})`
        : "";
    const range =
      highest.from_load === highest.to_load
        ? t.at(loadOf(highest.to_load, ladder.axis, words))
        : t.fromTo(load(highest.from_load, ladder.axis), loadOf(highest.to_load, ladder.axis, words));
    rows.push([t.highest, `${rate(highest.per_s)} ${sure}${words.comma}${range}`]);
  } else if (highest_refused) {
    rows.push([t.highest, <Refusal>{highest_refused}</Refusal>]);
  }
  for (const knee of ladder.knees) {
    rows.push([t.kneeOf(words.metrics[knee.metric]), <OneKnee knee={knee} on={ladder.axis} />]);
  }
  if (ladder.scaling) rows.push(...scaling(ladder.scaling, ladder.axis, words));
  if (ladder.usl) rows.push(...law(ladder.usl, words));
  else if (ladder.usl_refused) rows.push([t.law, <Refusal>{ladder.usl_refused}</Refusal>]);
  if (ladder.search) rows.push(...searched(ladder.search, words));
  return rows;
}

function OneKnee({ knee, on }: { knee: Knee; on: LoadAxis }) {
  const words = useWords();
  const t = words.capacity;
  const hints = [
    typeof knee.slope_before === "number" && typeof knee.slope_after === "number"
      ? t.slopes(axis(knee.slope_before), axis(knee.slope_after))
      : "",
    typeof knee.delta_bic === "number" ? `ΔBIC ${knee.delta_bic.toFixed(1)}` : "",
    typeof knee.kneedle === "number" ? `Kneedle ${load(knee.kneedle, on)}` : "",
    typeof knee.sharpest === "number" ? t.sharpest(load(knee.sharpest, on)) : "",
  ].filter((hint) => hint !== "");
  const hint = <Details>{hints}</Details>;
  if (typeof knee.at !== "number") {
    return (
      <>
        <Refusal>{knee.refused ?? words.noReason}</Refusal>
        {hint}
      </>
    );
  }
  const low = knee.interval?.low;
  const high = knee.interval?.high;
  const ends = `${low == null ? t.firstLevels : load(low, on)} … ${high == null ? t.lastLevels : load(high, on)}`;
  return (
    <>
      <strong>{loadOf(knee.at, on, words)}</strong> ({ends}){hint}
    </>
  );
}

/** What only those want who know the method: criteria and parameters. */
function Details({ children }: { children: string[] }) {
  const words = useWords();
  if (children.length === 0) return null;
  return <Fold title={words.details}>{() => <p class="soft">{children.join(words.comma)}</p>}</Fold>;
}

/** Which laws describe the ladder, and what they say beyond it. */
function scaling(found: Scaling, on: LoadAxis, words: Words): Found[] {
  const t = words.capacity;
  const beyond = found.predictions.map(({ n, per_s }) => {
    const ends = per_s.interval;
    const end = (of: number | null | undefined) => (typeof of === "number" ? rate(of) : "∞");
    const interval = ends ? ` (${end(ends.low)} … ${end(ends.high)})` : "";
    return `${typeof per_s.value === "number" ? rate(per_s.value) : "∞"}${interval} ${t.at(loadOf(n, on, words))}`;
  });
  return [
    [t.lawOf, <Told text={found.text} isSentence />],
    [
      t.predicts,
      found.refused ? <Refusal>{found.refused}</Refusal> : `${beyond.join(words.semicolon)} (${t.beyond})`,
    ],
  ];
}

function law(fit: UslFit, words: Words): Found[] {
  const t = words.capacity;
  const plainOf = (estimate: Estimate, show: (n: number) => string) => {
    const of = typeof estimate.value === "number" ? show(estimate.value) : "∞";
    const end = (end: number | null | undefined) => (typeof end === "number" ? show(end) : "∞");
    return estimate.interval ? `${of} (${end(estimate.interval.low)} … ${end(estimate.interval.high)})` : of;
  };
  const small = (n: number) =>
    n !== 0 && Math.abs(n) < 1e-4 ? n.toExponential(2).replace("-", "−") : plain(n);
  const beyond = fit.peak_is_beyond ? `${words.comma}${t.beyond}` : "";
  return [
    [
      t.law,
      <>
        {t.misfit(percent(fit.misfit))}
        <Details>
          {[
            `${t.contention} α ${plainOf(fit.alpha, small)}`,
            `${t.coherence} β ${plainOf(fit.beta, small)}`,
            `${t.alone} γ ${plainOf(fit.gamma, rate)}`,
          ]}
        </Details>
      </>,
    ],
    [
      t.peak,
      fit.peak_is_shown === false
        ? t.noPeak
        : `${plainOf(fit.peak_per_s, rate)} ${t.at(t.connectionsOf(plainOf(fit.peak, plain)))}${beyond}`,
    ],
    // Older files only.
    ...(fit.predictions?.length
      ? [
          [
            t.predicts,
            fit.predictions
              .map(
                (point) =>
                  `${plainOf(point.per_s, rate)} ${t.at(t.connectionsOf(plain(point.n)))}${point.is_beyond ? ` (${t.beyondShort})` : ""}`,
              )
              .join(words.semicolon),
          ] as Found,
        ]
      : []),
  ];
}

function searched(search: SearchResult, words: Words): Found[] {
  const t = words.capacity;
  const verified =
    typeof search.verified_per_s === "number"
      ? `${chosenRate(search.verified_per_s)} (${t.confirmed(search.confirmations, search.after_failure)})`
      : words.none;
  const rows: Found[] = [
    [t.objective, search.objective.join(words.and)],
    [t.verified, verified],
  ];
  if (search.limit) rows.push([t.turns, interval("per_second", search.limit)]);
  if (search.refused) rows.push([t.reservation, <Told text={search.refused} />]);
  return rows;
}

const estimate = (unit: Unit, of: Estimate) => (
  <>
    {value(unit, of.value)}
    {of.interval && <Sub unit={unit} ends={of.interval} />}
  </>
);

function Sub({ unit, ends }: { unit: Unit; ends: Ends }) {
  return <span class="sub">{interval(unit, ends)}</span>;
}

const estimateColumn = (
  head: string,
  key: "throughput_per_s" | "p95_ns",
  unit: Unit,
): Column<CapacityRow> => ({
  head,
  key,
  kind: "number",
  cell: (row) => estimate(unit, row[key]),
  raw: (row) => row[key].value,
});

const hundredths = (n: Maybe) => (n == null ? NONE : n.toFixed(2));

function levelColumns({ axis: on, search }: Ladder, words: Words): Column<CapacityRow>[] {
  const t = words.capacity;
  return [
    nameColumn(
      on === "rate" ? t.offered : t.connections,
      on === "rate" ? "offered_per_s" : "connections",
      (row) => load(row.load, on),
      (row) => row.load,
    ),
    estimateColumn(words.metrics.throughput, "throughput_per_s", "per_second"),
    estimateColumn(words.metrics.p95, "p95_ns", "nanoseconds"),
    numberColumn(words.metrics.error_rate, "error_share", percent, (row) => row.error_rate.value),
    {
      head: "X·(R + Z)",
      key: "concurrency",
      kind: "number",
      cell: ({ laws }) =>
        laws.concurrency == null ? NONE : plain(laws.concurrency) + (laws.holds === false ? " (!)" : ""),
      raw: ({ laws }) => laws.concurrency,
    },
    numberColumn(t.cpus, "cpus_busy", hundredths, ({ laws }) => laws.cpus_busy),
    {
      head: t.bound,
      key: "bound_per_s",
      kind: "number",
      cell: ({ laws }) =>
        rate(laws.bound_per_s) + (laws.bound_share == null ? "" : ` (${percent(laws.bound_share)})`),
      raw: ({ laws }) => laws.bound_per_s,
    },
    // The rates of a search lie too close for a bend between them to mean anything.
    ...(search
      ? []
      : [numberColumn<CapacityRow>(t.bend, "second_difference", axis, (row) => row.second_difference)]),
    numberColumn(words.trials, "trials_valid", count, (row) => row.trials_valid),
  ];
}

const hysteresisColumns = (on: LoadAxis, words: Words, told: Tell): Column<Hysteresis>[] => [
  nameColumn(
    words.load,
    "load",
    (row) => load(row.load, on),
    (row) => row.load,
  ),
  { head: words.metric, key: "metric", cell: (row) => words.metrics[row.metric], raw: (row) => row.metric },
  numberColumn(words.capacity.upDown, "ratio", change, (row) => row.ratio),
  ...intervalColumns<Hysteresis>(words.interval, {
    of: (row) => row.interval,
    show: changeInterval,
    none: (row) => (row.refused ? told(row.refused) : NONE),
  }),
  numberColumn(words.capacity.pairs, "pairs", count, (row) => row.pairs),
  markColumn(
    words.verdict,
    "shown",
    (row) => shownWord(words, row.is_shown),
    (row) => row.is_shown,
  ),
];

const stepColumns = (words: Words): Column<SearchStep>[] => [
  ownNameColumn(words.trial, "trial", (row) => row.trial),
  numberColumn(words.capacity.offered, "rate_per_s", chosenRate, (row) => row.rate_per_s),
  {
    head: words.capacity.purpose,
    key: "purpose",
    cell: (row) => words.capacity.purposes[row.purpose],
    raw: (row) => row.purpose,
  },
  {
    head: words.capacity.objective,
    key: "passed",
    cell: (row) => words.capacity.passed(row.passed ?? null),
    raw: (row) => row.passed,
  },
  textColumn(words.why, "reasons", (row) => semicolons(row.reasons)),
];
