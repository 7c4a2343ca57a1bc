/**
 * Two or more runs of one experiment: each against the first.
 *
 * Invariant: every number and verdict is of `prony compare`; where it gives none, its reason stands instead.
 */
import { useMemo, useState } from "preact/hooks";
import { ForestChart } from "../charts/forest";
import type { Comparison } from "../charts/data";
import { change, changeInterval, chosenPercent, pValue, value } from "../format";
import type { ComparePair, ComparePairs, CompareFile, MetricAcross } from "../schema/lab-compare";
import { fileColumn, intervalColumns, markColumn, nameColumn, numberColumn } from "../ui/columns";
import { verdictWord } from "../ui/mark";
import { type Column, DataTable } from "../ui/table";
import { Colon, Told } from "../ui/told";
import { type Words, useWords } from "../words";
import { to, wall } from "./address";
import { api, get } from "./api";
import { Shown, StateMark, Tags } from "./frame";
import { useLoaded } from "./state";

/** What decides first; the table has all. */
const DRAWN = ["throughput", "p50", "p99", "error_rate", "cpu_per_request"];

export function Compare({ runs }: { runs: string[] }) {
  const t = useWords().lab.compare;
  const [acrossHosts, accept] = useState(false);
  const address = `${api("compare")}?runs=${runs.map(encodeURIComponent).join(",")}&across_hosts=${acrossHosts}`;
  const loaded = useLoaded<ComparePairs>(address, (signal) => get(address, signal));
  if (runs.length < 2) {
    return (
      <>
        <h1>{t.title}</h1>
        <p class="lead">
          {t.pick} <a href={to.library}>{useWords().lab.nav.runs}</a>
        </p>
      </>
    );
  }
  return (
    <>
      <h1>{t.title}</h1>
      <p class="about">{t.about}</p>
      <Shown of={loaded}>
        {(found) => (
          <>
            <Heads found={found} />
            {(acrossHosts || found.pairs.some(({ compare }) => compare?.refused)) && (
              <label class="choose">
                <input
                  type="checkbox"
                  checked={acrossHosts}
                  onChange={(event) => accept(event.currentTarget.checked)}
                />
                {t.across}
              </label>
            )}
            {found.pairs.map((pair) => (
              <Pair key={pair.b} pair={pair} />
            ))}
          </>
        )}
      </Shown>
    </>
  );
}

function Heads({ found: { runs } }: { found: ComparePairs }) {
  const t = useWords().lab.compare;
  const ids = runs.map(({ id }) => id);
  return (
    <ol class="lab-heads">
      {runs.map((card, index) => (
        <li key={card.id}>
          <a href={to.run(card.id)}>
            <b>{card.id}</b>
          </a>
          <p class="lab-facts">
            <StateMark state={card.state} />
            <time dateTime={card.started_wall}>{wall(card.started_wall)}</time>
            {index === 0 ? (
              <span class="soft">{t.first}</span>
            ) : (
              <a href={to.compare([card.id, ...ids.filter((id) => id !== card.id)])}>{t.swap}</a>
            )}
          </p>
          <Tags tags={card.tags} />
        </li>
      ))}
    </ol>
  );
}

function Pair({ pair }: { pair: ComparePair }) {
  const t = useWords().lab.compare;
  const { compare } = pair;
  return (
    <section aria-label={t.caption(pair.a, pair.b)}>
      <h2>{pair.b}</h2>
      {pair.refused && (
        <p class="refusal">
          <strong>
            {t.refused}
            <Colon />
          </strong>
          <Told text={pair.refused} />
        </p>
      )}
      {compare && <Compared file={compare} />}
    </section>
  );
}

interface Line {
  cell: string;
  of: MetricAcross;
}

function Compared({ file }: { file: CompareFile }) {
  const words = useWords();
  const t = words.lab.compare;
  const rows = useMemo(
    () => file.cells.flatMap(({ label, metrics }) => metrics.map((of): Line => ({ cell: label, of }))),
    [file],
  );
  const drawn = useMemo(
    () =>
      rows
        .filter(({ of }) => DRAWN.includes(of.metric) && file.refused === undefined)
        .map((line) => asComparison(line, file)),
    [rows, file],
  );
  return (
    <>
      {file.refused && (
        <p class="refusal">
          <strong>
            {t.noVerdicts}
            <Colon />
          </strong>
          <Told text={file.refused} />
        </p>
      )}
      {(file.warnings ?? []).map((warning) => (
        <p class="refusal" key={warning}>
          <Told text={warning} />
        </p>
      ))}
      {drawn.length > 0 && (
        <figure>
          <ForestChart comparisons={drawn} margin={file.margin} />
          <p class="about">{words.comparison.band(`±${chosenPercent(file.margin)}`)}</p>
        </figure>
      )}
      <DataTable
        caption={t.caption(file.a.id, file.b.id)}
        file={[file.b.id, "against", file.a.id]}
        rows={rows}
        columns={columns(words, file)}
        group={(row) => <Told text={row.cell} as="cell" />}
        groupKey={(row) => row.cell}
        // What is refused for all of them stands above.
        below={({ of }) => (of.refused && of.refused !== file.refused ? [of.refused] : [])}
      />
      <Environment file={file} />
      {file.only_a.map((cell) => (
        <p class="soft" key={cell}>
          {t.only(file.a.id)}
          <Colon />
          <Told text={cell} as="cell" />
        </p>
      ))}
      {file.only_b.map((cell) => (
        <p class="soft" key={cell}>
          {t.only(file.b.id)}
          <Colon />
          <Told text={cell} as="cell" />
        </p>
      ))}
    </>
  );
}

/** In the shape of a comparison within a run, for the chart of comparisons: the later run in the numerator. */
function asComparison({ cell, of }: Line, file: CompareFile): Comparison {
  return {
    a: cell,
    b: cell,
    a_target: file.b.id,
    b_target: file.a.id,
    load: cell,
    metric: of.metric,
    blocks: 0,
    basis: "ratio",
    ratio: of.ratio ?? null,
    interval: of.interval ?? null,
    hodges_lehmann: of.rank_ratio ?? null,
    hodges_lehmann_interval: of.rank_interval ?? null,
    difference: null,
    difference_interval: null,
    ratio_of_means: null,
    bootstrap: null,
    p_value: of.p_value ?? null,
    p_family: of.p_holm ?? null,
    part: "other",
    verdict: of.verdict,
    refused: of.refused ?? null,
  };
}

function columns(words: Words, file: CompareFile): Column<Line>[] {
  return [
    nameColumn(
      words.metric,
      "metric",
      ({ of }) => words.metrics[of.metric],
      ({ of }) => of.metric,
    ),
    fileColumn("cell", ({ cell }) => cell),
    {
      head: words.lab.compare.before,
      key: "a",
      kind: "number",
      cell: ({ of }) => value(of.unit, of.a),
      raw: ({ of }) => of.a,
    },
    {
      head: words.lab.compare.after,
      key: "b",
      kind: "number",
      cell: ({ of }) => value(of.unit, of.b),
      raw: ({ of }) => of.b,
    },
    numberColumn(
      words.change,
      "ratio",
      (ratio) => <strong>{change(ratio)}</strong>,
      ({ of }) => of.ratio,
    ),
    ...intervalColumns<Line>(`${words.interval} (${chosenPercent(file.confidence)})`, {
      of: ({ of }) => of.interval,
      show: changeInterval,
      none: () => words.lab.compare.none,
    }),
    numberColumn(words.pHolm, "p_holm", pValue, ({ of }) => of.p_holm),
    markColumn(
      words.verdict,
      "verdict",
      ({ of }) => verdictWord(words, of.verdict, of.metric),
      ({ of }) => of.verdict,
    ),
  ];
}

function Environment({ file }: { file: CompareFile }) {
  const t = useWords().lab.compare;
  const { differences } = file.environment;
  return (
    <>
      <h3>{t.environment}</h3>
      {differences.length === 0 && <p class="soft">{t.same}</p>}
      {differences.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={t.environment}>
          <table>
            <tbody>
              {differences.map((found) => (
                <tr key={found.id}>
                  <th scope="row">
                    <Told text={found.title} />
                  </th>
                  <td>
                    <Told text={found.a ?? t.none} />
                  </td>
                  <td>
                    <Told text={found.b ?? t.none} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
