/**
 * Makes text from outside harmless to look at, as `crates/report/src/clean.rs` does: no control, bidirectional or
 * invisible character reaches the page, so that no name can pose as another or turn the line around.
 *
 * Invariants: applied once, to the whole document, before anything is drawn; numbers and structure stay as they are.
 * Absent on purpose: HTML escaping, which is Preact's work: text only ever becomes text nodes and attributes.
 */

/** Shown in place of a character that must not pass. */
const REPLACEMENT = "\ufffd";

// Control characters but line ends and tabs, soft hyphen, marks and overrides of direction, zero-width and invisible
// characters, interlinear annotations, tags, and halves of pairs that stand alone.
const UNSEEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

/** One text: unseen characters become `�`; line ends stay, tabs become four spaces. */
export function cleanText(text: string): string {
  if (isPlain(text)) return text;
  return text.replace(/\r\n/g, "\n").replace(/\t/g, "    ").replace(UNSEEN, REPLACEMENT);
}

/** Whether there is nothing but printable ASCII: the common case, and fast. */
const isPlain = (text: string) => /^[\x20-\x7e\n]*$/.test(text);

/** Every text within `value`, keys of maps too, in place of the old one; arrays of numbers are not walked. */
export function cleanAll<T>(value: T): T {
  return cleaned(value, 0) as T;
}

/** A document deeper than this is not one of prony's. */
const DEPTH_MAX = 400;

function cleaned(value: unknown, depth: number): unknown {
  if (typeof value === "string") return cleanText(value);
  if (value === null || typeof value !== "object" || depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) {
    if (typeof value[0] === "number") return value;
    for (let index = 0; index < value.length; index += 1) value[index] = cleaned(value[index], depth + 1);
    return value;
  }
  const record = value as Record<string, unknown>;
  for (const [key, of] of Object.entries(record)) {
    const name = cleanText(key);
    if (name !== key) delete record[key];
    record[name] = cleaned(of, depth + 1);
  }
  return record;
}
