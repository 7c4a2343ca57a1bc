/**
 * The agents of a fleet: how well each clock was known, what each delivered and how late it was, and the gates that each
 * kept.
 *
 * Invariant: the worst is that of one trial, and says so in its head; an agent that failed a gate is marked by a word.
 * Differences between agents' times are named and void nothing: agents stand at different places in the network.
 */
import { NONE, count, duration, percent, ratio } from "../format";
import type { AgentRatio, AgentSummary, FleetSummary } from "../schema/page";
import { fileColumn, markColumn, numberColumn, ownNameColumn } from "../ui/columns";
import type { Word } from "../ui/mark";
import { type Column, DataTable, Facts } from "../ui/table";
import { Told } from "../ui/told";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";

export const hasAgents = ({ page }: SectionProps): boolean => Boolean(page.analysis.fleet);

export function Agents({ page }: SectionProps) {
  const words = useWords();
  return (
    <Section id="agents" title={words.sections.agents} about={words.agents.about}>
      <AgentsTable fleet={page.analysis.fleet!} run={page.run.id} />
    </Section>
  );
}

/** As the report and the lab show it. */
export function AgentsTable({ fleet, run }: { fleet: FleetSummary; run: string }) {
  const words = useWords();
  const t = words.agents;
  return (
    <>
      <DataTable
        caption={t.caption(fleet.trials)}
        file={[run, "agents"]}
        columns={columns(words)}
        rows={fleet.agents}
      />
      {fleet.compared && (
        <p>
          <Told text={fleet.compared.text} isSentence />
        </p>
      )}
      {fleet.trials > 0 && (
        <Facts
          rows={[
            [t.p50Spread, ratio(fleet.p50_spread)],
            [t.p99Spread, ratio(fleet.p99_spread)],
          ]}
        />
      )}
    </>
  );
}

const columns = (words: Words): Column<AgentSummary>[] => {
  const t = words.agents;
  return [
    ownNameColumn(t.agent, "agent", ({ name }) => name),
    ownNameColumn(t.host, "host", ({ host }) => host),
    markColumn(t.gates, "gates_failed", (row) => gatesWord(words, row), gatesOf),
    numberColumn(t.share, "share", percent, ({ share }) => share),
    numberColumn(t.offset, "offset_ns", ahead, ({ offset_ns }) => offset_ns),
    numberColumn(
      t.bound,
      "bound_ns",
      (ns) => `±${duration(ns)}`,
      ({ bound_ns }) => bound_ns,
    ),
    numberColumn(t.apart, "apart_ns", duration, ({ apart_ns }) => apart_ns),
    {
      head: t.delivered,
      key: "delivered_least",
      kind: "number",
      cell: delivered,
      raw: ({ delivered_least }) => delivered_least,
    },
    fileColumn("delivered_most", ({ delivered_most }) => delivered_most),
    numberColumn(t.lag, "pacer_lag_p99_ns", duration, ({ pacer_lag_p99_ns }) => pacer_lag_p99_ns),
    numberColumn(t.steal, "steal_share", percent, ({ steal_share }) => steal_share),
    numberColumn(words.metrics.p50, "response_p50_ns", duration, ({ response_p50_ns }) => response_p50_ns),
    numberColumn(words.metrics.p99, "response_p99_ns", duration, ({ response_p99_ns }) => response_p99_ns),
    ...ofOthers("p50", ({ p50_of_others }) => p50_of_others),
    ...ofOthers("p99", ({ p99_of_others }) => p99_of_others),
    numberColumn(t.reconnects, "reconnects", count, ({ reconnects }) => reconnects),
  ];
};

/** For the file: how an agent's times compare with those of the others. */
const ofOthers = (
  quantile: string,
  of: (row: AgentSummary) => AgentRatio | null | undefined,
): Column<AgentSummary>[] => [
  fileColumn(`${quantile}_of_others`, (row) => of(row)?.ratio),
  fileColumn(`${quantile}_of_others_low`, (row) => of(row)?.interval?.low),
  fileColumn(`${quantile}_of_others_high`, (row) => of(row)?.interval?.high),
  fileColumn(`${quantile}_of_others_p`, (row) => of(row)?.p),
];

const ahead = (ns: number | null | undefined): string => (ns && ns < 0 ? `−${duration(-ns)}` : duration(ns));

function delivered({ delivered_least: least, delivered_most: most }: AgentSummary): string {
  const ends = [percent(least), percent(most)];
  return ends[0] === ends[1] ? ends[0]! : ends.join(" – ");
}

const failed = ({ gates }: AgentSummary) => gates.filter((gate) => gate.failed > 0);

/** For the file: each gate that was not kept, with its trials. */
const gatesOf = (row: AgentSummary): string =>
  failed(row)
    .map(({ gate, failed, trials }) => `${gate} ${failed}/${trials}`)
    .join("; ");

function gatesWord(words: Words, row: AgentSummary): Word {
  const t = words.agents;
  const held = row.gates.filter(({ trials }) => trials > 0);
  if (held.length === 0) return { sign: "·", text: NONE, tone: "quiet" };
  const broken = failed(row).map((gate) =>
    t.notKept(t.gateNames[gate.gate] ?? gate.gate, gate.failed, gate.trials),
  );
  if (broken.length === 0) return { sign: "✓", text: t.kept(held.length), tone: "good" };
  return { sign: "✗", text: broken.join(words.semicolon), tone: "bad" };
}
