/**
 * String literals of Rust sources, for the tests that hold the catalogue against them.
 *
 * Comments and modules of tests are left out. A literal's placeholders are replaced by `HOLE`, so that what is between
 * them can be looked for. Only tests use this.
 */

export const HOLE = "\0";

export interface Literal {
  text: string;
  line: number;
  /** It names the literature of a rule: `source: "…"`. */
  isCited: boolean;
}

/** A module or function of tests stands at the end of a file. */
const TESTS = /\n#\[cfg\((?:test|all\(test[^)]*\))\)\]\s*(?:#\[[^\]]*\]\s*)*mod \w+ \{/;

const TOKEN = new RegExp(
  [
    String.raw`//[^\n]*`,
    String.raw`/\*[\s\S]*?\*/`,
    String.raw`r(#*)"[\s\S]*?"\1`,
    String.raw`b?'(?:\\[^']+|[^'\\])'`,
    String.raw`"(?:\\[\s\S]|[^"\\])*"`,
  ].join("|"),
  "g",
);

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", "0": "" };

function content(token: string): string {
  if (token.startsWith("r")) return token.replace(/^r#*"/, "").replace(/"#*$/, "");
  return token
    .slice(1, -1)
    .replace(/\\\n\s*/g, "")
    .replace(/\\u\{([0-9a-fA-F]+)\}/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/\\(.)/g, (_, sign: string) => ESCAPES[sign] ?? sign);
}

const holes = (text: string) =>
  text
    .replaceAll("{{", "\u0001")
    .replaceAll("}}", "\u0002")
    .replace(/\{[^{}]*\}/g, HOLE)
    .replaceAll("\u0001", "{")
    .replaceAll("\u0002", "}");

export function literalsOf(source: string): Literal[] {
  const end = source.search(TESTS);
  const code = end < 0 ? source : source.slice(0, end);
  const found: Literal[] = [];
  for (const token of code.matchAll(TOKEN)) {
    if (!/^(?:"|r#*")/.test(token[0])) continue;
    const line = code.slice(0, token.index).split("\n").length;
    const isCited = /\bsource: $/.test(code.slice(Math.max(0, token.index - 20), token.index));
    found.push({ text: holes(content(token[0])), line, isCited });
  }
  return found;
}

/** What stands between placeholders and says something. */
export const fragments = (text: string): string[] =>
  text
    .split(HOLE)
    .map((part) => part.trim())
    .filter((part) => /[A-Za-z]{2}/.test(part));

/** Whether all fragments stand in a text, one after the other. */
export function holdsInOrder(text: string, parts: string[]): boolean {
  let at = 0;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}
