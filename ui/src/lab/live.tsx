/**
 * A run in progress: plan, progress, the present trial with its percentiles and counters, findings, and its end.
 *
 * Invariant: percentiles are those of one interval and are called so; results are the report's.
 */
import { useMemo, useState } from "preact/hooks";
import { CounterName } from "../charts/counters";
import { EndpointsChart } from "../charts/endpoints";
import { AgentsTable } from "../report/agents";
import { TimelineChart, counterFormat, counterTitle } from "../charts/timeline";
import { Sparkline } from "../charts/sparkline";
import type { RequestCurve, Trial } from "../charts/data";
import { count, duration, percent, plain, rate, setting } from "../format";
import type { AgentInterval, Finding, LiveHello, LiveTrial, Progress } from "../schema/lab-hello";
import { markColumn, numberColumn, ownNameColumn, toldNameColumn } from "../ui/columns";
import { Mark, causeWord, outcomeWord } from "../ui/mark";
import { type Column, DataTable } from "../ui/table";
import { NamesContext, Colon, Told } from "../ui/told";
import { type Words, useWords } from "../words";
import { to } from "./address";
import { api, send } from "./api";
import { Ask, FaultBox, SearchField, StateMark } from "./frame";
import { type Live as Known, counterOf, useLive } from "./stream";

export function Live({ run }: { run: string }) {
  const t = useWords().lab;
  const { live, isLost, fault } = useLive(run);
  if (fault && !live) return <FaultBox fault={fault} />;
  if (!live) {
    return (
      <p class="lab-loading" role="status">
        {t.loading}
      </p>
    );
  }
  const { hello } = live;
  return (
    <>
      <Head known={live} isLost={isLost} />
      <Present known={live} />
      <div class="lab-columns">
        <section aria-labelledby="plan-title">
          <h2 id="plan-title">{t.live.plan}</h2>
          <Plan hello={hello} />
        </section>
        <section aria-labelledby="findings-title">
          <h2 id="findings-title">{t.live.findings}</h2>
          <FindingsSoFar findings={hello.findings} hello={hello} />
        </section>
      </div>
      <Trials trials={hello.trials} run={run} />
      <Fleet hello={hello} run={run} />
      <Counters known={live} />
    </>
  );
}

function Head({ known: { hello, hasEnded }, isLost }: { known: Known; isLost: boolean }) {
  const t = useWords().lab;
  const { card, progress } = hello;
  return (
    <section class="lab-live-head" aria-label={t.live.progress}>
      <p class="lab-facts">
        <StateMark state={hasEnded ? card.state : progress.state} />
        <span>{t.of(progress.trials_done, progress.trials_planned)}</span>
        <code>{card.id}</code>
        {isLost && !hasEnded && (
          <span class="mark warn" role="status">
            {t.live.lost}
          </span>
        )}
      </p>
      <h1>{card.question}</h1>
      <progress max={1} value={progress.share} aria-label={t.live.progress}>
        {percent(progress.share)}
      </progress>
      <dl class="lab-numbers">
        <Fact name={t.live.progress} value={percent(progress.share)} />
        <Fact name={t.live.elapsed} value={setting(progress.elapsed_ns)} />
        {!hasEnded && <Fact name={t.live.left} value={setting(progress.left_ns)} />}
      </dl>
      {hasEnded ? (
        <p class="lead">
          {t.live.ended}{" "}
          {card.answer && (
            <span class="lab-answer">
              <NamesContext.Provider value={card.targets}>
                <Told text={card.answer} isUnbroken isSentence />
              </NamesContext.Provider>
            </span>
          )}{" "}
          <a class="lab-button" href={to.run(card.id)}>
            {t.live.report}
          </a>
        </p>
      ) : (
        <Stop run={card.id} />
      )}
    </section>
  );
}

function Stop({ run }: { run: string }) {
  const t = useWords().lab.live;
  const [isAsked, ask] = useState(false);
  if (isAsked) return <p role="status">{t.stopping}</p>;
  return (
    <Ask
      label={t.stop}
      question={t.stopAsk}
      about={t.stopAbout}
      yes={t.stopYes}
      no={t.stopNo}
      tone="bad"
      act={async () => {
        await send("POST", api("runs", run, "stop"));
        ask(true);
      }}
    />
  );
}

function Fact({ name, value, note }: { name: string; value: string; note?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {note && <span class="sub">{note}</span>}
      </dd>
    </div>
  );
}

/** The trial in progress. */
function Present({ known }: { known: Known }) {
  const words = useWords();
  const t = words.lab.live;
  const { progress, intervals } = known.hello;
  const now = progress.trial;
  const trial = useMemo(() => (now ? asTrial(known.hello) : undefined), [intervals, now?.id]);
  if (known.hasEnded) return null;
  if (!now) return <p class="lab-between">{t.between}</p>;
  const last = progress.interval;
  return (
    <section class="lab-present" aria-labelledby="present-title">
      <h2 id="present-title">
        {t.trialNow}
        <Colon />
        <Told text={now.label} as="cell" />
      </h2>
      <p class="lab-facts">
        <span>{words.trialOf(now.id, now.block)}</span>
        <span>{phaseText(progress, words)}</span>
        <span class="soft">
          {setting(now.elapsed_ns)} / {setting(now.expected_ns)}
        </span>
      </p>
      {last && (
        <dl class="lab-numbers big">
          <Fact name={words.metrics.p50} value={duration(last.p50_ns)} />
          <Fact name={words.metrics.p99} value={duration(last.p99_ns)} />
          <Fact name={t.throughput} value={rate(last.throughput_per_s)} />
          <Fact name={t.offered} value={rate(last.scheduled_per_s)} />
          <Fact name={t.failed} value={count(last.failed)} />
          <Fact name={t.inFlight} value={count(last.in_flight)} />
          <Fact name={t.backlog} value={count(last.backlog)} />
          <Fact name={t.generator} value={plain(last.generator_cpus)} />
        </dl>
      )}
      {trial && <TimelineChart trial={trial} />}
      {trial && <Endpoints known={known.hello} trial={trial} />}
      <AgentsNow agents={progress.agents ?? []} run={known.hello.card.id} />
    </section>
  );
}

/** Each agent of a fleet in the last interval; counts are of that interval. */
function AgentsNow({ agents, run }: { agents: AgentInterval[]; run: string }) {
  const words = useWords();
  if (agents.length === 0) return null;
  return (
    <DataTable
      caption={words.lab.live.agentsNow}
      file={[run, "agents-now"]}
      rows={agents}
      columns={agentColumns(words)}
    />
  );
}

const agentColumns = (words: Words): Column<AgentInterval>[] => [
  ownNameColumn(words.agents.agent, "agent", ({ name }) => name ?? words.lab.live.otherAgents),
  numberColumn(words.lab.live.intended, "scheduled", count, ({ scheduled }) => scheduled),
  numberColumn(words.lab.live.answered, "completed", count, ({ completed }) => completed),
  numberColumn(words.lab.live.failed, "failed", count, ({ failed }) => failed ?? 0),
  numberColumn(words.metrics.p50, "p50_ns", duration, ({ p50_ns }) => p50_ns),
  numberColumn(words.metrics.p99, "p99_ns", duration, ({ p99_ns }) => p99_ns),
  numberColumn(words.agents.lag, "pacer_lag_p99_ns", duration, ({ pacer_lag_p99_ns }) => pacer_lag_p99_ns),
];

/** Each request of the scenario, where it has several. */
function Endpoints({ known, trial }: { known: LiveHello; trial: Trial }) {
  const t = useWords().time;
  const { t_ns, requests } = useMemo(() => requestsOf(known, trial.id), [known.intervals, trial.id]);
  if (requests.length < 2) return null;
  return (
    <>
      <h3>{t.endpoints}</h3>
      <EndpointsChart trial={trial} t_ns={t_ns} requests={requests} />
    </>
  );
}

/** The intervals so far by request, in the shape of a trial's details. */
function requestsOf({ intervals }: LiveHello, trial: number): { t_ns: number[]; requests: RequestCurve[] } {
  const own = intervals.filter((interval) => interval.trial === trial && interval.by_request);
  const names = [...new Set(own.flatMap(({ by_request }) => by_request!.map(({ name }) => name ?? null)))];
  const requests = names.map((name): RequestCurve => {
    const found = own.map(({ by_request }) => by_request!.find((one) => (one.name ?? null) === name));
    return {
      name,
      completed: found.map((one) => one?.completed ?? 0),
      p50_ns: found.map((one) => one?.p50_ns ?? null),
      p99_ns: found.map((one) => one?.p99_ns ?? null),
    };
  });
  return { t_ns: own.map(({ t_ns }) => t_ns), requests };
}

function phaseText({ trial }: Progress, words: Words): string {
  const t = words.lab.live;
  if (trial?.phase === "sample" && trial.sample) return t.sampleOf(trial.sample, trial.samples);
  return t.phases[trial?.phase ?? "none"];
}

/** The intervals so far in the shape of a trial, for the chart of trials. */
function asTrial({ intervals, progress }: LiveHello): Trial {
  const now = progress.trial!;
  return {
    id: now.id,
    block: now.block,
    cell: now.cell,
    outcome: "valid",
    reasons: [],
    values: [],
    scheduled: 0,
    completed: 0,
    failed: 0,
    censored: 0,
    series: intervals
      .filter(({ trial }) => trial === now.id)
      .map(({ t_ns, phase, throughput_per_s, p50_ns, p99_ns, failed }) => ({
        t_ns,
        phase: phase ?? null,
        throughput_per_s,
        p50_ns: p50_ns ?? null,
        p99_ns: p99_ns ?? null,
        failed,
      })),
  };
}

/** Each block a row, each trial a sign with its cell. */
function Plan({ hello }: { hello: LiveHello }) {
  const words = useWords();
  const t = words.lab.live;
  const ended = new Map(hello.trials.map((trial) => [trial.id, trial]));
  const label = new Map(hello.cells.map(({ cell, label }) => [cell, label]));
  const blocks = [...new Set(hello.order.map(({ block }) => block))];
  return (
    <ol class="lab-plan">
      {blocks.map((block) => (
        <li key={block}>
          <span class="soft">{t.block(block)}</span>
          <ul>
            {hello.order
              .filter((planned) => planned.block === block)
              .map(({ id, cell }) => {
                const done = ended.get(id);
                const isNow = hello.progress.trial?.id === id;
                const word = done
                  ? outcomeWord(words, done.outcome)
                  : ({
                      sign: isNow ? "▶" : "·",
                      text: isNow ? t.now : t.waiting,
                      tone: isNow ? "strong" : "quiet",
                    } as const);
                return (
                  <li key={id} class={isNow ? "is-now" : ""} title={`${words.trialNumber(id)}: ${word.text}`}>
                    <span class={`mark ${word.tone}`}>
                      <span class="sign" aria-hidden="true">
                        {word.sign}
                      </span>
                      <span class="hidden">{word.text}</span>
                    </span>{" "}
                    <Told text={label.get(cell) ?? cell} as="cell" />
                  </li>
                );
              })}
          </ul>
        </li>
      ))}
    </ol>
  );
}

function FindingsSoFar({ findings, hello }: { findings: Finding[]; hello: LiveHello }) {
  const words = useWords();
  const label = new Map(hello.cells.map(({ cell, label }) => [cell, label]));
  if (findings.length === 0) return <p class="soft">{words.lab.live.noFindings}</p>;
  return (
    <ul class="lab-findings" aria-live="polite">
      {findings.map((finding, index) => (
        <li key={index}>
          <Mark word={causeWord(words, finding)} />
          <span class="soft">
            {words.comma}
            <Told text={label.get(finding.cell) ?? finding.cell} as="cell" />
          </span>
          <p>
            <Told text={finding.text} isUnbroken isSentence />
          </p>
        </li>
      ))}
    </ul>
  );
}

/** The agents so far, where several machines make the load. */
function Fleet({ hello: { fleet }, run }: { hello: LiveHello; run: string }) {
  const words = useWords();
  if (!fleet) return null;
  return (
    <section aria-labelledby="fleet-title">
      <h2 id="fleet-title">{words.sections.agents}</h2>
      <AgentsTable fleet={fleet} run={run} />
    </section>
  );
}

function Trials({ trials, run }: { trials: LiveTrial[]; run: string }) {
  const words = useWords();
  const t = words.lab.live;
  if (trials.length === 0) return <p class="soft">{t.noTrials}</p>;
  return (
    <DataTable
      caption={t.trials}
      file={[run, "live"]}
      rows={[...trials].reverse()}
      below={(row) => row.reasons}
      columns={trialColumns(words)}
    />
  );
}

const trialColumns = (words: Words): Column<LiveTrial>[] => [
  numberColumn(words.trial, "trial", count, (row) => row.id),
  toldNameColumn(words.cell, "cell", (row) => row.label, "cell"),
  markColumn(
    words.verdict,
    "outcome",
    (row) => outcomeWord(words, row.outcome),
    (row) => row.outcome,
  ),
  numberColumn(words.metrics.throughput, "throughput_per_s", rate, (row) => row.throughput_per_s),
  numberColumn(words.metrics.p50, "p50_ns", duration, (row) => row.p50_ns),
  numberColumn(words.metrics.p99, "p99_ns", duration, (row) => row.p99_ns),
  numberColumn(words.lab.live.failed, "failed", count, (row) => row.failed),
];

const SHOWN = 14;
/** What is shown before anybody asks: the target first. */
const FIRST = ["target.process", "target.cgroup", "target", "host.stat", "generator.process"];

function Counters({ known: { hello, values } }: { known: Known }) {
  const words = useWords();
  const t = words.lab.live;
  const [wanted, want] = useState("");
  const all = hello.progress.counters;
  if (all.length === 0) return null;
  const place = (source: string) => {
    const at = FIRST.findIndex((first) => source.startsWith(first));
    return at < 0 ? FIRST.length : at;
  };
  const needles = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all
    .filter((counter) => {
      const text = `${counterTitle(counter, words).name} ${counterOf(counter)}`.toLowerCase();
      return needles.every((needle) => text.includes(needle));
    })
    .sort((a, b) => place(a.source) - place(b.source));
  return (
    <section aria-labelledby="counters-title">
      <h2 id="counters-title">{t.counters}</h2>
      <SearchField label={t.filter} hint={t.filter} value={wanted} onInput={want} />
      {found.length > SHOWN && <p class="about">{t.shownOf(SHOWN, found.length)}</p>}
      <ul class="lab-counters">
        {found.slice(0, SHOWN).map((counter) => {
          const key = counterOf(counter);
          const shown = counterFormat(counter, words)(counter.value);
          const { name, key: code } = counterTitle(counter, words);
          return (
            <li key={key}>
              <CounterName name={name} code={code} />
              <b>{shown}</b>
              <Line values={values.get(key)} label={`${name}: ${shown}`} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** One value is no line yet; its place is kept. */
function Line({ values, label }: { values: number[] | undefined; label: string }) {
  if (!values || values.length < 2) return <span />;
  return <Sparkline values={values} label={label} />;
}
