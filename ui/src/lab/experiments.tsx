/**
 * The experiments: files that can be started, and what has runs.
 *
 * Invariant: what is started is named by its file in the list; the server takes no command and no argument.
 */
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Children } from "../jsx/children";
import type { ExperimentCard, ExperimentList, StartCard } from "../schema/lab-experiments";
import { Fold } from "../ui/parts";
import { Colon, Told } from "../ui/told";
import { useWords } from "../words";
import { to, wall } from "./address";
import { api, get, send } from "./api";
import { Ask, Shown } from "./frame";
import { type Loaded, useEvery, useLoaded } from "./state";
import type { Accepted } from "../schema/lab-accepted";
import type { LabInfo } from "../schema/lab-info";
import { english } from "../words/said/text";

const LOOK_EVERY_MS = 2_000;
const FOLLOW_EVERY_MS = 250;

export function Experiments() {
  const t = useWords().lab.experiments;
  const info = useLoaded<LabInfo>("lab", (signal) => get(api("lab"), signal));
  const loaded = useLoaded<ExperimentList>("experiments", (signal) => get(api("experiments"), signal));
  const follow = useLive(loaded);
  return (
    <>
      <h1>{t.title}</h1>
      {info.value && (
        <p class="about">{info.value.experiments ? t.about(info.value.experiments) : t.noFolder}</p>
      )}
      <Shown of={loaded}>
        {(list) => (
          <>
            {list.busy && (
              <p class="refusal" role="status">
                <Told text={list.busy} />
              </p>
            )}
            {list.notes.map((note) => (
              <p class="refusal" key={english(note)}>
                <Told text={note} />
              </p>
            ))}
            <Starts starts={list.starts} />
            {groupsOf(list.experiments).map(({ folder, cards }) => (
              <Group key={folder} folder={folder}>
                <ul class="lab-runs">
                  {cards.map((card) => (
                    <Card
                      key={card.file ?? card.name}
                      card={card}
                      isBusy={Boolean(list.busy)}
                      started={follow}
                    />
                  ))}
                </ul>
              </Group>
            ))}
          </>
        )}
      </Shown>
    </>
  );
}

/** Goes to the live page of what was started here, as soon as there is one. */
function useLive({ value, again }: Loaded<ExperimentList>): (start: string) => void {
  const [followed, follow] = useState<string>();
  const start = value?.starts.find(({ id }) => id === followed);
  useEffect(() => {
    if (start?.is_running && start.run) location.assign(to.live(start.run));
    else if (start && !start.is_running) follow(undefined);
  }, [start?.is_running, start?.run]);
  // The run folder is there a moment after the start; nobody should wait for the next look at the list.
  useEvery(followed === undefined ? LOOK_EVERY_MS : FOLLOW_EVERY_MS, again);
  return useCallback((id: string) => follow(id), []);
}

/** Files by the folder that they are in, those of the lab's own folder first; order is kept. */
export function groupsOf(cards: ExperimentCard[]): { folder: string; cards: ExperimentCard[] }[] {
  const groups = new Map<string, ExperimentCard[]>([["", []]]);
  for (const card of cards) {
    const folder = card.file?.includes("/") ? card.file.slice(0, card.file.lastIndexOf("/")) : "";
    groups.set(folder, [...(groups.get(folder) ?? []), card]);
  }
  return [...groups].map(([folder, cards]) => ({ folder, cards })).filter(({ cards }) => cards.length > 0);
}

/** What lies in a folder of its own, such as experiments with planted faults, stands apart and is folded. */
function Group({ folder, children }: { folder: string; children: Children }) {
  if (folder === "") return <>{children}</>;
  return <Fold title={<code>{folder}/</code>}>{() => children}</Fold>;
}

interface StartProps {
  isBusy: boolean;
  /** Called with the identifier of the start. */
  started: (start: string) => void;
}

function Card({ card, isBusy, started }: StartProps & { card: ExperimentCard }) {
  const t = useWords().lab.experiments;
  return (
    <li class="lab-card">
      <div>
        <h2>{card.name || card.file}</h2>
        {card.question && <p class="lab-answer">{card.question}</p>}
        {card.error && (
          <p class="lab-cause">
            {t.broken}
            <Colon />
            <Told text={card.error} />
          </p>
        )}
        <p class="lab-facts">
          {card.file ? <code>{card.file}</code> : <span class="soft">{t.onlyRuns}</span>}
          <span>{t.runs(card.runs)}</span>
          {card.last_run && (
            <span>
              <span class="soft">{t.last}</span> <a href={to.run(card.last_run)}>{card.last_run}</a>
            </span>
          )}
          {card.runs > 0 && <a href={to.history(card.name)}>{t.history}</a>}
        </p>
      </div>
      {card.file && !card.error && <Start file={card.file} isBusy={isBusy} started={started} />}
    </li>
  );
}

function Start({ file, isBusy, started }: StartProps & { file: string }) {
  const t = useWords().lab.experiments;
  return (
    <div class="lab-start">
      <Ask
        label={t.start}
        question={t.startAsk(file)}
        about={t.startAbout}
        yes={t.startYes}
        no={t.startNo}
        disabled={isBusy}
        act={async () => {
          const accepted = await send<Accepted>("POST", api("experiments", file, "start"));
          if (accepted.start) started(accepted.start);
        }}
      />
    </div>
  );
}

function Starts({ starts }: { starts: StartCard[] }) {
  const t = useWords().lab;
  if (starts.length === 0) return null;
  return (
    <section aria-labelledby="starts-title">
      <h2 id="starts-title">{t.experiments.starts}</h2>
      <ul class="lab-runs">
        {starts.map((start) => (
          <li class={start.is_running ? "lab-card is-live" : "lab-card"} key={start.id}>
            <div>
              <p class="lab-facts">
                <code>{start.file}</code>
                <time dateTime={start.started_wall}>{wall(start.started_wall)}</time>
                <span>
                  {start.is_running ? t.experiments.running : t.experiments.exit(start.exit_code ?? 0)}
                </span>
                {start.run && (
                  <a href={start.is_running ? to.live(start.run) : to.run(start.run)}>
                    {start.is_running ? t.library.watch : start.run}
                  </a>
                )}
                <a href={api("starts", start.id, "log")} download={`${start.id}.log`}>
                  {t.experiments.log}
                </a>
              </p>
              {start.log_tail.length > 0 && (
                <pre class="log" tabIndex={0} aria-label={t.experiments.log}>
                  {start.log_tail.join("\n")}
                </pre>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
