/**
 * What all pages of the lab share: the head with its ways, faults, marks of states, and questions to be answered.
 *
 * Invariant: nothing that changes something is done without its button; what cannot be undone asks once more.
 */
import type { Children } from "../jsx/children";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Controls, Help, useKeys } from "../report/controls";
import type { RunState } from "../schema/lab-runs";
import { Mark, type Word } from "../ui/mark";
import { Colon, Told } from "../ui/told";
import { type Lang, type Words, useWords } from "../words";
import { to } from "./address";
import { type Fault, faultOf } from "./api";
import type { Loaded } from "./state";

export type Way = "library" | "experiments" | "none";

interface FrameProps {
  lang: Lang;
  onLang: (lang: Lang) => void;
  way: Way;
  title: string;
  /** The report has these itself. */
  bare?: boolean | undefined;
  children: Children;
}

export function Frame({ lang, onLang, way, title, bare, children }: FrameProps) {
  const words = useWords();
  const t = words.lab;
  const [isHelp, help] = useState(false);
  useLayoutEffect(() => {
    document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
    document.title = `${title} – ${t.brand}`;
  }, [lang, title, t]);
  const here = (of: Way) => (way === of ? ("page" as const) : undefined);
  return (
    <>
      {!bare && (
        <a class="skip" href="#content">
          {words.page.skip}
        </a>
      )}
      <header class="lab-head no-print">
        <a class="lab-brand" href={to.library}>
          {t.brand}
        </a>
        <nav aria-label={t.nav.label}>
          <a href={to.library} aria-current={here("library")}>
            {t.nav.runs}
          </a>
          <a href={to.experiments} aria-current={here("experiments")}>
            {t.nav.experiments}
          </a>
        </nav>
        {!bare && <Controls lang={lang} onLang={onLang} onHelp={() => help(true)} />}
      </header>
      {bare ? (
        children
      ) : (
        <main id="content" class="lab" tabIndex={-1}>
          {children}
        </main>
      )}
      {!bare && <Keys lang={lang} onLang={onLang} onHelp={() => help(true)} />}
      {!bare && <Help isOpen={isHelp} close={() => help(false)} />}
    </>
  );
}

/** The keys of the report, without its sections. */
function Keys(props: { lang: Lang; onLang: (lang: Lang) => void; onHelp: () => void }) {
  useKeys({ ids: [], ...props });
  return null;
}

interface SearchFieldProps {
  label: string;
  hint: string;
  value: string;
  onInput: (text: string) => void;
}

/** A field to search in. */
export function SearchField({ label, hint, value, onInput }: SearchFieldProps) {
  return (
    <label class="lab-q">
      <span class="hidden">{label}</span>
      <input
        type="search"
        value={value}
        placeholder={hint}
        aria-label={label}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

/** What was loaded, or its fault, or a word that it comes. */
export function Shown<T>({ of, children }: { of: Loaded<T>; children: (value: T) => Children }) {
  const t = useWords().lab;
  if (of.value !== undefined) return <>{children(of.value)}</>;
  if (of.fault) return <FaultBox fault={of.fault} again={of.again} />;
  return (
    <p class="lab-loading" role="status">
      {t.loading}
    </p>
  );
}

export function FaultBox({ fault, again }: { fault: Fault; again?: (() => void) | undefined }) {
  const t = useWords().lab;
  return (
    <div class="lab-fault bad" role="alert">
      <p>
        <strong>
          {t.failed}
          <Colon />
        </strong>
        <Told text={fault.why} />
      </p>
      {fault.remedy && (
        <p>
          <span class="soft">
            {t.remedy}
            <Colon />
          </span>
          <Told text={fault.remedy} />
        </p>
      )}
      {again && (
        <button type="button" class="plain" onClick={again}>
          {t.again}
        </button>
      )}
    </div>
  );
}

const STATES: Record<RunState, [string, Word["tone"]]> = {
  running: ["▶", "strong"],
  done: ["✓", "good"],
  interrupted: ["!", "warn"],
  damaged: ["✗", "bad"],
};

export const stateWord = (words: Words, state: RunState): Word => ({
  sign: STATES[state][0],
  tone: STATES[state][1],
  text: words.lab.states[state],
});

interface AskProps {
  label: string;
  question: string;
  about: string;
  yes: string;
  no: string;
  tone?: "bad";
  disabled?: boolean | undefined;
  act: () => Promise<void>;
}

/** A button that asks before it acts, in a dialog of the browser's own. */
export function Ask({ label, question, about, yes, no, tone, disabled, act }: AskProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [fault, tell] = useState<Fault>();
  const [isActing, acts] = useState(false);
  const doIt = async () => {
    acts(true);
    try {
      await act();
      dialog.current?.close();
    } catch (error) {
      tell(faultOf(error));
    }
    acts(false);
  };
  const open = () => {
    tell(undefined);
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" class={`plain ${tone ?? ""}`} disabled={disabled} onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} class="help lab-ask" aria-label={question}>
        <h2>{question}</h2>
        <p>{about}</p>
        {fault && <FaultBox fault={fault} />}
        <div class="lab-buttons">
          <button type="button" class={`plain lab-yes ${tone ?? ""}`} disabled={isActing} onClick={doIt}>
            {yes}
          </button>
          <button type="button" class="plain" autoFocus onClick={() => dialog.current?.close()}>
            {no}
          </button>
        </div>
      </dialog>
    </>
  );
}

export function StateMark({ state }: { state: RunState }) {
  return <Mark word={stateWord(useWords(), state)} />;
}

export function Tags({ tags }: { tags: string[] }) {
  if (tags.length === 0) return null;
  return (
    <ul class="lab-tags" aria-label={useWords().lab.label.tags}>
      {tags.map((tag) => (
        <li key={tag}>{tag}</li>
      ))}
    </ul>
  );
}
