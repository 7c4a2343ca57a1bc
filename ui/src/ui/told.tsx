/**
 * A sentence of the analysis in the language of the page (`words/told`).
 *
 * Invariants: in English it is the sentence as it stands in the file; on the Chinese page, what has no Chinese is marked
 * as English, so that it is read aloud as such. It is text, never markup.
 */
import { useContext } from "preact/hooks";
import { LangContext, useWords } from "../words";
import { tellerZh } from "../words/told";

/** Where a line must not break: between a number and its unit, and around the dots of an interval. */
export const unbroken = (text: string): string =>
  text.replace(/(\d) (?=(%|ns|µs|ms|s|min|h|KiB|MiB|GiB|[…])(\W|$))/g, "$1\u00a0");

/** What a text is, if it is no sentence: the name of a cell, where something holds (a load), the limits of a target, a factor or its level. */
export type ToldAs = "cell" | "place" | "limits" | "factor" | "level" | "title" | "limit_source";

interface ToldProps {
  text: string | null | undefined;
  as?: ToldAs;
  /** Keeps numbers and units on one line. */
  isUnbroken?: boolean;
}

export function Told({ text, as, isUnbroken }: ToldProps) {
  const lang = useContext(LangContext);
  if (!text) return null;
  const shown = (of: string) => (isUnbroken ? unbroken(of) : of);
  if (lang === "en") return <>{shown(text)}</>;
  return (
    <>
      {tellerZh()
        .tell(text, as)
        .map((piece, index) =>
          piece.isForeign ? (
            <span lang="en" key={index}>
              {shown(piece.text)}
            </span>
          ) : (
            shown(piece.text)
          ),
        )}
    </>
  );
}

export type Tell = (text: string, as?: ToldAs) => string;

/** The same as plain text, for options, names for the ear, and charts. */
export function useTold(): Tell {
  const lang = useContext(LangContext);
  return lang === "en" ? same : inChinese;
}

const same = (text: string) => text;
const inChinese = (text: string, as?: ToldAs) =>
  tellerZh()
    .tell(text, as)
    .map((piece) => piece.text)
    .join("");

/** Between a word and what it introduces, as the language writes it. */
export const Colon = () => <>{useWords().colon}</>;
