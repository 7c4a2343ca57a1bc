/**
 * Small parts that several sections share: folds, refusals, footnotes, text that can be copied.
 *
 * Invariant: a refusal is shown with its reason where the number would stand.
 */
import type { Children } from "../jsx/children";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWords } from "../words";
import { usePrinting } from "./lazy";
import { Colon, Told } from "./told";
import { type Text, english, isText } from "../words/said/text";

/** What is open when asked, and on paper. Its content is made when it is first open. */
export function Fold({
  title,
  children,
  open,
}: {
  title: Children;
  children: () => Children;
  open?: boolean;
}) {
  const [isOpen, set] = useState(open ?? false);
  const [wasOpen, opened] = useState(isOpen);
  const isPrinting = usePrinting();
  const isShown = isOpen || isPrinting;
  return (
    <details
      open={isShown}
      onToggle={(event) => {
        if (isPrinting) return;
        set(event.currentTarget.open);
        if (event.currentTarget.open) opened(true);
      }}
    >
      <summary>
        <span>{title}</span>
      </summary>
      {(isShown || wasOpen) && children()}
    </details>
  );
}

/** Why a number is not given, and what would cure it. */
export function Refusal({ what, children }: { what?: string; children: Text | Children }) {
  const words = useWords();
  return (
    <p class="refusal">
      <span aria-hidden="true">– </span>
      <strong>
        {what ? `${what} ${words.refused}` : words.refusedAlone}
        <Colon />
      </strong>
      {isText(children) ? <Told text={children} /> : children}
    </p>
  );
}

/** Distinct remarks, numbered from 1 in the order in which they come. */
export class Footnotes {
  readonly texts: Text[];

  constructor(remarks: (Text | null | undefined)[]) {
    const told = remarks.filter((text): text is Text => Boolean(text && english(text)));
    this.texts = [...new Map(told.map((text) => [english(text), text])).values()];
  }

  /** The number of the remark; nothing for no remark. */
  sign(text: Text | null | undefined): Children {
    const index = text ? this.texts.findIndex((known) => english(known) === english(text)) : -1;
    return index < 0 ? null : <sup class="note">{index + 1}</sup>;
  }
}

export function Notes({ notes }: { notes: Footnotes }) {
  if (notes.texts.length === 0) return null;
  return (
    <ol class="footnotes">
      {notes.texts.map((text) => (
        <li key={english(text)}>
          <Told text={text} isUnbroken isSentence />
        </li>
      ))}
    </ol>
  );
}

/** Text in fixed width with a button that copies it. */
export function Copied({ text, label, long }: { text: string; label: string; long?: boolean }) {
  const words = useWords();
  const [done, tell] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    await write(text);
    tell(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => tell(false), 2000);
  };
  return (
    <div class={long ? "copied long" : "copied"}>
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <button type="button" class="plain no-print" onClick={() => void copy()}>
        {done ? words.copyDone : words.copy}
      </button>
      <span class="hidden" aria-live="polite">
        {done ? words.copyDone : ""}
      </span>
    </div>
  );
}

/** A page from a file has no clipboard interface in some browsers; the old way works there. */
async function write(text: string) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const before = document.activeElement;
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}

interface Few<T> {
  shown: T[];
  /** Whether all of them are shown, so that there is nothing to choose. */
  isFew: boolean;
  at: number;
  choose: (index: number) => void;
}

/** All of a list where it is short, and on paper; else the one that was chosen. */
export function useFew<T>(all: T[], most = 1): Few<T> {
  const [at, choose] = useState(0);
  const isPrinting = usePrinting();
  const isFew = all.length <= most;
  return { shown: isFew || isPrinting ? all : all.slice(at, at + 1), isFew, at, choose };
}

/** One of several by number. */
export function Choose({
  label,
  value,
  choose,
  options,
}: {
  label: string;
  value: number;
  choose: (index: number) => void;
  options: string[];
}) {
  return (
    <label class="choose no-print">
      <span>{label}</span>
      <select value={value} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {options.map((option, index) => (
          <option key={index} value={index}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}
