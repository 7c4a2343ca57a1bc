/**
 * Sentences of the analysis in another language: the English ones are matched against templates, word for word.
 *
 * A template is an English text with slots such as `{q}`; the slot's name is its type (digits only tell several
 * apart), and the type says what it may hold:
 *
 * - `{q}` a quantity, `{n}` a whole number, `{key}` a word without spaces, `{name}` what somebody named: all three stay
 * - `{raw}` a piece of somebody's data: it stays, too, whatever it holds
 * - `{text}` a sentence that is translated, too; `{any}` the same where it is known, else it stays, marked as English
 * - any other: one of the phrases of that kind; `{kind?}` may also be missing
 *
 * Invariants: a template holds for a whole text or not at all; of several the one with the most literal text wins, so
 * the result does not depend on the order of the files; the work for one text is bounded, whatever it holds; what comes
 * out is text, never markup. What is not known comes back as it was.
 */

/**
 * English template, and the same in the other language. `¦` in the template is nothing: it marks where the sources put
 * two texts together, so that a test can find each of them there.
 */
export type Entry = readonly [from: string, to: string];

export interface Catalogue {
  sentences: readonly Entry[];
  kinds: Readonly<Record<string, readonly Entry[]>>;
}

/** A piece of the result; `isForeign` where it stayed English though it is no name and no number. */
export interface Piece {
  text: string;
  isForeign: boolean;
}

/** Longer texts stay as they are: no sentence of the analysis is nearly as long. */
export const LENGTH_MAX = 4000;
/** Comparisons for one text. The dearest of 2,000 of real runs takes a third of this, and 30 ms. */
export const STEPS_MAX = 60_000;
/** After as many texts that took all of theirs, there is a tenth for each. */
const EXHAUSTED_MAX = 4;
/** Places at which one text is cut into two, at most. */
const CUTS_MAX = 16;
const NAME_MAX = 200;
const QUANTITY_MAX = 48;
const REMEMBERED_MAX = 4000;

/** What one text gave: its pieces, and how many of its characters stayed English. */
interface Found {
  pieces: Piece[];
  foreign: number;
}

interface Slot {
  key: string;
  type: string;
}

/** `literals` has one item more than `slots`: before the first, between them, after the last. */
export interface Template {
  literals: string[];
  slots: Slot[];
  to: (string | Slot)[];
  size: number;
  from: string;
}

export const SEAM = "¦";
export const SLOT = /\{([a-z_]+)(\d*)((?:@[a-z_]+\d*)*)(\?)?\}/g;

/** Text and slots in turn, beginning and ending with text. */
function parse(text: string): (string | Slot)[] {
  const parts: (string | Slot)[] = [];
  let at = 0;
  for (const found of text.matchAll(SLOT)) {
    parts.push(text.slice(at, found.index));
    parts.push({ type: found[1]!, key: found[1]! + found[2]! + found[3]! });
    at = found.index + found[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

/** Each `{kind?}` once without it and once for each phrase of the kind in its place. */
export function variants([from, to]: Entry, kinds: Catalogue["kinds"]): Entry[] {
  const optional = /\{([a-z_]+)(\d*)((?:@[a-z_]+\d*)*)\?\}/.exec(from);
  if (!optional) return [[from, to]];
  const [slot, kind, number, path] = optional;
  const own = `@${kind}${number}`;
  const inner = (text: string) =>
    text.replace(SLOT, (_, type, n, path, maybe) => `{${type}${n}${path}${own}${maybe ?? ""}}`);
  const phrases: Entry[] = [["", ""], ...(kinds[kind!] ?? [])];
  return phrases.flatMap(([phrase, other]) =>
    variants(
      [
        from.split(slot!).join(inner(phrase.replaceAll(SEAM, ""))),
        to.split(`{${kind}${number}${path}?}`).join(inner(other)),
      ],
      kinds,
    ),
  );
}

export function compile(entry: Entry, kinds: Catalogue["kinds"]): Template[] {
  return variants([entry[0].replaceAll(SEAM, ""), entry[1]], kinds).map(([from, to]) => {
    const parts = parse(from);
    const literals = parts.filter((part) => typeof part === "string");
    const slots = parts.filter((part) => typeof part !== "string");
    const size = literals.reduce((sum, literal) => sum + literal.length, 0);
    return { literals, slots, to: parse(to), size, from: entry[0] };
  });
}

/** Templates that may fit: by their whole text, by their first word, or by none. */
class Index {
  private readonly whole = new Map<string, Template>();
  private readonly byWord = new Map<string, Template[]>();
  private readonly open: { template: Template; longest: string }[] = [];

  constructor(templates: Template[]) {
    const sorted = [...templates].sort((a, b) => b.size - a.size || (a.from < b.from ? -1 : 1));
    for (const template of sorted) {
      const [first] = template.literals as [string];
      const space = first.indexOf(" ");
      if (template.slots.length === 0) {
        if (!this.whole.has(first)) this.whole.set(first, template);
      } else if (space > 0) {
        const word = first.slice(0, space);
        this.byWord.set(word, [...(this.byWord.get(word) ?? []), template]);
      } else {
        const longest = template.literals.reduce((a, b) => (b.length > a.length ? b : a));
        this.open.push({ template, longest });
      }
    }
  }

  /** The most literal ones first. */
  *of(text: string, step: () => void): Generator<Template> {
    const whole = this.whole.get(text);
    if (whole) yield whole;
    const space = text.indexOf(" ");
    const known = (space > 0 && this.byWord.get(text.slice(0, space))) || [];
    let next = 0;
    for (const { template, longest } of this.open) {
      while (next < known.length && known[next]!.size >= template.size) yield known[next++]!;
      step();
      if (text.includes(longest)) yield template;
    }
    while (next < known.length) yield known[next++]!;
  }
}

class OutOfSteps extends Error {}

export class Teller {
  private readonly sentences: Index;
  private readonly kinds = new Map<string, Index>();
  private readonly remembered = new Map<string, Piece[]>();
  private steps = 0;
  /** Texts that used up their steps. No run has one, so a page full of them is hostile, and gets less for each. */
  private exhausted = 0;
  private memo = new Map<string, Found | null>();

  constructor(readonly catalogue: Catalogue) {
    const { sentences, kinds } = catalogue;
    const indexOf = (entries: readonly Entry[]) =>
      new Index(entries.flatMap((entry) => compile(entry, kinds)));
    this.sentences = indexOf(sentences);
    for (const [name, entries] of Object.entries(kinds)) this.kinds.set(name, indexOf(entries));
  }

  /** The text in the other language; a single foreign piece where it is not known. `kind` says that it is a phrase. */
  tell(text: string, kind = "any"): Piece[] {
    const key = `${kind}\0${text}`;
    const known = this.remembered.get(key);
    if (known) return known;
    const pieces = this.found(text, kind)?.pieces ?? foreign(text).pieces;
    if (this.remembered.size >= REMEMBERED_MAX) this.remembered.clear();
    if (text.length <= LENGTH_MAX) this.remembered.set(key, pieces);
    return pieces;
  }

  /** How many comparisons the last text took. */
  get cost(): number {
    return this.steps;
  }

  private found(text: string, kind: string): Found | null {
    this.steps = 0;
    if (text.length > LENGTH_MAX) return null;
    this.memo = new Map();
    try {
      return this.slot(kind, text);
    } catch (error) {
      if (!(error instanceof OutOfSteps)) throw error;
      this.exhausted += 1;
      return null;
    } finally {
      this.memo = new Map();
    }
  }

  private get stepsMax(): number {
    return this.exhausted < EXHAUSTED_MAX ? STEPS_MAX : STEPS_MAX / 10;
  }

  private readonly step = () => {
    this.steps += 1;
    if (this.steps > this.stepsMax) throw new OutOfSteps();
  };

  private remember(kind: string, text: string, make: () => Found | null): Found | null {
    const key = `${kind}\0${text}`;
    const known = this.memo.get(key);
    if (known !== undefined) return known;
    // A text that asks for itself has no translation by that way.
    this.memo.set(key, null);
    const found = make();
    this.memo.set(key, found);
    return found;
  }

  private sentence(text: string): Found | null {
    return this.remember("text", text, () => {
      const whole = quantity(text) ?? this.best(this.sentences, text);
      if (whole?.foreign === 0) return whole;
      return least(least(whole, this.joined(text, "; ", "；")), this.joined(text, ": ", "："));
    });
  }

  /** Of all templates that hold the one that leaves the least English; the first that leaves none. */
  private best(index: Index, text: string): Found | null {
    let best: Found | null = null;
    for (const template of index.of(text, this.step)) {
      this.step();
      best = least(best, this.match(template, text));
      if (best?.foreign === 0) break;
    }
    return best;
  }

  /**
   * What several authors wrote one after the other, if at least one part is known. Parts may hold the same signs, so
   * every place is tried, up to a limit, and the cut that leaves the least English is taken.
   */
  private joined(text: string, by: string, other: string): Found | null {
    let best: Found | null = null;
    for (const at of outside(text, by)) {
      this.step();
      const [before, after] = [text.slice(0, at), text.slice(at + by.length)];
      const parts = [this.sentence(before), this.sentence(after)];
      if (parts.every((part) => part === null)) continue;
      best = least(best, joinAll([parts[0] ?? foreign(before), plain(other), parts[1] ?? foreign(after)]));
      if (best?.foreign === 0) break;
    }
    return best;
  }

  private match(template: Template, text: string): Found | null {
    const { literals, slots } = template;
    const first = literals[0]!;
    const last = literals[slots.length]!;
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < template.size + slots.length)
      return null;
    const held = new Map<string, Found>();
    let best: Found | null = null;
    const end = text.length - last.length;
    /** Fills the slots from this one on; true when nothing better can come. */
    const fill = (index: number, from: number): boolean => {
      if (index === slots.length) {
        best = least(best, render(template, held));
        return best!.foreign === 0;
      }
      const slot = slots[index]!;
      const isLast = index === slots.length - 1;
      const literal = literals[index + 1]!;
      for (
        let to = isLast ? end : text.indexOf(literal, from + 1);
        to > from && to <= end;
        to = isLast ? -1 : text.indexOf(literal, to + 1)
      ) {
        this.step();
        const piece = text.slice(from, to);
        const found = this.slot(slot.type, piece);
        if (!found && isBeyond(slot.type, piece)) break;
        if (!found) continue;
        held.set(slot.key, found);
        if (fill(index + 1, to + (isLast ? 0 : literal.length))) return true;
      }
      return false;
    };
    fill(0, first.length);
    return best;
  }

  private slot(type: string, text: string): Found | null {
    switch (type) {
      case "q":
        return quantity(text);
      case "n":
        return text.length <= QUANTITY_MAX && /^-?\d[\d,]*$/.test(text) ? plain(text) : null;
      case "key":
        return text.length <= NAME_MAX && /^\S+$/.test(text) ? plain(text) : null;
      case "name":
        return isName(text) ? plain(text) : null;
      case "raw":
        return text.length <= NAME_MAX ? plain(text) : null;
      case "text": {
        const found = this.sentence(text);
        return found?.foreign === 0 ? found : null;
      }
      case "any":
        return this.sentence(text) ?? foreign(text);
      default:
        return this.remember(type, text, () => {
          const index = this.kinds.get(type);
          return index ? this.best(index, text) : null;
        });
    }
  }
}

const least = (a: Found | null, b: Found | null): Found | null =>
  a === null || (b !== null && b.foreign < a.foreign) ? b : a;

const plain = (text: string): Found => ({ pieces: [{ text, isForeign: false }], foreign: 0 });

/** Numbers, signs and versions are of no language, and what holds Chinese is not English. */
const foreign = (text: string): Found =>
  /[A-Za-z]{2}/.test(text) && !HAN.test(text) && !/^\S*\d\S*$/.test(text)
    ? { pieces: [{ text, isForeign: true }], foreign: text.length }
    : plain(text);

/** The first places of `by` that are not within brackets or backticks. */
function outside(text: string, by: string): number[] {
  const places: number[] = [];
  let depth = 0;
  let isCode = false;
  for (let at = 0; at < text.length && places.length < CUTS_MAX; at += 1) {
    const sign = text[at];
    if (sign === "`") isCode = !isCode;
    else if (sign === "(") depth += 1;
    else if (sign === ")") depth -= 1;
    else if (depth === 0 && !isCode && text.startsWith(by, at)) places.push(at);
  }
  return places;
}

/** Whether nothing longer could be held by a slot that does not hold this. */
function isBeyond(type: string, text: string): boolean {
  switch (type) {
    case "q":
    case "n":
      return text.length > QUANTITY_MAX;
    case "key":
      return text.length > NAME_MAX || /\s/.test(text);
    case "name":
      return text.length > NAME_MAX || text.includes("; ") || text.includes("\n");
    default:
      return false;
  }
}

/** What people name their targets, loads and files: short, on one line, and no sentence after another. */
function isName(text: string): boolean {
  if (text.length > NAME_MAX || text.trim() !== text || text.includes("; ") || text.includes("\n"))
    return false;
  let depth = 0;
  for (const sign of text) {
    if (sign === "(") depth += 1;
    if (sign === ")") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

const NUMBER = String.raw`[-+−±≥≤<>~]? ?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?`;
const UNITS = "%|ns|us|µs|ms|s|min|h|m|d|B|KiB|MiB|GiB|TiB|kB|MB|GB|KB|MHz|GHz|x|k|M|[kmgMG]?bit(?:/s)?";
const QUANTITY = new RegExp(`^${NUMBER}(?: ?(?:${UNITS}))?$`);
const WORDS_OF_NUMBERS = new Map([
  ["unbounded", "无界"],
  ["no number", "无数值"],
  ["unknown", "未知"],
  ["never", "永不"],
]);

function quantity(text: string): Found | null {
  if (text.length > QUANTITY_MAX) return null;
  const word = WORDS_OF_NUMBERS.get(text);
  if (word !== undefined) return plain(word);
  if (QUANTITY.test(text)) return plain(text);
  for (const [end, before, after] of [
    [" per second", "每秒 ", ""],
    [" per hour", "每小时 ", ""],
    [" days", "", " 天"],
  ] as const) {
    if (text.endsWith(end) && QUANTITY.test(text.slice(0, -end.length))) {
      return plain(before + text.slice(0, -end.length) + after);
    }
  }
  return null;
}

function render(template: Template, held: Map<string, Found>): Found {
  return joinAll(
    template.to.map((part) => (typeof part === "string" ? plain(part) : (held.get(part.key) ?? plain("")))),
  );
}

/** Pieces of a text put together, with the spaces that stand between Chinese and anything else. */
export const assembled = (parts: Piece[][]): Piece[] =>
  joinAll(parts.map((pieces) => ({ pieces, foreign: 0 }))).pieces;

/** A number in the words of the language, where it has words; else the text as it is. */
export const quantityPiece = (text: string): Piece => ({
  text: quantity(text)?.pieces[0]?.text ?? text,
  isForeign: false,
});

/** Whether the catalogue has phrases of this kind. */
export const isKind = (teller: Teller, kind: string): boolean => Object.hasOwn(teller.catalogue.kinds, kind);

function joinAll(parts: Found[]): Found {
  const pieces: Piece[] = [];
  for (const part of parts) for (const piece of part.pieces) join(pieces, piece);
  return { pieces, foreign: parts.reduce((sum, { foreign }) => sum + foreign, 0) };
}

const HAN = /\p{Script=Han}/u;
const FULL = /[\u3001-\u303f\uff01-\uff65“”]/;
const isWide = (sign: string) => HAN.test(sign) || FULL.test(sign);

/** One space between Chinese and anything else, none between Chinese and Chinese or beside its punctuation. */
function join(pieces: Piece[], { text, isForeign }: Piece) {
  const last = pieces.at(-1);
  if (text === "") return;
  if (!last || last.text === "") {
    if (last) pieces.pop();
    pieces.push({ text: text.trimStart(), isForeign });
    return;
  }
  const before = last.text.trimEnd();
  const after = text.trimStart();
  const [a, b] = [before.at(-1) ?? "", after.at(0) ?? ""];
  const isOpen = last.text !== before || text !== after;
  let gap = isOpen ? " " : "";
  if ((isWide(a) && isWide(b)) || FULL.test(a) || FULL.test(b)) gap = "";
  else if (HAN.test(a) !== HAN.test(b) && a !== "" && b !== "" && !/[)\],.]/.test(b)) gap = " ";
  if (last.isForeign === isForeign) {
    last.text = before + gap + after;
  } else {
    last.text = before;
    if (isForeign) last.text += gap;
    pieces.push({ text: isForeign ? after : gap + after, isForeign });
  }
}
