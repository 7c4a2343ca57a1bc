/**
 * The catalogue of sentences: it is whole, it is fresh, and it is safe.
 *
 * - coverage: every sentence of every fixture is Chinese on the Chinese page
 * - freshness: every template's words stand in the Rust sources, so a sentence that is reworded there fails here
 * - completeness: every sentence in the Rust files that write for the page has a template, or is left out with a reason
 * - safety: hostile text stays as it is, and costs little
 */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { LENGTH_MAX, SEAM, SLOT, STEPS_MAX, Teller, compile } from "./engine";
import { COMPLETE, LEFT_OUT } from "./gates";
import { catalogueZh } from "./index";
import { HOLE, fragments, holdsInOrder, literalsOf } from "./rust";

const UI = resolve(import.meta.dirname, "../../..");
const CRATES = resolve(UI, "../crates");

const teller = new Teller(catalogueZh);
const told = (text: string, kind?: string) =>
  teller
    .tell(text, kind)
    .map((piece) => (piece.isForeign ? `⟨${piece.text}⟩` : piece.text))
    .join("");

/** What of a page is a sentence, and which phrases are not sentences but labels. Order matters: the first one holds. */
const SHOWN: [RegExp, string][] = [
  [/\.(label|soak\.cell)$/, "cell"],
  [/\.load$/, "place"],
  [/\.at$/, "place"],
  [/\.limits$/, "limits"],
  [/\.(answer|summary|text|remedy|refused|evidence|highest_refused|usl_refused|base_refused)$/, "any"],
  [/\.(effect|title|value|what|limit)$/, "any"],
  [/\.(reasons|weaknesses|errors|shortfalls|stale|notes|missing)\[\]$/, "any"],
  [/\.(profiles_note|refused\.why|differences\[\]\.[ab])$/, "any"],
  [/\.metrics_refused\.\w+$/, "any"],
];

/** What stays as it is, and why. */
const STAYS: [RegExp, string][] = [
  [/\.question$/, "the user's own question"],
  [/\.claims\[\]\.text$/, "the user's own words"],
  [/\.(objective\[\]|events\[\]\.name)$/, "the user's own conditions and names"],
  [/\.experiment_text$/, "a file"],
  [/\.log_tail\[\]$/, "a log"],
  [/\.command\[\]$/, "a command"],
  [/^\.profiles\[\]\.(frames|top)/, "names of functions"],
  [/\.(source|from)$/, "literature, and keys of files"],
  [/\.versions\./, "versions"],
  [/\.(target|a_target|b_target|level|against|levels\[\]|targets\[\]\.name)$/, "names of targets and levels"],
  [/\.plan\./, "the plan is shown as it was written"],
  [/^\.details_left_out$/, "in the fixtures it is a sentence of the script that made them"],
];

const reads = (text: string) => / /.test(text.trim()) && /[a-z]{2}/.test(text);

function* strings(value: unknown, path = ""): Generator<[string, string]> {
  if (typeof value === "string") yield [path, value];
  else if (Array.isArray(value)) for (const item of value) yield* strings(item, `${path}[]`);
  else if (value !== null && typeof value === "object") {
    for (const [key, item] of Object.entries(value)) yield* strings(item, `${path}.${key}`);
  }
}

const fixtures = ["fixtures", "src/charts/fixtures"].flatMap((folder) =>
  readdirSync(join(UI, folder))
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(folder, name)),
);

interface Named {
  analysis: { cells: { target: string }[] };
}

describe("coverage", () => {
  it.each(fixtures)("every sentence of %s is Chinese", (fixture) => {
    const page = JSON.parse(readFileSync(join(UI, fixture), "utf8")) as Named;
    const names = [...new Set(page.analysis.cells.map(({ target }) => target))].sort(
      (a, b) => b.length - a.length,
    );
    const left = new Set<string>();
    for (const [path, text] of strings(page)) {
      if (STAYS.some(([of]) => of.test(path))) continue;
      const kind = SHOWN.find(([of]) => of.test(path))?.[1];
      if (!kind) {
        if (reads(text)) left.add(`no one says what ${path} is: ${text.slice(0, 80)}`);
        continue;
      }
      if (!reads(text)) continue;
      const chinese = told(text, kind);
      // Commands, names, what the kernel says of a vulnerability, and what a failed program said.
      const foreign = / 失败（[^）]*）：.*$|`[^`]*`|\b[a-z]+_\w+ \([^()]*\)/g;
      const bare = names.reduce((rest, name) => rest.replaceAll(name, ""), chinese.replace(foreign, ""));
      if (bare.includes("⟨") || /\b[a-z]{2,} [a-z]{2,}\b/.test(bare)) {
        left.add(`${path}: ${text}\n    ${chinese}`);
      }
    }
    expect([...left]).toEqual([]);
  });
});

const rustFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "tests" ? [] : rustFiles(path);
    return entry.name.endsWith(".rs") && !/(^|_)tests\.rs$/.test(entry.name) ? [path] : [];
  });

const sources = readdirSync(CRATES)
  .flatMap((crate) => rustFiles(join(CRATES, crate, "src")))
  .map((path) => ({ path: path.slice(CRATES.length + 1), literals: literalsOf(readFileSync(path, "utf8")) }));

const entries = [...catalogueZh.sentences, ...Object.values(catalogueZh.kinds).flat()];

describe("freshness", () => {
  // Two sentences of the lab are its page's own: without an answer there is no Rust that could say so.
  const own = readFileSync(join(UI, "src/lab/api.ts"), "utf8");
  const corpus = `${sources.flatMap(({ literals }) => literals.map(({ text }) => text)).join("\n")}\n${own}`;
  it("knows the sources", () => expect(sources.length).toBeGreaterThan(400));
  it("finds every template's words in them", () => {
    const stale = entries.flatMap(([from]) =>
      fragments(from.replaceAll(SEAM, HOLE).replace(SLOT, HOLE))
        .filter((part) => !corpus.includes(part))
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
  const open = sources.flatMap(({ path, literals }) =>
    literals
      // An error with its remedy is two sentences.
      .flatMap((literal) => literal.text.split("\n  remedy: ").map((text) => ({ ...literal, text })))
      .filter(({ text, isCited }) => reads(text) && !isCited && !isCovered(text) && !isLeftOut(path, text))
      .map(({ text, line }) => ({ path, at: `${path}:${line} ${text.replaceAll(HOLE, "{}")}` })),
  );
  const isComplete = (path: string) => COMPLETE.some((of) => of.test(path));

  it("has every sentence of the files that write for the page", () => {
    expect(open.filter(({ path }) => isComplete(path)).map(({ at }) => at)).toEqual([]);
  });
  it("leaves out nothing that is not there", () => {
    const used = ({ file, text }: (typeof LEFT_OUT)[number]) =>
      sources.some(
        ({ path, literals }) =>
          file.test(path) && (text === undefined || literals.some((literal) => text.test(literal.text))),
      );
    expect(LEFT_OUT.filter((left) => !used(left)).map(({ why }) => why)).toEqual([]);
    expect(COMPLETE.filter((of) => !sources.some(({ path }) => of.test(path)))).toEqual([]);
  });
  it("says how much of the other files has no template", () => {
    const others = open.filter(({ path }) => !isComplete(path));
    const files = new Set(others.map(({ path }) => path));
    console.log(
      `${entries.length} templates; ${sources.filter(({ path }) => isComplete(path)).length} files complete; ` +
        `in ${files.size} other files ${others.length} literals without one (most never reach the page)`,
    );
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
    [
      "reference-1000us serves 10 % more requests per second than reference-1100us at 8 connections (95 % interval 10 % to 10 %, 5 blocks).",
      "在 8 个连接下，reference-1000us 的每秒请求数比 reference-1100us 多 10 %（95 % 区间 10 % 至 10 %，5 个区组）。",
    ],
    [
      "reference has a mean response time of 385 µs at 600 requests per second over 32 connections, without an interval: 5 trials needed, had 2: run 3 more blocks.",
      "reference 在每秒 600 个请求（32 个连接）下的平均响应时间为 385 µs；无区间：需要 5 个试次，实有 2 个，请再运行 3 个区组。",
    ],
    // Of a list the parts, of an unknown reason the rest.
    [
      "1 of 3 trials is void (trial 3): the moon was full",
      "3 个试次中有 1 个作废（试次 3）：⟨the moon was full⟩",
    ],
    [
      "run 3 more blocks; nobody knows this; run 1 more block",
      "再运行 3 个区组；⟨nobody knows this⟩；再运行 1 个区组",
    ],
    // Names are names, also where they read like something else.
    [
      "at 8 connections serves 5 requests per second at 1 connection, without an interval: it is unbounded.",
      "at 8 connections 在 1 个连接下每秒处理 5 个请求；无区间：区间无界。",
    ],
    [
      "网关 serves 2 times as many requests per second as plain (95 % interval 1.9 to 2.1 times, 5 blocks).",
      "网关的每秒请求数是 plain 的 2 倍（95 % 区间 1.9 至 2.1 倍，5 个区组）。",
    ],
    ["trials 1, 2, 3, 4, 5 and 7 more ran away", "⟨trials 1, 2, 3, 4, 5 and 7 more ran away⟩"],
    ["385 µs", "385 µs"],
  ])("%s", (text, wanted) => expect(told(text)).toBe(wanted));

  it.each([
    ["reference, 8 connections", "cell", "reference，8 个连接"],
    ["go/echo, 600/s on 32 connections", "cell", "go/echo，600/s，32 个连接"],
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
    const answer = told(
      `${name} serves 5 requests per second at 1 connection, without an interval: it is unbounded.`,
    );
    expect(answer).toBe(`${name} 在 1 个连接下每秒处理 5 个请求；无区间：区间无界。`);
  });

  it("costs little, however long and however often it almost fits", () => {
    const almost = [
      "run 3 more blocks; ".repeat(60_000),
      "run 3 more blocks; ".repeat(200),
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
      fresh.tell(`${n}; ${almost[1]}`);
      all += fresh.cost;
    }
    expect(all).toBeLessThan(9 * STEPS_MAX);
  });
});
