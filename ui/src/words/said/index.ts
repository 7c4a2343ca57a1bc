/**
 * Sentences of a run in another language, by their ids.
 *
 * A text has places such as `{metric}` for what the sentence holds by that name. `{load:place}` is a label that prony
 * made (a load, a cell, limits), which is translated by the phrases of that kind in `words/told`.
 *
 * Invariants: a sentence without a translation does not compile; a sentence within a sentence is translated, too; what
 * has no id (a file of an older prony, an error of the system) is translated by its text, and else stays English and is
 * marked so; what comes out is text, never markup.
 */
import { tellerZh } from "../told";
import { type Piece, assembled, isKind, quantityPiece } from "../told/engine";
import { answersZh } from "./answers.zh";
import { findingsZh } from "./findings.zh";
import { hostZh } from "./host.zh";
import type { SaidId } from "./ids";
import { labZh } from "./lab.zh";
import { measuresZh } from "./measures.zh";
import { notesZh } from "./notes.zh";
import { partsZh } from "./parts.zh";
import { profilesZh } from "./profiles.zh";
import type { Said } from "./text";
import { trustZh } from "./trust.zh";

/** All of them: a missing one is an error here, which names it. */
const ZH: Record<SaidId, string> = {
  ...answersZh,
  ...trustZh,
  ...findingsZh,
  ...measuresZh,
  ...hostZh,
  ...notesZh,
  ...profilesZh,
  ...labZh,
  ...partsZh,
};

/** Between the parts of a list. */
const JOINTS = new Map([
  ["list.comma", "、"],
  ["list.semicolon", "；"],
  ["list.and", "、"],
  ["list.space", ""],
]);

/** Before the last part of a list that ends with an "and". */
const LAST_JOINTS = new Map([["list.and", "和"]]);

/** A sentence holds others, and those others; a file that goes on for ever is cut. */
const DEPTH_MAX = 16;

const PLACE = /\{(\w+)(?::(\w+))?\}/g;

type Arg = NonNullable<Said["args"]>[string];

/** The sentence in Chinese, in pieces of which some may have stayed English. */
export const saidZh = (said: Said): Piece[] => pieces(said, 0);

function pieces(said: Said, depth: number): Piece[] {
  const joint = JOINTS.get(said.id ?? "");
  if (depth > DEPTH_MAX) return [{ text: said.text, isForeign: true }];
  if (joint !== undefined) return listed(said, joint, depth);
  const text = textOf(said.id);
  if (text === undefined) return tellerZh().tell(said.text);
  const parts: Piece[][] = [];
  let at = 0;
  for (const found of text.matchAll(PLACE)) {
    parts.push([{ text: text.slice(at, found.index), isForeign: false }]);
    parts.push(inPlace(said.args?.[found[1]!], found[2], depth));
    at = found.index + found[0].length;
  }
  parts.push([{ text: text.slice(at), isForeign: false }]);
  return assembled(parts);
}

const textOf = (id: string | undefined): string | undefined =>
  id !== undefined && Object.hasOwn(ZH, id) ? ZH[id as SaidId] : undefined;

function listed(said: Said, joint: string, depth: number): Piece[] {
  const parts = Object.entries(said.args ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const last = LAST_JOINTS.get(said.id ?? "") ?? joint;
  const before = (at: number) => (at === parts.length - 1 ? last : joint);
  return assembled(
    parts.flatMap(([, arg], at) => [
      ...(at === 0 ? [] : [[{ text: before(at), isForeign: false }]]),
      inPlace(arg, undefined, depth),
    ]),
  );
}

/** A name stays, a number stays but for its words, a label and a sentence are told. */
function inPlace(arg: Arg | undefined, kind: string | undefined, depth: number): Piece[] {
  if (arg === undefined) return [];
  if (typeof arg !== "string") return pieces(arg, depth + 1);
  if (kind !== undefined && isKind(tellerZh(), kind)) return tellerZh().tell(arg, kind);
  return [quantityPiece(arg)];
}

/** The ids that have a text, for the tests. */
export const TEXTS_ZH: Readonly<Record<string, string>> = ZH;
