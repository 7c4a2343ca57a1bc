/**
 * Sentences by id: each fixture is wholly Chinese on the Chinese page, and each text fits its sentence.
 *
 * That no id lacks a text is the compiler's: `ZH` in `index.ts` is a `Record` of all ids.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { tellerZh } from "../told";
import { type Piece } from "../told/engine";
import { TEXTS_ZH, saidZh } from "./index";
import type { Said } from "./text";

const UI = resolve(import.meta.dirname, "../../..");

const shown = (pieces: Piece[]) =>
  pieces.map((piece) => (piece.isForeign ? `⟨${piece.text}⟩` : piece.text)).join("");
const told = (text: string, kind?: string) => shown(tellerZh().tell(text, kind));

/** What of a page is a plain text, and which phrases are not sentences but labels. Order matters: the first one holds. */
const SHOWN: [RegExp, string][] = [
  [/\.(label|soak\.cell)$/, "cell"],
  [/\.load$/, "place"],
  [/\.at$/, "place"],
  [/\.limits$/, "limits"],
  [/\.(effect|title|value|remedy|why|summary|text)$/, "any"],
  [/\.(reasons|weaknesses|errors|shortfalls|stale|notes|missing|waiting_for)\[\]$/, "any"],
  [/\.(profiles_note|refused\.\w+|refused\.why|differences\[\]\.[ab]|of)$/, "any"],
];

/** What stays as it is, and why. */
const STAYS: [RegExp, string][] = [
  [/\.question$/, "the user's own question"],
  [/\.claims\[\]\.text$/, "the user's own words"],
  [/\.(objective\[\]|events\[\]\.name|by_request\[\]\.name)$/, "the user's own conditions and names"],
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

/** A sentence: an object with its English text, and with nothing that a sentence does not have. */
const isSaid = (value: object): value is Said =>
  "text" in value && Object.keys(value).every((key) => ["id", "args", "text"].includes(key));

function* leaves(value: unknown, path = ""): Generator<[string, string | Said]> {
  if (typeof value === "string") yield [path, value];
  else if (Array.isArray(value)) for (const item of value) yield* leaves(item, `${path}[]`);
  else if (value !== null && typeof value === "object") {
    if (isSaid(value)) yield [path, value];
    else for (const [key, item] of Object.entries(value)) yield* leaves(item, `${path}.${key}`);
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
    let ids = 0;
    for (const [path, leaf] of leaves(page)) {
      if (STAYS.some(([of]) => of.test(path))) continue;
      const isPlain = typeof leaf === "string";
      const text = isPlain ? leaf : leaf.text;
      const kind = SHOWN.find(([of]) => of.test(path))?.[1];
      if (isPlain && !kind) {
        if (reads(text)) left.add(`no one says what ${path} is: ${text.slice(0, 80)}`);
        continue;
      }
      if (!isPlain && leaf.id !== undefined) ids += 1;
      if (!reads(text)) continue;
      const chinese = isPlain ? told(text, kind) : shown(saidZh(leaf));
      // Commands, names, what the kernel says of a vulnerability, and what a failed program said.
      const foreign = / 失败（[^）]*）：.*$|`[^`]*`|\b[a-z]+_\w+ \([^()]*\)/g;
      const bare = names.reduce((rest, name) => rest.replaceAll(name, ""), chinese.replace(foreign, ""));
      if (bare.includes("⟨") || /\b[a-z]{2,} [a-z]{2,}\b/.test(bare)) {
        left.add(`${path}: ${text}\n    ${chinese}`);
      }
    }
    expect([...left]).toEqual([]);
    expect(ids).toBeGreaterThan(10);
  });
});

const sentences = JSON.parse(readFileSync(resolve(UI, "../docs/sentences.json"), "utf8")) as Record<
  string,
  { english: string; args: string[] }
>;

describe("each text", () => {
  it("has the places of its sentence, and no others", () => {
    const wrong = Object.entries(sentences).flatMap(([id, { args }]) => {
      const places = new Set([...TEXTS_ZH[id]!.matchAll(/\{(\w+)(?::\w+)?\}/g)].map((found) => found[1]!));
      const extra = [...places].filter((name) => !args.includes(name));
      // `plural` is `is` or `are`, which Chinese has not.
      const missing = args.filter((name) => !places.has(name) && name !== "plural");
      return extra.length + missing.length > 0 ? [`${id}: ${[...extra, ...missing].join(", ")}`] : [];
    });
    expect(wrong).toEqual([]);
  });
  it("has Chinese signs beside Chinese", () => {
    const wrong = Object.values(TEXTS_ZH).filter((to) =>
      /\p{Script=Han}[,;:?!()]|[,;:?!(]\p{Script=Han}/u.test(to.replace(/\{(\w+):\w+\}/g, "{$1}")),
    );
    expect(wrong).toEqual([]);
  });
});

const word = (id: string, text: string): Said => ({ id, text });

describe("a sentence", () => {
  const throughput = word("metric.requests_per_second", "requests per second");
  const interval: Said = { id: "data.interval", args: { confidence: "95 %" }, text: "95 % interval" };
  const blocks: Said = { id: "count.blocks", args: { n: "5" }, text: "5 blocks" };

  it("is put together from its parts", () => {
    const better: Said = {
      id: "answer.better",
      args: {
        said: {
          id: "answer.serves_more_than",
          args: { winner: "at 8 connections", by: "10 %", name: throughput, loser: "<b>{q}</b>" },
          text: "",
        },
        at: { id: "answer.at_load", args: { load: "8 connections" }, text: " at 8 connections" },
        interval,
        near: "9 %",
        far: { text: "unbounded" },
        blocks,
      },
      text: "",
    };
    const whole: Said = { id: "answer.whole", args: { shown: better }, text: "" };
    // Names are names, also where they read like something else or like markup.
    expect(shown(saidZh(whole))).toBe(
      "在 8 个连接下，at 8 connections 的每秒请求数比 <b>{q}</b> 多 10 %（95 % 区间 9 % 至无界，5 个区组）。",
    );
  });

  it("keeps the order of a list", () => {
    const list: Said = {
      id: "list.semicolon",
      args: { "001": blocks, "000": "a", "002": { text: "the moon was full" } },
      text: "",
    };
    expect(shown(saidZh(list))).toBe("a；5 个区组；⟨the moon was full⟩");
  });

  it("that nobody knows is translated by its text, and stays English where that is not known", () => {
    expect(shown(saidZh({ id: "constructor", text: "the moon was full" }))).toBe("⟨the moon was full⟩");
    expect(shown(saidZh({ text: "no process of the target is left" }))).toBe("目标的进程已经全部退出");
    expect(saidZh({ text: "" })).toEqual([{ text: "", isForeign: false }]);
    expect(shown(saidZh({ id: "answer.whole", text: "x." }))).toBe("。");
  });

  it("that holds itself for ever ends", () => {
    const deep = Array.from({ length: 400 }).reduce<Said>(
      (shown) => ({ id: "answer.whole", args: { shown }, text: "a b" }),
      { text: "a b" },
    );
    expect(shown(saidZh(deep)).length).toBeLessThan(100);
  });
});
