/**
 * The top of the page: question, answer, and what a reader with ten seconds must know.
 *
 * Invariant: the answer is the sentence of the analysis, with its certainty; the lines below count entries only.
 */
import type { Children } from "../jsx/children";
import type { PageFile } from "../schema/page";
import {
  Mark,
  beliefWord,
  claimWord,
  causeWord,
  headed,
  healthWord,
  outcomeWord,
  soakWord,
} from "../ui/mark";
import { Told, unbroken } from "../ui/told";
import { useWords } from "../words";
import { counts, labels, wallTime } from "./model";
import { Ranking } from "./ranking";

/** Further claims that do not hold are in their section. */
const CLAIMS_NAMED = 3;

export function Masthead({ page }: { page: PageFile }) {
  const words = useWords();
  const { run, analysis } = page;
  return (
    <header class="masthead">
      <p class="eyebrow">
        <span class="brand">prony</span>
        <span>{run.plan.name}</span>
        <time dateTime={run.started_wall}>{wallTime(run.started_wall)}</time>
      </p>
      <h1>{unbroken(analysis.question)}</h1>
      <p class="answer">
        <Told text={analysis.answer} isUnbroken isSentence byClause />
      </p>
      <Ranking page={page} />
      <dl class="glance">
        <Glance name={words.glance.belief} to="belief">
          <Mark word={beliefWord(words, analysis.belief.level)} />
          <p>
            <Told text={analysis.belief.summary} isUnbroken isSentence />
          </p>
        </Glance>
        <Claims page={page} />
        <Health page={page} />
        <Soak page={page} />
        <Worst page={page} />
        <Trials page={page} />
      </dl>
    </header>
  );
}

function Glance({ name, to, children }: { name: string; to: string; children: Children }) {
  return (
    <div>
      <dt>
        <a href={`#${to}`}>{name}</a>
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

function Claims({ page }: { page: PageFile }) {
  const words = useWords();
  const { claims } = page.analysis;
  if (claims.length === 0) return null;
  const verdicts = claims.map(({ verdict }) => verdict);
  return (
    <Glance name={words.sections.claims} to="claims">
      <span class="marks">
        {counts(["does_not_hold", "holds", "inconclusive", "void"], verdicts).map(([verdict, number]) => {
          const word = claimWord(words, verdict);
          return <Mark key={verdict} word={{ ...word, text: words.claimsOf[verdict](number) }} />;
        })}
      </span>
      {claims
        .filter(({ verdict }) => verdict === "does_not_hold")
        .slice(0, CLAIMS_NAMED)
        .map(({ text }, index) => (
          <p key={index}>{text}</p>
        ))}
    </Glance>
  );
}

/** Whether every threshold was kept. */
function Health({ page }: { page: PageFile }) {
  const words = useWords();
  const verdicts = (page.analysis.thresholds ?? []).map(({ verdict }) => verdict);
  if (verdicts.length === 0) return null;
  return (
    <Glance name={words.sections.thresholds} to="thresholds">
      <span class="marks">
        {counts(["crossed", "unknown", "kept"], verdicts).map(([verdict, number]) => {
          const word = healthWord(words, verdict);
          return <Mark key={verdict} word={{ ...word, text: words.healthOf[verdict](number) }} />;
        })}
      </span>
    </Glance>
  );
}

function Soak({ page }: { page: PageFile }) {
  const words = useWords();
  const { soak, answer } = page.analysis;
  if (!soak) return null;
  return (
    <Glance name={words.sections.soak} to="soak">
      <Mark word={headed(soakWord(words, soak.verdict))} />
      {soak.answer !== answer && (
        <p>
          <Told text={soak.answer} isUnbroken isSentence />
        </p>
      )}
    </Glance>
  );
}

function Worst({ page }: { page: PageFile }) {
  const words = useWords();
  const worst = page.analysis.findings?.find(({ level }) => level !== "fact");
  if (!worst) return null;
  return (
    <Glance name={words.glance.worst} to="findings">
      <Mark word={causeWord(words, worst)} />
      <p>
        <Told text={labels(page.analysis.cells)(worst.cell)} as="cell" />
        {words.colon}
        <Told text={worst.text} isUnbroken />
      </p>
    </Glance>
  );
}

function Trials({ page }: { page: PageFile }) {
  const words = useWords();
  const { trials, trials_planned } = page.analysis;
  const outcomes = trials.map(({ outcome }) => outcome);
  return (
    <Glance name={words.sections.data} to="data">
      <span class="marks">
        {counts(["valid", "void", "failed"], outcomes).map(([outcome, number]) => {
          const word = outcomeWord(words, outcome);
          return <Mark key={outcome} word={{ ...word, text: `${number} ${word.text}` }} />;
        })}
      </span>
      <p>{words.trialsOf(trials.length, trials_planned)}</p>
    </Glance>
  );
}
