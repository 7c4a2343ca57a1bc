/**
 * The words of the user interface in each language. Questions and names stay as they are; sentences of a run: `told/`.
 *
 * Invariants: `zh` has the type of `en`, so a missing or misspelt key does not compile; `<html lang>` says which
 * language is shown.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { en, type Words } from "./en";
import { zh } from "./zh";

export type { Words };
export type Lang = "en" | "zh";

export const WORDS: Record<Lang, Words> = { en, zh };

export const LangContext = createContext<Lang>("en");

/** The words of the language that is shown. */
export const useWords = (): Words => WORDS[useContext(LangContext)];

/** Anything that is not a known language is English. */
export const langOf = (text: string | null | undefined): Lang => (text === "zh" ? "zh" : "en");
