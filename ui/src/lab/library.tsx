/**
 * The library of runs: search, tags, notes, states, and the choice of runs to compare.
 *
 * Invariants: the search is the server's, over all runs; what was searched stands in the address, so that it can be
 * kept; the list looks again by itself while it is seen, for runs come and go.
 */
import { useCallback, useEffect, useState } from "preact/hooks";
import type { RunCard, RunList, RunState } from "../schema/lab-runs";
import { Mark, beliefWord } from "../ui/mark";
import { NamesContext, Told } from "../ui/told";
import { useWords } from "../words";
import { to, wall } from "./address";
import { api, get } from "./api";
import { SearchField, Shown, StateMark } from "./frame";
import { LabelOf } from "./label";
import { useEvery, useLoaded } from "./state";
import { english } from "../words/said/text";

const PAGE = 50;
const LOOK_EVERY_MS = 5_000;
const TYPING_MS = 250;
const STATES: RunState[] = ["running", "done", "interrupted", "damaged"];

interface Wanted {
  q: string;
  tag: string;
  state: string;
  limit: number;
}

const queryOf = ({ q, tag, state }: Wanted) =>
  new URLSearchParams(Object.entries({ q, tag, state }).filter(([, value]) => value !== ""));

export function Library() {
  const [wanted, want] = useState<Wanted>(() => {
    const query = new URLSearchParams(location.search);
    const of = (key: string) => query.get(key) ?? "";
    return { q: of("q"), tag: of("tag"), state: of("state"), limit: PAGE };
  });
  const [chosen, choose] = useState<string[]>([]);
  const query = queryOf(wanted);
  const address = `${api("runs")}?${query}&limit=${wanted.limit}`;
  const loaded = useLoaded<RunList>(address, (signal) => get(address, signal));
  useEvery(LOOK_EVERY_MS, loaded.again);
  useEffect(() => history.replaceState(null, "", query.size ? `./?${query}` : "./"), [query.toString()]);
  const toggle = useCallback(
    (id: string) => choose((old) => (old.includes(id) ? old.filter((other) => other !== id) : [...old, id])),
    [],
  );
  const t = useWords().lab.library;
  return (
    <>
      <h1>{t.title}</h1>
      <Search wanted={wanted} want={want} tags={loaded.value?.tags ?? []} />
      <Shown of={loaded}>
        {(list) => (
          <>
            <p class="lab-count" role="status">
              {t.found(list.total)}
            </p>
            {list.notes.map((note) => (
              <p class="refusal" key={english(note)}>
                <Told text={note} />
              </p>
            ))}
            {list.runs.length === 0 && <p class="lead">{query.size ? t.none : t.empty}</p>}
            <ul class="lab-runs">
              {list.runs.map((card) => (
                <Card
                  key={card.id}
                  card={card}
                  isChosen={chosen.includes(card.id)}
                  toggle={toggle}
                  onSaved={loaded.again}
                />
              ))}
            </ul>
            {list.runs.length < list.total && (
              <button
                type="button"
                class="plain"
                onClick={() => want({ ...wanted, limit: wanted.limit + PAGE })}
              >
                {t.more}
              </button>
            )}
          </>
        )}
      </Shown>
      <Chosen ids={chosen} clear={() => choose([])} />
    </>
  );
}

interface SearchProps {
  wanted: Wanted;
  want: (wanted: Wanted) => void;
  tags: RunList["tags"];
}

function Search({ wanted, want, tags }: SearchProps) {
  const words = useWords();
  const t = words.lab.library;
  const [typed, type] = useState(wanted.q);
  useEffect(() => {
    if (typed === wanted.q) return;
    const timer = setTimeout(() => want({ ...wanted, q: typed, limit: PAGE }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <form class="lab-search no-print" role="search" onSubmit={(event) => event.preventDefault()}>
      <SearchField label={t.search} hint={t.searchHint} value={typed} onInput={type} />
      <label class="choose">
        <span>{t.state}</span>
        <select
          value={wanted.state}
          onChange={(event) => want({ ...wanted, state: event.currentTarget.value, limit: PAGE })}
        >
          <option value="">{t.any}</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {words.lab.states[state]}
            </option>
          ))}
        </select>
      </label>
      {(tags.length > 0 || wanted.tag !== "") && (
        <label class="choose">
          <span>{t.tag}</span>
          <select
            value={wanted.tag}
            onChange={(event) => want({ ...wanted, tag: event.currentTarget.value, limit: PAGE })}
          >
            <option value="">{t.any}</option>
            {tags.map(({ tag, runs }) => (
              <option key={tag} value={tag}>
                {`${tag} (${runs})`}
              </option>
            ))}
          </select>
        </label>
      )}
    </form>
  );
}

interface CardProps {
  card: RunCard;
  isChosen: boolean;
  toggle: (id: string) => void;
  onSaved: () => void;
}

function Card({ card, isChosen, toggle, onSaved }: CardProps) {
  const words = useWords();
  const t = words.lab;
  const isLive = card.state === "running";
  const isDamaged = card.state === "damaged";
  return (
    <li class={isLive ? "lab-card is-live" : "lab-card"}>
      <label class="lab-choose">
        <input
          type="checkbox"
          checked={isChosen}
          disabled={isDamaged}
          onChange={() => toggle(card.id)}
          aria-label={t.library.choose(card.id)}
        />
      </label>
      <div>
        <h2>
          {isDamaged ? (
            card.id
          ) : (
            <a href={isLive ? to.live(card.id) : to.run(card.id)}>{card.question || card.id}</a>
          )}
        </h2>
        {!isDamaged && (
          <p class="lab-answer">
            {card.answer ? (
              <NamesContext.Provider value={card.targets}>
                <Told text={card.answer} isUnbroken isSentence />
              </NamesContext.Provider>
            ) : (
              <span class="soft">{t.noAnswer}</span>
            )}
          </p>
        )}
        {card.cause && (
          <p class="lab-cause">
            <Told text={card.cause} />
          </p>
        )}
        <p class="lab-facts">
          <StateMark state={card.state} />
          {!isDamaged && <span>{t.of(card.trials_done, card.trials_planned)}</span>}
          {card.belief && (
            <span>
              <span class="soft">{t.library.believed}</span> <Mark word={beliefWord(words, card.belief)} />
            </span>
          )}
          {card.started_wall && <time dateTime={card.started_wall}>{wall(card.started_wall)}</time>}
          {card.name && <a href={to.history(card.name)}>{card.name}</a>}
          {card.targets.length > 0 && <span class="soft">{card.targets.join(", ")}</span>}
        </p>
        {!isDamaged && <LabelOf card={card} onSaved={onSaved} />}
      </div>
    </li>
  );
}

/** What was chosen, at the lower edge. */
function Chosen({ ids, clear }: { ids: string[]; clear: () => void }) {
  const t = useWords().lab.library;
  if (ids.length === 0) return null;
  return (
    <aside class="lab-chosen no-print" aria-label={t.compare}>
      <span>{t.chosen(ids.length)}</span>
      {ids.length > 1 && (
        <a class="lab-button" href={to.compare(ids)}>
          {t.compare}
        </a>
      )}
      <button type="button" class="plain" onClick={clear}>
        {t.clear}
      </button>
    </aside>
  );
}
