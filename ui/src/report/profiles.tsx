/**
 * Flame graphs of the profiles, taken under a load of their own after the trials, and what could not be taken. One can
 * be held against the same profile of another cell.
 */
import { useMemo, useState } from "preact/hooks";
import { Flame, profileAmount } from "../charts";
import { type Maybe, NONE, percent } from "../format";
import type { PageProfile, TopFunction } from "../schema/page";
import { nameColumn, numberColumn } from "../ui/columns";
import { Choose, Fold, Refusal, useFew } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { type Tell, Told, useTold } from "../ui/told";
import { english } from "../words/said/text";
import { type Words, useWords } from "../words";
import { Figure, Section, type SectionProps } from "./frame";

export function Profiles({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const { profiles } = page;
  const { shown, isFew, at, choose } = useFew(profiles);
  // Without profiles the note says why there are none.
  const about =
    profiles.length > 0 ? words.profiles.about : page.profiles_note && <Told text={page.profiles_note} />;
  return (
    <Section id="profiles" title={words.sections.profiles} about={about}>
      {!isFew && (
        <Choose
          label={words.profiles.profile}
          value={at}
          choose={choose}
          options={profiles.map(nameOf(told, words))}
        />
      )}
      {shown.map((profile) => (
        <OneProfile
          key={`${profile.cell} ${profile.name}`}
          profile={profile}
          others={profiles.filter(({ cell, name }) => cell !== profile.cell && name === profile.name)}
          run={page.analysis.run}
        />
      ))}
      {page.profiles_refused.map(({ cell, label, refused }) => (
        <Refusal key={`${cell} ${refused.kind}`} what={`${told(label, "cell")}${words.comma}${refused.kind}`}>
          <Told text={refused.why} />
          {words.semicolon}
          <Told text={refused.remedy} />
        </Refusal>
      ))}
    </Section>
  );
}

const nameOf =
  (told: Tell, words: Words) =>
  ({ label, name }: PageProfile) =>
    `${told(label, "cell")}${words.comma}${told(name)}`;

interface OneProfileProps {
  profile: PageProfile;
  /** The same of other cells, which it can be held against. */
  others: PageProfile[];
  run: string;
}

function OneProfile({ profile, others, run }: OneProfileProps) {
  const words = useWords();
  const told = useTold();
  const named = useMemo(() => ({ ...profile, label: told(profile.label, "cell") }), [profile, told]);
  const t = words.profiles;
  const [against, hold] = useState(0);
  return (
    <>
      {others.length > 0 && (
        <Choose
          label={t.against}
          value={against}
          choose={hold}
          options={[words.none, ...others.map(({ label }) => told(label, "cell"))]}
        />
      )}
      <Figure
        title={nameOf(told, words)(profile)}
        about={`${t.total(`${profileAmount(profile.unit, profile.total)} ${t.units[profile.unit]}`)}${words.comma}${profile.origin}`}
      >
        <Flame profile={named} before={others[against - 1]} />
      </Figure>
      {profile.notes.map((note) => (
        <p class="about" key={english(note)}>
          <Told text={note} />
        </p>
      ))}
      {profile.top.length > 0 && (
        <Fold title={t.top}>
          {() => (
            <DataTable
              caption={t.top}
              file={[run, "profile", profile.cell, profile.name]}
              columns={columns(profile.unit, words)}
              rows={profile.top}
              dense
            />
          )}
        </Fold>
      )}
    </>
  );
}

const columns = (unit: PageProfile["unit"], words: Words): Column<TopFunction>[] => [
  nameColumn(
    words.profiles.function,
    "function",
    (row) => <code>{row.function || NONE}</code>,
    (row) => row.function,
  ),
  numberColumn(words.profiles.own, `own_${unit}`, amount(unit), (row) => row.flat),
  numberColumn("", "own_share", percent, (row) => row.flat_share),
  numberColumn(words.profiles.withCallees, `with_callees_${unit}`, amount(unit), (row) => row.cumulative),
  numberColumn("", "with_callees_share", percent, (row) => row.cumulative_share),
];

const amount =
  (unit: PageProfile["unit"]) =>
  (value: Maybe): string =>
    value == null ? NONE : profileAmount(unit, value);
