/**
 * What held the targets back: findings with their evidence, what was ruled out and what could not be looked at.
 *
 * Invariants: "because" stands only where an intervention moved the numbers; else a finding is consistent with them.
 */
import { percent, plain } from "../format";
import type { Association, CellWhy, Finding, Intervention } from "../schema/page";
import { Mark, causeWord, findingWord } from "../ui/mark";
import { Copied, Fold } from "../ui/parts";
import { sentence } from "../ui/sentence";
import { Told, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { commandLine, labels } from "./model";

export function Findings({ page }: SectionProps) {
  const words = useWords();
  const { analysis } = page;
  const label = labels(analysis.cells);
  const findings = analysis.findings ?? [];
  const why = analysis.why ?? [];
  return (
    <Section id="findings" title={words.sections.findings} about={words.findings.about}>
      {findings.length === 0 && <p class="lead">{words.findings.none}</p>}
      <ol class="findings">
        {findings.map((finding, index) => (
          <OneFinding key={index} finding={finding} where={label(finding.cell)} run={analysis.run} />
        ))}
      </ol>
      {why.length > 0 && <h3>{words.findings.byCell}</h3>}
      {why.map((cell) => (
        <Fold
          key={cell.cell}
          title={
            <>
              <b>
                <Told text={cell.label} as="cell" />
              </b>{" "}
              <span class="soft">
                <Told text={cell.answer} isUnbroken />
              </span>
            </>
          }
        >
          {() => <OneCell why={cell} />}
        </Fold>
      ))}
    </Section>
  );
}

function OneFinding({ finding, where, run }: { finding: Finding; where: string; run: string }) {
  const words = useWords();
  const t = words.findings;
  const word = findingWord(words, finding);
  return (
    <li class={word.tone}>
      <h3>
        <Mark word={causeWord(words, finding)} />
      </h3>
      <p class="soft">
        <Told text={where} as="cell" />
        {words.colon}
        {finding.level === "fact"
          ? t.fact
          : `${word.text}${words.comma}${t.certainty[finding.certainty ?? "consistent_with"]}`}
        {finding.follows && `${words.comma}${t.follows(words.causes[finding.follows])}`}
      </p>
      <p>
        <Told text={finding.text} isUnbroken isSentence />
      </p>
      <EvidenceTable finding={finding} />
      {finding.association && (
        <p>
          <span class="soft">{t.tied}</span> {tied(finding.association, words)}
        </p>
      )}
      {finding.remedy && (
        <p class="remedy">
          <Told text={finding.remedy} isUnbroken />
        </p>
      )}
      {finding.intervention && <ToKnow finding={finding} tried={finding.intervention} run={run} />}
      {finding.source && (
        <p class="source" lang="en">
          {finding.source}
        </p>
      )}
    </li>
  );
}

function EvidenceTable({ finding }: { finding: Finding }) {
  const words = useWords();
  const told = useTold();
  const evidence = finding.evidence ?? [];
  if (evidence.length === 0) return null;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={words.findings.evidence}>
      <table class="evidence">
        <thead class="hidden">
          <tr>
            <th scope="col">{words.findings.evidence}</th>
            <th scope="col">{words.value}</th>
            <th scope="col">{words.findings.limit}</th>
            <th scope="col">{words.findings.from}</th>
          </tr>
        </thead>
        <tbody>
          {evidence.map(({ what, value, limit, from }, index) => (
            <tr key={index}>
              <th scope="row">
                <Told text={what} isSentence />
              </th>
              <td class="n">
                <strong>
                  <Told text={value} />
                </strong>
              </td>
              <td class="soft">{limit ? words.findings.limitOf(told(limit)) : ""}</td>
              <td>
                <code>{from}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What ties a cause to what users see. */
function tied(of: Association, words: Words): string {
  const t = words.findings.ties;
  switch (of.kind) {
    case "accounts":
      return t.accounts(percent(of.share));
    case "bound":
      return t.bound(percent(of.utilisation));
    case "direct":
      return t.direct(percent(of.share));
    case "growth":
      return t.growth(of.p.toFixed(2));
    case "time":
      return t.time(of.counter, t.watched[of.with], of.rho.toFixed(2), of.q.toFixed(3));
  }
}

/** The experiment that would tell, with its command where prony can make it. */
function ToKnow({ finding, tried, run }: { finding: Finding; tried: Intervention; run: string }) {
  const words = useWords();
  const t = words.findings;
  const isDone = finding.certainty === "because";
  return (
    <div class="to-know">
      <p>
        <span class="soft">{isDone ? t.tried : t.toKnow}</span> <Told text={tried.text} />{" "}
        <span class="soft">
          {t.predicted(words.metrics[tried.metric], plain(tried.ratio), tried.ratio > 1)}
        </span>
      </p>
      {!isDone && tried.change.kind !== "by_hand" && (
        <Copied
          label={t.command}
          text={commandLine([
            "prony",
            "intervene",
            `runs/${run}`,
            "--cell",
            finding.cell,
            "--cause",
            finding.cause,
          ])}
        />
      )}
    </div>
  );
}

function OneCell({ why }: { why: CellWhy }) {
  const words = useWords();
  const t = words.findings;
  return (
    <div class="why">
      <p class="about">
        {t.trials(why.trials)}
        {why.void_only ? t.voidOnly : ""}
      </p>
      {why.findings.length > 0 && (
        <ul class="notes">
          {why.findings.map((finding, index) => {
            const word = findingWord(words, finding);
            return (
              <li key={index} class={word.tone}>
                <span class="sign" aria-hidden="true">
                  {word.sign}
                </span>
                <div>
                  <b>{causeWord(words, finding).text}</b>
                  {words.colon}
                  <Told text={finding.text} isUnbroken />
                </div>
              </li>
            );
          })}
        </ul>
      )}
      <CauseList title={t.ruledOut} sign="✓" of={why.ruled_out} />
      <CauseList title={t.unread} sign="?" of={why.unread} />
    </div>
  );
}

function CauseList({ title, sign, of }: { title: string; sign: string; of: CellWhy["ruled_out"] }) {
  const words = useWords();
  if (of.length === 0) return null;
  return (
    <>
      <h4>{title}</h4>
      <ul class="causes">
        {of.map(({ cause, text }) => (
          <li key={cause}>
            <span aria-hidden="true">{sign}</span> <b>{sentence(words.causes[cause])}</b>
            {words.colon}
            <span class="soft">
              <Told text={text} isUnbroken />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
