/** Can this be believed? Gates, instrument, what was refused and why: before any result. */
import type { BeliefNote, CalibrationSummary } from "../schema/page";
import { count, duration, rate } from "../format";
import { Mark, type Tone, beliefWord, headed } from "../ui/mark";
import { Fold } from "../ui/parts";
import { type Tell, Told, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { type Text, english } from "../words/said/text";

const ORDER = ["no", "with_reservations", "yes"] as const;

export function Belief({ page }: SectionProps) {
  const words = useWords();
  const { belief } = page.analysis;
  const level = beliefWord(words, belief.level);
  const of = (level: BeliefNote["level"]) => belief.notes.filter((note) => note.level === level);
  const against = ORDER.slice(0, 2).flatMap(of);
  const kept = of("yes");
  return (
    <Section id="belief" title={words.sections.belief}>
      <div class={`verdict ${level.tone}`}>
        <Mark word={headed(level)} />
        <p>
          <Told text={belief.summary} isUnbroken isSentence />
        </p>
      </div>
      {against.length > 0 && <BeliefNotes notes={against} />}
      {kept.length > 0 && (
        <Fold title={words.belief.kept(kept.length)}>{() => <BeliefNotes notes={kept} />}</Fold>
      )}
      <Instrument of={page.run.calibration ?? null} error={page.analysis.instrument ?? null} />
      {(page.run.weaknesses ?? []).length > 0 && (
        <ul class="plain-list">
          {page.run.weaknesses!.map((text) => (
            <li key={english(text)}>
              <Told text={text} isUnbroken isSentence />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function BeliefNotes({ notes }: { notes: BeliefNote[] }) {
  const words = useWords();
  return (
    <ul class="notes">
      {notes.map((note, index) => {
        const { sign, tone, text } = beliefWord(words, note.level);
        return (
          <Note key={index} sign={sign} tone={tone} level={text} text={note.text} remedy={note.remedy} />
        );
      })}
    </ul>
  );
}

interface NoteProps {
  sign: string;
  tone: Tone;
  level: string;
  text: Text;
  remedy?: Text | null;
}

export function Note({ sign, tone, level, text, remedy }: NoteProps) {
  const remedyTitle = useWords().belief.remedy;
  return (
    <li class={tone}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      <div>
        <span class="hidden">{level}: </span>
        <Told text={text} isUnbroken isSentence />
        {remedy && (
          <Fold title={remedyTitle}>
            {() => (
              <p class="remedy">
                <Told text={remedy} isUnbroken />
              </p>
            )}
          </Fold>
        )}
      </div>
    </li>
  );
}

/** What the instrument can do: a result near that limit would be one of the instrument. */
function Instrument({ of, error }: { of: CalibrationSummary | null; error: Text | null }) {
  const words = useWords();
  const told = useTold();
  return (
    <div class="instrument">
      <h3>{words.instrument.title}</h3>
      <p>{of ? limitText(of, words, told) : words.instrument.notCalibrated}</p>
      {error && (
        <p>
          <Told text={error} isUnbroken isSentence />
        </p>
      )}
      {of && of.shortfalls.length > 0 && (
        <ul class="notes">
          {of.shortfalls.map(({ text, remedy }) => (
            <Note
              key={english(text)}
              sign="!"
              tone="warn"
              level={words.severities.warning}
              text={text}
              remedy={remedy}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

function limitText(of: CalibrationSummary, words: Words, told: Tell): string {
  const t = words.instrument;
  const derived = of.max_rate_derived ? t.derived : "";
  const parts = [
    t.max(rate(of.max_rate_per_s) + derived, count(of.connections), count(of.workers), of.driver),
    of.lag_rate_per_s ? t.lag(duration(of.lag_p99_ns), rate(of.lag_rate_per_s)) : "",
    t.calibrated(of.measured_wall.split("T")[0] ?? of.measured_wall),
    of.disturbed ? t.disturbed(told(of.disturbed)) : "",
    of.stale.length > 0 ? t.stale(of.stale.map((text) => told(text)).join(words.comma)) : "",
  ];
  return parts.filter((part) => part !== "").join(words.semicolon);
}
