/** The claims of the experiment with their verdicts and the numbers that decided; its thresholds, as they were kept. */
import { ratio, ratioInterval, value, interval } from "../format";
import type { ClaimResult } from "../schema/page";
import { Mark, claimWord, headed, healthWord } from "../ui/mark";
import { Told } from "../ui/told";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { unitOf } from "./model";

export function Claims({ page }: SectionProps) {
  const words = useWords();
  return (
    <Section id="claims" title={words.sections.claims} about={words.claims.about}>
      <ol class="claims">
        {page.analysis.claims.map((claim, index) => (
          <li key={index}>
            <Mark word={headed(claimWord(words, claim.verdict))} />
            <div>
              <h3>{claim.text}</h3>
              <p>
                <Told text={claim.evidence} isUnbroken isSentence />
              </p>
              <Number claim={claim} words={words} />
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

export function Thresholds({ page }: SectionProps) {
  const words = useWords();
  return (
    <Section id="thresholds" title={words.sections.thresholds} about={words.health.about}>
      <ol class="claims">
        {(page.analysis.thresholds ?? []).map((threshold, index) => (
          <li key={index}>
            <Mark word={headed(healthWord(words, threshold.verdict))} />
            <div>
              <h3>{threshold.text}</h3>
              <p>
                <Told text={threshold.evidence} isUnbroken isSentence />
              </p>
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** The number that decided, where the sentence above does not tell it. */
function Number({ claim, words }: { claim: ClaimResult; words: Words }) {
  if (typeof claim.ratio === "number" && claim.evidence.text.includes(ratio(claim.ratio))) return null;
  if (typeof claim.ratio === "number") {
    const ends = claim.interval ? ratioInterval(claim.interval) : words.noInterval;
    return (
      <p class="number">
        {words.ratio} <strong>{ratio(claim.ratio)}</strong> ({ends})
      </p>
    );
  }
  const { metric } = claim;
  // Older files have metrics alone, and their unit is known by their name.
  const unit = claim.unit ?? (typeof metric === "string" ? unitOf(metric) : undefined);
  if (typeof claim.value !== "number" || !unit) return null;
  if (claim.evidence.text.includes(value(unit, claim.value))) return null;
  const ends = claim.interval ? interval(unit, claim.interval) : words.noInterval;
  return (
    <p class="number">
      <strong>{value(unit, claim.value)}</strong> ({ends})
    </p>
  );
}
