/**
 * Dark or light: the choice (`auto` follows the system), kept for the next visit where the browser allows it.
 *
 * Invariants: `<html data-theme>` is always `light` or `dark`, so that style sheets and charts need ask only that;
 * on paper it is light. Charts read their colours by `token` and draw again when `useTheme` changes.
 */
import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";
export type ThemeChoice = Theme | "auto";

const KEY = "prony-theme";
const listeners = new Set<() => void>();
let choice: ThemeChoice = "auto";
let isPrinting = false;

const systemDark = () => globalThis.matchMedia?.("(prefers-color-scheme: dark)");

/** What is shown now. */
export function theme(): Theme {
  if (isPrinting) return "light";
  if (choice !== "auto") return choice;
  return systemDark()?.matches ? "dark" : "light";
}

/** What was chosen. */
export const themeChoice = (): ThemeChoice => choice;

function apply() {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener();
}

/** Chooses, and remembers. */
export function setTheme(next: ThemeChoice) {
  choice = next;
  remember(KEY, next);
  apply();
}

/** Call once, before the first render. */
export function startTheme() {
  const known = remembered(KEY);
  if (known === "light" || known === "dark") choice = known;
  systemDark()?.addEventListener("change", apply);
  const printing = (on: boolean) => () => {
    isPrinting = on;
    apply();
  };
  addEventListener("beforeprint", printing(true));
  addEventListener("afterprint", printing(false));
  apply();
}

/** The theme that is shown; renders again when it changes. */
export function useTheme(): Theme {
  const [shown, show] = useState(theme);
  useEffect(() => {
    const listener = () => show(theme());
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return shown;
}

/** The present value of a design token, for example `token("series-1")`. */
export const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** How many colours of series there are; more series than that begin again, with another sign. */
export const SERIES_COLOURS = 8;

/** The token of series `index`, from 0. */
export const seriesToken = (index: number): string => `series-${(index % SERIES_COLOURS) + 1}`;

/** Reads a remembered choice; a browser that forbids it is no error. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Remembers a choice; as above. */
export function remember(key: string, value: string) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // A page from a file may have no storage: the choice holds until it is closed.
  }
}
