/** Flame graphs of the profiles, taken under a load of their own after the trials, and what could not be taken. */
import { useState } from "preact/hooks";
import { Flame, profileAmount } from "../charts";
import { NONE, percent } from "../format";
import type { PageProfile, TopFunction } from "../schema/page";
import { usePrinting } from "../ui/lazy";
import { Choose, Fold, Refusal } from "../ui/parts";
import { type Column, DataTable } from "../ui/table";
import { type Words, useWords } from "../words";
import { Figure, Section, type SectionProps } from "./frame";

export function Profiles({ page }: SectionProps) {
  const words = useWords();
  const { profiles } = page;
  const [at, choose] = useState(0);
  const isPrinting = usePrinting();
  const shown = isPrinting ? profiles : profiles.slice(at, at + 1);
  return (
    <Section id="profiles" title={words.sections.profiles} about={page.profiles_note ?? words.profiles.about}>
      {profiles.length > 1 && (
        <Choose label={words.profiles.profile} value={at} choose={choose} options={profiles.map(nameOf)} />
      )}
      {shown.map((profile) => (
        <OneProfile key={`${profile.cell} ${profile.name}`} profile={profile} run={page.analysis.run} />
      ))}
      {page.profiles_refused.map(({ cell, label, refused }) => (
        <Refusal key={`${cell} ${refused.kind}`} what={`${label}, ${refused.kind}`}>
          {refused.why}. {refused.remedy}
        </Refusal>
      ))}
    </Section>
  );
}

const nameOf = ({ label, name }: PageProfile) => `${label}, ${name}`;

function OneProfile({ profile, run }: { profile: PageProfile; run: string }) {
  const words = useWords();
  const t = words.profiles;
  return (
    <>
      <Figure
        title={nameOf(profile)}
        about={`${t.total(`${profileAmount(profile.unit, profile.total)} ${t.units[profile.unit]}`)}${words.comma}${profile.origin}`}
      >
        <Flame profile={profile} />
      </Figure>
      {profile.notes.map((note) => (
        <p class="about" key={note}>
          {note}
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
  {
    head: words.profiles.function,
    key: "function",
    kind: "name",
    cell: (row) => <code>{row.function || NONE}</code>,
    raw: (row) => row.function,
  },
  {
    head: words.profiles.own,
    key: `own_${unit}`,
    kind: "number",
    cell: (row) => profileAmount(unit, row.flat),
    raw: (row) => row.flat,
  },
  {
    head: "",
    key: "own_share",
    kind: "number",
    cell: (row) => percent(row.flat_share),
    raw: (row) => row.flat_share,
  },
  {
    head: words.profiles.withCallees,
    key: `with_callees_${unit}`,
    kind: "number",
    cell: (row) => profileAmount(unit, row.cumulative),
    raw: (row) => row.cumulative,
  },
  {
    head: "",
    key: "with_callees_share",
    kind: "number",
    cell: (row) => percent(row.cumulative_share),
    raw: (row) => row.cumulative_share,
  },
];
