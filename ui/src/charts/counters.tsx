/**
 * One trial over time, and the list from which counters are chosen to be shown under it.
 *
 * Invariants: the list is searched by words in any order, of the names for people and of keys; each counter shows its course, so that one that moves is
 * seen before it is chosen; what is chosen stays chosen from trial to trial, where that trial has it.
 */
import { useMemo, useState } from "preact/hooks";
import { count } from "../format";
import { type Words, useWords } from "../words";
import { clean, extent } from "./base";
import type { Counter, Detail, Trial } from "./data";
import { Sparkline } from "./sparkline";
import { counterFormat, counterKey, counterTitle, TimelineChart } from "./timeline";

/** Longer lists are to be searched, not read. */
const SHOWN_MAX = 40;
/** Panels beyond this cannot be compared any more. */
const CHOSEN_MAX = 8;

/** The counters whose name or key hold all words of `query`; those that move at all come first. */
export function matching(counters: Counter[], query: string, words: Words): Counter[] {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = counters.filter((one) => {
    const { name, key = "" } = counterTitle(one, words);
    const text = `${name} ${key}`.toLowerCase();
    return terms.every((term) => text.includes(term));
  });
  const moves = (one: Counter) => {
    const range = extent(one.values);
    return range !== undefined && range[1] > range[0];
  };
  return [...found.filter(moves), ...found.filter((one) => !moves(one))];
}

interface PickerProps {
  counters: Counter[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

export function CounterPicker({ counters, chosen, onChange }: PickerProps) {
  const words = useWords();
  const t = words.charts;
  const [query, setQuery] = useState("");
  const found = useMemo(() => matching(counters, query, words), [counters, query, words]);
  const toggle = (key: string) =>
    onChange(chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key]);
  return (
    <fieldset class="counter-picker">
      <legend>{t.countersTitle}</legend>
      <label class="counter-search">
        {t.countersSearch}
        <input
          type="search"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
          placeholder={t.countersHint}
        />
      </label>
      <p class="counter-count" aria-live="polite">
        {t.countersFound(count(Math.min(found.length, SHOWN_MAX)), count(counters.length))}
      </p>
      <ul tabIndex={0} aria-label={t.countersTitle}>
        {found.slice(0, SHOWN_MAX).map((one) => (
          <CounterLine
            key={counterKey(one)}
            counter={one}
            isChosen={chosen.includes(counterKey(one))}
            isFull={chosen.length >= CHOSEN_MAX}
            onToggle={toggle}
          />
        ))}
      </ul>
    </fieldset>
  );
}

/** A counter by its name for people with its key beside it, or by its key alone. */
export function CounterName({ name, code }: { name: string; code: string | undefined }) {
  return (
    <span class="counter-name">
      {code === undefined ? (
        <code>{clean(name)}</code>
      ) : (
        <>
          {clean(name)} <code class="counter-key">{clean(code)}</code>
        </>
      )}
    </span>
  );
}

interface LineProps {
  counter: Counter;
  isChosen: boolean;
  isFull: boolean;
  onToggle: (key: string) => void;
}

function CounterLine({ counter, isChosen, isFull, onToggle }: LineProps) {
  const words = useWords();
  const { name, key } = counterTitle(counter, words);
  const range = extent(counter.values);
  const show = counterFormat(counter, words);
  const told = range ? words.charts.fromTo(clean(name), show(range[0]), show(range[1])) : clean(name);
  return (
    <li>
      <label>
        <input
          type="checkbox"
          checked={isChosen}
          disabled={!isChosen && isFull}
          onChange={() => onToggle(counterKey(counter))}
        />
        <CounterName name={name} code={key} />
        <Sparkline values={counter.values} label={told} from={counter.kind === "gauge" ? "least" : "zero"} />
        <span class="counter-range">{range ? `${show(range[0])} … ${show(range[1])}` : "–"}</span>
      </label>
    </li>
  );
}

export interface TrialOverTimeProps {
  trial: Trial;
  detail?: Detail | undefined;
  /** Counters that are shown at first, by `counterKey`; those that findings rest on are a good choice. */
  initial?: string[];
}

export function TrialOverTime({ trial, detail, initial = [] }: TrialOverTimeProps) {
  const [chosen, choose] = useState(initial.slice(0, CHOSEN_MAX));
  return (
    <div class="trial-over-time">
      <TimelineChart trial={trial} detail={detail} counters={chosen} />
      {detail && detail.counters.length > 0 && (
        <CounterPicker counters={detail.counters} chosen={chosen} onChange={choose} />
      )}
    </div>
  );
}
