/**
 * Verdicts as a sign, a word and a tone, the same as on the plain page (`crates/report/src/words.rs`).
 *
 * Invariant: a sign always stands beside its word; colour alone never carries a meaning.
 */
import type { Children } from "../jsx/children";
import type {
  BeliefLevel,
  ClaimVerdict,
  Finding,
  FindingSeverity,
  LayerVerdict,
  Metric,
  Severity,
  SoakClass,
  ThresholdVerdict,
  TrialOutcome,
  Verdict,
} from "../schema/page";
import { type Words, useWords } from "../words";
import { sentence } from "./sentence";

export type Tone = "strong" | "good" | "warn" | "bad" | "quiet";

/** A word with its sign and its tone. */
export interface Word {
  sign: string;
  text: string;
  tone: Tone;
}

export function Mark({ word, children }: { word: Word; children?: Children }) {
  return (
    <span class={`mark ${word.tone}`}>
      <span class="sign" aria-hidden="true">
        {word.sign}
      </span>
      <span>
        {word.text}
        {children}
      </span>
    </span>
  );
}

/** A word that stands alone, as a heading does. */
export const headed = (of: Word): Word => ({ ...of, text: sentence(of.text) });

const word = (sign: string, text: string, tone: Tone): Word => ({ sign, text, tone });

/** What is not about speed is better or worse instead of faster or slower. */
const NOT_SPEED: Metric[] = ["error_rate", "cpu_per_request", "memory", "alloc_per_request"];

export function verdictWord(words: Words, verdict: Verdict, of: Metric): Word {
  const slow = NOT_SPEED.includes(of);
  switch (verdict) {
    case "faster":
      return word("▲", slow ? words.better : words.verdicts.faster, "good");
    case "slower":
      return word("▼", slow ? words.worse : words.verdicts.slower, "bad");
    case "equivalent":
      return word("=", words.verdicts.equivalent, "strong");
    case "inconclusive":
      return word("?", words.verdicts.inconclusive, "warn");
    case "refused":
      return word("–", words.verdicts.refused, "quiet");
  }
}

const CLAIMS: Record<ClaimVerdict, [string, Tone]> = {
  holds: ["✓", "good"],
  does_not_hold: ["✗", "bad"],
  inconclusive: ["?", "warn"],
  void: ["–", "quiet"],
};

export const claimWord = (words: Words, verdict: ClaimVerdict): Word =>
  word(CLAIMS[verdict][0], words.claims[verdict], CLAIMS[verdict][1]);

const HEALTH: Record<ThresholdVerdict, [string, Tone]> = {
  kept: ["✓", "good"],
  crossed: ["✗", "bad"],
  unknown: ["?", "bad"],
};

export const healthWord = (words: Words, verdict: ThresholdVerdict): Word =>
  word(HEALTH[verdict][0], words.health[verdict], HEALTH[verdict][1]);

const BELIEF: Record<BeliefLevel, [string, Tone]> = {
  yes: ["✓", "good"],
  with_reservations: ["!", "warn"],
  no: ["✗", "bad"],
};

export const beliefWord = (words: Words, level: BeliefLevel): Word =>
  word(BELIEF[level][0], words.belief[level], BELIEF[level][1]);

const OUTCOMES: Record<TrialOutcome, [string, Tone]> = {
  valid: ["✓", "good"],
  void: ["!", "warn"],
  failed: ["✗", "bad"],
};

export const outcomeWord = (words: Words, outcome: TrialOutcome): Word =>
  word(OUTCOMES[outcome][0], words.outcomes[outcome], OUTCOMES[outcome][1]);

const SEVERITIES: Record<Severity, [string, Tone]> = {
  ok: ["✓", "good"],
  note: ["·", "quiet"],
  warning: ["!", "warn"],
  problem: ["✗", "bad"],
};

export const severityWord = (words: Words, severity: Severity): Word =>
  word(SEVERITIES[severity][0], words.severities[severity], SEVERITIES[severity][1]);

const FINDINGS: Record<FindingSeverity, [string, Tone]> = {
  low: ["·", "quiet"],
  medium: ["!", "warn"],
  high: ["✗", "bad"],
};

export function findingWord(words: Words, finding: Pick<Finding, "level" | "severity">): Word {
  if (finding.level === "fact") return word("·", words.asAsked, "quiet");
  const severity = finding.severity ?? "medium";
  return word(FINDINGS[severity][0], words.findingSeverities[severity], FINDINGS[severity][1]);
}

/** A finding as a heading: its cause, with the sign and the tone of its severity. */
export const causeWord = (words: Words, finding: Pick<Finding, "level" | "severity" | "cause">): Word =>
  headed({ ...findingWord(words, finding), text: words.causes[finding.cause] });

const LAYERS: Record<LayerVerdict, [string, Tone]> = {
  costs: ["+", "strong"],
  saves: ["−", "good"],
  not_shown: ["?", "quiet"],
  refused: ["–", "quiet"],
};

export const layerWord = (words: Words, verdict: LayerVerdict): Word =>
  word(LAYERS[verdict][0], words.layers.verdicts[verdict], LAYERS[verdict][1]);

const SOAK: Record<SoakClass, [string, Tone]> = {
  leak: ["✗", "bad"],
  filling: ["✓", "good"],
  steady: ["✓", "good"],
  cannot_tell: ["?", "warn"],
  rising: ["↑", "warn"],
  falling: ["↓", "warn"],
};

export const soakWord = (words: Words, of: SoakClass): Word => word(SOAK[of][0], words.soak[of], SOAK[of][1]);

export const shownWord = (words: Words, isShown: boolean): Word =>
  isShown ? word("✓", words.shown, "strong") : word("?", words.notShown, "quiet");

/** The name of a metric in the language that is shown. */
export function MetricName({ metric }: { metric: Metric }) {
  return <>{useWords().metrics[metric]}</>;
}
