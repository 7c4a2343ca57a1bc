/**
 * The catalogue of texts without ids: it is whole, it is fresh, and it is safe.
 *
 * - freshness: every template's words stand in `ui/test/texts.json`, which a test of Rust holds to the sources
 * - completeness: every text of that list has a template, or is left out with a reason
 * - safety: hostile text stays as it is, and costs little
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { LENGTH_MAX, SEAM, SLOT, STEPS_MAX, Teller, compile } from "./engine";
import { COMPLETE, LEFT_OUT } from "./gates";
import { catalogueZh } from "./index";

const UI = resolve(import.meta.dirname, "../../..");

const teller = new Teller(catalogueZh);
const told = (text: string, kind?: string) =>
  teller
    .tell(text, kind)
    .map((piece) => (piece.isForeign ? `⟨${piece.text}⟩` : piece.text))
    .join("");

/** What stands between two places of a text. */
const HOLE = "\0";

const reads = (text: string) => / /.test(text.trim()) && /[a-z]{2}/.test(text);

/** What stands between places and says something. */
const fragments = (text: string): string[] =>
  text
    .split(HOLE)
    .map((part) => part.trim())
    .filter((part) => /[A-Za-z]{2}/.test(part));

/** Whether all fragments stand in a text, one after the other. */
function holdsInOrder(text: string, parts: string[]): boolean {
  let at = 0;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}

const entries = [...catalogueZh.sentences, ...Object.values(catalogueZh.kinds).flat()];

/** What the Rust sources say without ids, by file; and the sentences with ids, whose texts a plain text may hold. */
const json = (name: string) => JSON.parse(readFileSync(resolve(UI, "..", name), "utf8")) as unknown;
const texts = Object.entries(json("ui/test/texts.json") as Record<string, string[]>).flatMap(([path, list]) =>
  list.map((text) => ({ path, text: text.replaceAll("{}", HOLE) })),
);
const sentences = Object.values(json("docs/sentences.json") as Record<string, { english: string }>);

describe("freshness", () => {
  // Two sentences of the lab are its page's own: without an answer there is no Rust that could say so.
  const own = readFileSync(join(UI, "src/lab/api.ts"), "utf8");
  const said = sentences.map(({ english }) => english.replace(/\{\w+\}/g, HOLE));
  const corpus = `${[...texts.map(({ text }) => text), ...said].join("\n")}\n${own}`;
  it("knows the sources", () => expect(texts.length).toBeGreaterThan(600));
  it("finds every template's words in them", () => {
    const stale = entries.flatMap(([from]) =>
      fragments(from.replaceAll(SEAM, HOLE).replace(SLOT, HOLE))
        // A single word is a label.
        .filter((part) => /[A-Za-z]{2}\S* \S*[A-Za-z]{2}/.test(part) && !corpus.includes(part))
        .map((part) => `${JSON.stringify(part)} of ${JSON.stringify(from)}`),
    );
    expect(stale).toEqual([]);
  });
});

describe("completeness", () => {
  const templates = entries.map(([from]) => from.replaceAll(SEAM, "").replace(SLOT, HOLE));
  const isCovered = (text: string) => {
    const parts = fragments(text);
    return parts.length === 0 || templates.some((template) => holdsInOrder(template, parts));
  };
  const isLeftOut = (path: string, text: string) =>
    LEFT_OUT.some(({ file, text: of }) => file.test(path) && (of === undefined || of.test(text)));

  it("has every text that reaches the page", () => {
    const open = texts
      // An error with its remedy is two sentences.
      .flatMap(({ path, text }) => text.split("\n  remedy: ").map((part) => ({ path, text: part })))
      .filter(({ path }) => COMPLETE.some((of) => of.test(path)))
      .filter(({ path, text }) => reads(text) && !isCovered(text) && !isLeftOut(path, text))
      .map(({ path, text }) => `${path}: ${text.replaceAll(HOLE, "{}")}`);
    expect(open).toEqual([]);
  });
  it("leaves out nothing that is not there", () => {
    const used = ({ file, text: of }: (typeof LEFT_OUT)[number]) =>
      texts.some(({ path, text }) => file.test(path) && (of === undefined || of.test(text)));
    expect(LEFT_OUT.filter((left) => !used(left)).map(({ why }) => why)).toEqual([]);
    expect(COMPLETE.filter((of) => !texts.some(({ path }) => of.test(path)))).toEqual([]);
  });
});

describe("the catalogue", () => {
  const { kinds, sentences } = catalogueZh;
  it("has no template twice", () => {
    for (const list of [sentences, ...Object.values(kinds)]) {
      const seen = list.map(([from]) => from.replaceAll(SEAM, ""));
      expect(seen.filter((from, index) => seen.indexOf(from) !== index)).toEqual([]);
    }
  });
  it("has known slots, text between any two, and uses what it takes", () => {
    const builtIn = ["q", "n", "key", "name", "raw", "text", "any"];
    const wrong: string[] = [];
    for (const entry of entries) {
      const isOne = entry[0].includes(`${SEAM}1 `);
      for (const { literals, slots, to } of compile(entry, kinds)) {
        if (literals.slice(1, -1).includes("")) wrong.push(`two slots side by side: ${entry[0]}`);
        for (const { type } of slots) {
          if (!builtIn.includes(type) && !kinds[type]) wrong.push(`no kind ${type}: ${entry[0]}`);
        }
        const keys = slots.map(({ key }) => key);
        if (new Set(keys).size < keys.length) wrong.push(`a slot twice: ${entry[0]}`);
        const out = to.filter((part) => typeof part !== "string").map(({ key }) => key);
        const missing = keys.filter((key) => !out.includes(key));
        if (out.some((key) => !keys.includes(key)) || (missing.length > 0 && !isOne)) {
          wrong.push(`slots differ: ${entry[0]} | ${entry[1]}`);
        }
      }
    }
    expect([...new Set(wrong)]).toEqual([]);
  });
  it("tells each template by itself, not by another that looks alike", () => {
    const samples: Record<string, string> = {
      q: "5.1 ms",
      n: "7",
      key: "k/v_1",
      name: "N1",
      raw: '"r1"',
      text: "run 3 more blocks",
      any: "run 3 more blocks",
    };
    const sample = (type: string, depth: number): string => {
      const own = samples[type];
      if (own !== undefined || depth > 6) return own ?? "";
      const [entry] = kinds[type]!.filter(([from]) => !new RegExp(`\\{${type}[\\d}?]`).test(from));
      const [{ literals, slots }] = compile(entry!, kinds) as [ReturnType<typeof compile>[number]];
      return literals
        .map((text, index) => text + (slots[index] ? sample(slots[index].type, depth + 1) : ""))
        .join("");
    };
    const bare = (text: string) => text.replace(/\s/g, "");
    const wrong: string[] = [];
    for (const [kind, list] of [["any", sentences] as const, ...Object.entries(kinds)]) {
      if (kind === "s") continue;
      for (const entry of list) {
        for (const { literals, slots, to } of compile(entry, kinds)) {
          const of = new Map(slots.map(({ key, type }) => [key, sample(type, 0)]));
          const english = literals
            .map((text, index) => text + (of.get(slots[index]?.key ?? "") ?? ""))
            .join("");
          const typeOf = new Map(slots.map(({ key, type }) => [key, type]));
          const chinese = to
            .map((part) => (typeof part === "string" ? part : told(of.get(part.key)!, typeOf.get(part.key))))
            .join("");
          if (bare(told(english, kind)) !== bare(chinese)) {
            wrong.push(`${entry[0]}\n    ${english}\n    ${told(english, kind)}\n    ${chinese}`);
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });
  it("has Chinese signs beside Chinese", () => {
    const wrong = entries.filter(([, to]) => /\p{Script=Han}[,;:?!()]|[,;:?!(]\p{Script=Han}/u.test(to));
    expect(wrong.map(([, to]) => to)).toEqual([]);
  });
});

describe("a sentence", () => {
  it.each([
    // Of a list the parts, of an unknown reason the rest.
    [
      "1 of 3 trials is void (trial 3): the moon was full",
      "3 个试次中有 1 个作废（试次 3）：⟨the moon was full⟩",
    ],
    [
      "run 3 more blocks; nobody knows this; run 1 more block",
      "再运行 3 个区组；⟨nobody knows this⟩；再运行 1 个区组",
    ],
    ["trials 1, 2, 3, 4, 5 and 7 more ran away", "⟨trials 1, 2, 3, 4, 5 and 7 more ran away⟩"],
    ["385 µs", "385 µs"],
  ])("%s", (text, wanted) => expect(told(text)).toBe(wanted));

  it.each([
    ["reference, 8 connections", "cell", "reference，8 个连接"],
    ["go/echo, 600/s on 32 connections", "cell", "go/echo，600/s，32 个连接"],
    ["go/echo, 600/s on 32 connections, trace 1%", "cell", "go/echo，600/s，32 个连接，追踪 1%"],
    ["go/echo, 600/s on 32 connections, trace off", "cell", "go/echo，600/s，32 个连接，追踪 off"],
    ["whatever I named it", "cell", "whatever I named it"],
    [
      "600 requests per second (Poisson arrivals) over 32 connections",
      "load",
      "每秒 600 个请求（32 个连接，泊松到达）",
    ],
    ["0.5 CPUs, 2GiB, isolated network at 1gbit", "limits", "0.5 个 CPU，内存 2GiB，隔离网络（1gbit）"],
  ])("%s as %s", (text, kind, wanted) => expect(told(text, kind)).toBe(wanted));
});

describe("hostile text", () => {
  const markup = `<img src=x onerror=alert(1)> has a mean response time of 1 ms`;
  it("stays text, and English", () => {
    expect(teller.tell(markup)).toEqual([{ text: markup, isForeign: true }]);
    expect(teller.tell("")).toEqual([{ text: "", isForeign: false }]);
    expect(teller.tell("constructor")).toEqual([{ text: "constructor", isForeign: true }]);
    expect(teller.tell("x", "__proto__")).toEqual([{ text: "x", isForeign: false }]);
    const name = "<b>{q}</b>";
    expect(told(`no target \`${name}\` under targets`)).toBe(`targets 下没有目标 \`${name}\``);
  });

  it("costs little, however long and however often it almost fits", () => {
    const almost = [
      "correct the scenario; ".repeat(60_000),
      "correct the scenario; ".repeat(180),
      "a: ".repeat(1300),
      "trials 1, ".repeat(390) + "and 2",
      "trials " + "1, ".repeat(1000) + "and 2",
      " at 8 connections".repeat(230),
      "x serves 1 requests per second at ".repeat(110),
      "(".repeat(4000),
      "no answer on memory of a against b: ".repeat(110),
      "1 of 3 trials is void (trial 3): ".repeat(120),
      "a has a higher memory than ".repeat(140),
      "{text}; {any}".repeat(300),
      "0".repeat(4000),
    ];
    let all = 0;
    const fresh = new Teller(catalogueZh);
    for (const text of almost) {
      const pieces = fresh.tell(text);
      expect(fresh.cost, text.slice(0, 40)).toBeLessThanOrEqual(STEPS_MAX + 1);
      if (text.length > LENGTH_MAX) expect(pieces).toEqual([{ text, isForeign: true }]);
    }
    // A page full of them: each new one costs a tenth.
    for (let n = 0; n < 40; n += 1) {
      fresh.tell(`${n}; ${almost[2]}`);
      all += fresh.cost;
    }
    expect(all).toBeLessThan(9 * STEPS_MAX);
    // Steps are the measure; a busy host only takes longer for them.
  }, 60_000);
});
