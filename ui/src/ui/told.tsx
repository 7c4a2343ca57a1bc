/**
 * A sentence of the analysis in the language of the page: by its id (`words/said`), or by its text where it has none
 * (`words/told`).
 *
 * Invariants: in English it is the sentence as it stands in the file, but for a capital where it stands alone; on the
 * Chinese page, what has no Chinese is marked as English, so that it is read aloud as such. It is text, never markup:
 * between backquotes it is only shown as code is, with the backquotes out of sight.
 */
import { createContext } from "preact";
import type { Children } from "../jsx/children";
import { useContext } from "preact/hooks";
import { type Lang, LangContext, useWords } from "../words";
import { saidZh } from "../words/said";
import { type Text, english } from "../words/said/text";
import { tellerZh } from "../words/told";
import { clauses, sentence } from "./sentence";

/** Where a line must not break: between a number and its unit, and between a number and what it is held against. */
export const glued = (text: string): string =>
  text
    .replace(/(\d) (?=(%|ns|µs|ms|s|min|h|KiB|MiB|GiB)(\W|$))/g, "$1\u00a0")
    .replace(/([<>]=?|[≤≥]) (?=\d)/g, "$1\u00a0");

/** The same, and around the dots of an interval. */
export const unbroken = (text: string): string => glued(text).replace(/(\S) … (?=\S)/g, "$1\u00a0…\u00a0");

/** What a text is, if it is no sentence: the name of a cell, where something holds (a load), the limits of a target, a factor or its level. */
export type ToldAs = "cell" | "place" | "limits" | "factor" | "level" | "limit_source";

/** The names of a run, which stay as they are also at the begin of a sentence. */
export const NamesContext = createContext<readonly string[]>([]);

interface ToldProps {
  text: Text | null | undefined;
  as?: ToldAs;
  /** Keeps numbers and units on one line. */
  isUnbroken?: boolean;
  /** Stands alone, and begins with a capital. */
  isSentence?: boolean;
  /** Each clause on a line of its own. */
  byClause?: boolean;
}

interface Piece {
  text: string;
  isForeign: boolean;
}

export function Told({ text, as, isUnbroken, isSentence, byClause }: ToldProps) {
  const lang = useContext(LangContext);
  const names = useContext(NamesContext);
  if (!text || english(text) === "") return null;
  const show = ({ text, isForeign }: Piece, key: number): Children => {
    const shown = <Quoted key={key} text={isUnbroken ? unbroken(text) : text} />;
    return isForeign ? (
      <span lang="en" key={key}>
        {shown}
      </span>
    ) : (
      shown
    );
  };
  const pieces: Piece[] =
    lang === "en" && isSentence
      ? [{ text: sentence(english(text), names), isForeign: false }]
      : told(text, lang, as);
  if (!byClause) return <>{pieces.map(show)}</>;
  return (
    <>
      {lines(pieces).map((line, key) => (
        <span class="clause" key={key}>
          {line.map(show)}
        </span>
      ))}
    </>
  );
}

/** The pieces of each clause. */
function lines(pieces: Piece[]): Piece[][] {
  const all: Piece[][] = [];
  let hasEnded = true;
  for (const { text, isForeign } of pieces) {
    for (const clause of clauses(text)) {
      if (hasEnded) all.push([]);
      all.at(-1)!.push({ text: clause, isForeign });
      hasEnded = /(; |；)$/.test(clause);
    }
  }
  return all;
}

/** What stands between backquotes as code. */
function Quoted({ text }: { text: string }) {
  const parts = text.split(/`([^`\n]+)`/);
  if (parts.length < 3) return <>{text}</>;
  return (
    <>
      {parts.map((part, at) =>
        at % 2 === 0 ? (
          part
        ) : (
          <code key={at}>
            <span class="backquote">`</span>
            {part}
            <span class="backquote">`</span>
          </code>
        ),
      )}
    </>
  );
}

/** The text in a language; `as` says what a plain text is, if it is no sentence. */
export function told(text: Text, lang: Lang, as?: ToldAs): Piece[] {
  if (lang === "en") return [{ text: english(text), isForeign: false }];
  return typeof text === "string" ? tellerZh().tell(text, as) : saidZh(text);
}

export type Tell = (text: Text, as?: ToldAs) => string;

/** The same as plain text, for options, names for the ear, and charts. */
export function useTold(): Tell {
  const lang = useContext(LangContext);
  return lang === "en" ? english : inChinese;
}

const inChinese = (text: Text, as?: ToldAs) =>
  told(text, "zh", as)
    .map((piece) => piece.text)
    .join("");

/** Between a word and what it introduces, as the language writes it. */
export const Colon = () => <>{useWords().colon}</>;
