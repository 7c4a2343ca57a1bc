/** Language, theme, print and help; and the keys that do the same. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type ThemeChoice, setTheme, theme, themeChoice, useTheme } from "../theme";
import { printSummary } from "../ui/summary";
import { type Lang, useWords } from "../words";

const CHOICES: ThemeChoice[] = ["auto", "light", "dark"];

export function Controls({
  lang,
  onLang,
  onHelp,
}: {
  lang: Lang;
  onLang: (lang: Lang) => void;
  onHelp: () => void;
}) {
  const words = useWords();
  const t = words.page;
  useTheme();
  const [, again] = useState(0);
  const choose = (choice: ThemeChoice) => {
    setTheme(choice);
    again((n) => n + 1);
  };
  return (
    <div class="controls no-print">
      <div class="switch" role="group" aria-label={t.language}>
        {(["en", "zh"] as const).map((of) => (
          <button type="button" key={of} lang={of} aria-pressed={lang === of} onClick={() => onLang(of)}>
            {of === "en" ? "EN" : "中文"}
          </button>
        ))}
      </div>
      <label class="choose">
        <span class="hidden">{t.theme}</span>
        <select value={themeChoice()} onChange={(event) => choose(event.currentTarget.value as ThemeChoice)}>
          {CHOICES.map((of) => (
            <option value={of} key={of}>
              {t.themes[of]}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="plain" onClick={() => print()}>
        {t.print}
      </button>
      <button type="button" class="plain" onClick={printSummary}>
        {t.printSummary}
      </button>
      <button type="button" class="plain" onClick={onHelp} aria-keyshortcuts="?">
        {t.help} <kbd>?</kbd>
      </button>
    </div>
  );
}

/** The list of keys, in a dialog of the browser's own. */
export function Help({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const words = useWords();
  const t = words.page;
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  const keys: [string, string][] = [
    ["j", t.keys.next],
    ["k", t.keys.previous],
    ["g", t.keys.top],
    ["t", t.keys.theme],
    ["l", t.keys.language],
    ["p", t.keys.print],
    ["s", t.keys.printSummary],
    ["← →", t.keys.chart],
    ["?", t.keys.help],
  ];
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">{t.help}</h2>
      <dl>
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="plain" onClick={close}>
        {t.close}
      </button>
    </dialog>
  );
}

interface Keys {
  ids: string[];
  lang: Lang;
  onLang: (lang: Lang) => void;
  onHelp: () => void;
}

/** Keys of the whole page; none of them acts while something is typed or with a modifier. */
export function useKeys({ ids, lang, onLang, onHelp }: Keys) {
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const act: Record<string, (() => void) | undefined> = {
        j: () => go(ids, 1),
        k: () => go(ids, -1),
        g: () => scrollTo({ top: 0 }),
        t: () => setTheme(theme() === "dark" ? "light" : "dark"),
        l: () => onLang(lang === "en" ? "zh" : "en"),
        p: () => print(),
        s: printSummary,
        "?": onHelp,
      };
      const acts = act[event.key];
      if (!acts) return;
      event.preventDefault();
      acts();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [ids.join(" "), lang, onLang, onHelp]);
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.closest("input, select, textarea, dialog, [contenteditable]") !== null;

/** To the next or previous section, and the focus with it. */
function go(ids: string[], step: 1 | -1) {
  const sections = ids.map((id) => document.getElementById(id)).filter((found) => found !== null);
  const next = sections[readingOf(sections) + step];
  if (!next) {
    if (step < 0) scrollTo({ top: 0 });
    return;
  }
  next.scrollIntoView({ block: "start", behavior: "instant" });
  next.focus({ preventScroll: true });
}

/** The one that was jumped to, where it is still in view; else the one at the top of the view; −1 above the first. */
function readingOf(sections: HTMLElement[]): number {
  const jumped = sections.findIndex((section) => section === document.activeElement);
  if (jumped >= 0) {
    const { top, bottom } = sections[jumped]!.getBoundingClientRect();
    if (top < innerHeight && bottom > 0) return jumped;
  }
  // What is reached lies a little below the edge, because of the margin of scrolling.
  const EDGE = 80;
  return sections.findLastIndex((section) => section.getBoundingClientRect().top <= EDGE);
}
