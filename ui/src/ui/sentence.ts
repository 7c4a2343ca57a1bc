/**
 * How a sentence looks where it stands alone: it begins with a capital, and its clauses may have a line each.
 *
 * Invariants: a name is never changed, nor is what is no plain word (`p99`, `go/planted`); no character is lost or
 * added, so that the text can be found in the file.
 */

/** The sentence with a capital at its begin, unless it begins with one of these names. English; others have none. */
export function sentence(text: string, names: readonly string[] = []): string {
  if (!/^[a-z]+(?=[\s,:;]|$)/.test(text)) return text;
  const isName = (name: string) => text.startsWith(name) && !/^[\p{L}\p{N}_-]/u.test(text.slice(name.length));
  if (names.some((name) => name !== "" && isName(name))) return text;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The text cut behind each semicolon outside of brackets. */
export function clauses(text: string): string[] {
  const cut: string[] = [];
  let [from, depth] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if ("([（".includes(char)) depth += 1;
    if (")]）".includes(char)) depth -= 1;
    const isEnd = depth <= 0 && (char === "；" || (char === ";" && text.charAt(at + 1) === " "));
    if (!isEnd) continue;
    const next = char === "；" ? at + 1 : at + 2;
    cut.push(text.slice(from, next));
    from = next;
  }
  return [...cut, text.slice(from)].filter((clause) => clause !== "");
}
