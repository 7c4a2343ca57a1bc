/** The host as it was found, what matters most first, and in what it differs from that of another run. */
import { useMemo } from "preact/hooks";
import { NONE, count } from "../format";
import type { Difference, EnvironmentDiff, Fact, PageFile, Severity, Weight } from "../schema/page";
import { markColumn, nameColumn, ownNameColumn, textColumn } from "../ui/columns";
import { severityWord } from "../ui/mark";
import { Fold } from "../ui/parts";
import { type Column, DataTable, Facts } from "../ui/table";
import { type Tell, Told, useTold } from "../ui/told";
import { type Text, already } from "../words/said/text";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";

type Version = [name: string, version: string | null | undefined];

const SEVERITIES: Severity[] = ["problem", "warning", "note", "ok"];
const WEIGHTS: Weight[] = ["decisive", "possible", "unknown"];

export function Environment({ page }: SectionProps) {
  const words = useWords();
  const t = words.environment;
  const told = useTold();
  const { run } = page;
  const facts = useMemo(
    () =>
      SEVERITIES.flatMap((severity) => run.environment.facts.filter((fact) => fact.severity === severity)),
    [run],
  );
  const loud = facts.filter(({ severity }) => severity === "problem" || severity === "warning");
  const quiet = facts.filter((fact) => !loud.includes(fact));
  const tuned = run.environment.tuned ?? [];
  return (
    <Section id="environment" title={words.sections.environment} about={t.about}>
      {page.environment_difference && <DifferenceOf diff={page.environment_difference} run={run.id} />}
      {loud.length > 0 && (
        <DataTable
          caption={t.loud}
          file={[run.id, "environment"]}
          columns={columns(words)}
          rows={loud}
          below={remedies(told)}
        />
      )}
      <Fold title={t.quiet(quiet.length)}>
        {() => (
          <DataTable
            caption={t.all}
            file={[run.id, "environment", "all"]}
            columns={columns(words)}
            rows={quiet}
            below={remedies(told)}
          />
        )}
      </Fold>
      {tuned.length > 0 && (
        <>
          <h3>{t.tuned}</h3>
          <Facts rows={tuned.map(({ name, old, new: now }) => [name, t.insteadOf(now, old)])} />
        </>
      )}
      <Versions versions={run.versions} run={run.id} />
      {(run.services ?? []).length > 0 && (
        <>
          <h3>{t.services}</h3>
          <Facts
            rows={run.services!.map((service) => [
              service.name,
              Object.values(service.versions ?? {}).join(words.semicolon),
            ])}
          />
        </>
      )}
    </Section>
  );
}

/** A target that tells its libraries has dozens of versions. */
const VERSIONS_SHOWN = 12;

function Versions({ versions, run }: { versions: PageFile["run"]["versions"]; run: string }) {
  const words = useWords();
  const rows = Object.entries(versions);
  if (rows.length <= VERSIONS_SHOWN) {
    return (
      <>
        <h3>{words.environment.versions}</h3>
        <Facts rows={rows.map(([name, version]) => [name, version ?? NONE])} />
      </>
    );
  }
  const table = () => (
    <DataTable
      caption={words.environment.versions}
      file={[run, "versions"]}
      columns={[
        ownNameColumn<Version>(words.environment.versionOf, "name", ([name]) => name),
        textColumn<Version>(words.environment.version, "version", ([, version]) => version),
      ]}
      rows={rows}
      dense
    />
  );
  return <Fold title={`${words.environment.versions} (${count(rows.length)})`}>{table}</Fold>;
}

const remedies =
  (told: Tell) =>
  ({ remedy }: Fact) =>
    remedy ? [already(`→ ${told(remedy)}`)] : [];

const columns = (words: Words): Column<Fact>[] => [
  markColumn(
    words.environment.state,
    "severity",
    (row) => severityWord(words, row.severity),
    (row) => row.severity,
  ),
  factColumn(words),
  textColumn(words.environment.found, "found", (row) => row.value),
  textColumn(words.environment.effect, "effect", (row) => row.effect),
];

const factColumn = <Row extends { title: Text; id: string }>(words: Words): Column<Row> =>
  nameColumn(
    words.environment.fact,
    "fact",
    (row) => <Told text={row.title} />,
    (row) => row.id,
  );

function DifferenceOf({ diff, run }: { diff: EnvironmentDiff; run: string }) {
  const words = useWords();
  const t = words.environment;
  const told = useTold();
  const rows = useMemo(
    () => WEIGHTS.flatMap((weight) => diff.differences.filter((found) => found.weight === weight)),
    [diff],
  );
  return (
    <>
      <h3>{t.difference(told(diff.a), told(diff.b))}</h3>
      <p class="about">{t.same(diff.same, diff.differences.length)}</p>
      {rows.length > 0 && (
        <DataTable
          caption={t.differences}
          file={[run, "environment-difference"]}
          columns={differenceColumns(diff, words, told)}
          rows={rows}
          group={({ weight }) => t.weights[weight]}
          groupKey={({ weight }) => weight}
        />
      )}
      {diff.versions.length > 0 && (
        <Facts rows={diff.versions.map(({ name, a, b }) => [name, `${a} → ${b}`])} />
      )}
    </>
  );
}

const differenceColumns = (diff: EnvironmentDiff, words: Words, told: Tell): Column<Difference>[] => [
  factColumn(words),
  textColumn(told(diff.a), "a", (row) => row.a, words.unknown),
  textColumn(told(diff.b), "b", (row) => row.b, words.unknown),
  textColumn(words.environment.effect, "effect", (row) => row.effect),
];
