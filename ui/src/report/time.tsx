/**
 * All trials of a cell over each other, then one trial to the second: throughput, latency and failures, any counters
 * under them on the same axis, the heat maps of its response times and of its collector's pauses, and the last lines of the target's log.
 *
 * Invariants: warm-up is shown and marked as cut; trials without details say where their numbers are.
 */
import { useMemo, useState } from "preact/hooks";
import { EndpointsChart, HeatChart, OverviewChart, TrialOverTime, hasEndpoints } from "../charts";
import type { PageFile, TrialDetail, TrialRow } from "../schema/page";
import { outcomeWord } from "../ui/mark";
import { Choose, Fold, useFew } from "../ui/parts";
import { type Tell, Told, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Note } from "./belief";
import { Figure, Section, type SectionProps } from "./frame";
import { labels } from "./model";
import { already, english } from "../words/said/text";

/** Counters that are shown before anyone asks, as far as they were read. */
const FIRST = ["target.process/cpu_ns"];
const CELLS_AT_ONCE = 2;

export function Time({ page }: SectionProps) {
  const words = useWords();
  return (
    <Section id="time" title={words.sections.time} about={words.time.about}>
      <AllTrials page={page} />
      <OneTrial page={page} />
    </Section>
  );
}

/** Trials that have a course. */
const drawn = (page: PageFile) => page.analysis.trials.filter(({ series }) => series.length > 1);

export const hasTime = ({ page }: SectionProps): boolean => drawn(page).length > 0;

function AllTrials({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const { cells } = page.analysis;
  const targets = [...new Set(cells.map(({ target }) => target))];
  const byCell = useMemo(() => {
    const trials = drawn(page);
    return cells
      .map((cell) => ({ cell, trials: trials.filter((trial) => trial.cell === cell.cell) }))
      .filter(({ trials }) => trials.length > 1);
  }, [page]);
  const { shown, isFew, at, choose } = useFew(byCell, CELLS_AT_ONCE);
  if (byCell.length === 0) return null;
  return (
    <>
      <h3>{words.time.all}</h3>
      {!isFew && (
        <Choose
          label={words.cell}
          value={at}
          choose={choose}
          options={byCell.map(({ cell }) => told(cell.label, "cell"))}
        />
      )}
      {shown.map(({ cell, trials }) => (
        <Figure key={cell.cell} title={<Told text={cell.label} as="cell" />}>
          <OverviewChart
            cell={{ ...cell, label: told(cell.label, "cell") }}
            trials={trials}
            index={targets.indexOf(cell.target)}
          />
        </Figure>
      ))}
      <p class="about">{words.time.allAbout}</p>
    </>
  );
}

const trialNames = (
  trials: TrialRow[],
  label: (cell: string) => string,
  words: Words,
  told: Tell,
): string[] =>
  trials.map(({ id, cell, block, outcome }) => {
    const end = outcome === "valid" ? "" : ` (${words.outcomes[outcome]})`;
    return `${words.trialOf(id, block)}${words.comma}${told(label(cell), "cell")}${end}`;
  });

function OneTrial({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const { analysis, details } = page;
  const detailOf = useMemo(() => new Map(details.map((detail) => [detail.id, detail])), [details]);
  const trials = useMemo(() => drawn(page), [page]);
  const names = useMemo(
    () => trialNames(trials, labels(analysis.cells), words, told),
    [trials, analysis, words, told],
  );
  const [at, choose] = useState(() =>
    Math.max(
      0,
      trials.findIndex(({ id }) => detailOf.has(id)),
    ),
  );
  const trial = trials[at];
  const named = useMemo(
    () => trial && { ...trial, reasons: trial.reasons.map((reason) => already(told(reason))) },
    [trial, told],
  );
  if (!trial || !named) return null;
  const detail = detailOf.get(trial.id);
  return (
    <>
      <h3>{words.time.one}</h3>
      <Choose label={words.trial} value={at} choose={choose} options={names} />
      <p class="on-paper">{names[at]}</p>
      {trial.outcome !== "valid" && <Reasons trial={trial} />}
      <Figure>
        <TrialOverTime trial={named} detail={detail} initial={FIRST} />
      </Figure>
      {detail && <Details key={trial.id} trial={trial} detail={detail} />}
      {page.details_left_out && (
        <p class="about">
          <Told text={page.details_left_out} />
        </p>
      )}
    </>
  );
}

function Reasons({ trial }: { trial: TrialRow }) {
  const { sign, tone, text } = outcomeWord(useWords(), trial.outcome);
  return (
    <ul class="notes">
      {trial.reasons.map((reason) => (
        <Note key={reason.text} sign={sign} tone={tone} level={text} text={reason} />
      ))}
    </ul>
  );
}

function Details({ trial, detail }: { trial: TrialRow; detail: TrialDetail }) {
  const t = useWords().time;
  return (
    <>
      {detail.by_request && hasEndpoints(detail.t_ns, detail.by_request) && (
        <Figure title={t.endpoints} about={t.endpointsAbout}>
          <EndpointsChart trial={trial} t_ns={detail.t_ns} requests={detail.by_request} events={detail} />
        </Figure>
      )}
      {detail.heat && (
        <Figure title={t.heat} about={t.heatAbout}>
          <HeatChart heat={detail.heat} trial={trial} detail={detail} />
        </Figure>
      )}
      {detail.pauses && (
        <Figure title={t.pauses} about={t.pausesAbout}>
          <HeatChart heat={detail.pauses} trial={trial} detail={detail} of="pauses" />
        </Figure>
      )}
      {(detail.missing ?? []).map((text) => (
        <p class="about" key={english(text)}>
          <Told text={text} />
        </p>
      ))}
      {detail.log_tail.length > 0 && (
        <Fold title={t.log}>
          {() => (
            <pre class="log" tabIndex={0} role="region" aria-label={t.log}>
              {detail.log_tail.join("\n")}
            </pre>
          )}
        </Fold>
      )}
    </>
  );
}
