/**
 * Tables as CSV (RFC 4180) for download.
 *
 * Invariants: raw values, not rounded ones; a text that a spreadsheet would take for a formula gets a leading
 * apostrophe (OWASP, "CSV Injection"), as in `crates/report/src/clean.rs`.
 * Absent on purpose: any request; the file is made in the page.
 */

import { type Text, english } from "../words/said/text";

/** What a field may hold; nothing becomes an empty field. */
export type Raw = Text | number | boolean | null | undefined;

const FORMULA = /^[=+\-@＝＋－＠\t\r]/;

/** One field: quoted where it must be, and never a formula. */
export function field(raw: Raw): string {
  if (raw === null || raw === undefined) return "";
  if (typeof raw !== "string" && typeof raw !== "object") return String(raw);
  const said = english(raw);
  const text = FORMULA.test(said) && !isNumber(said) ? `'${said}` : said;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const isNumber = (text: string) => /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);

/** Head and rows, each line ended as the RFC asks. */
export const csv = (head: string[], rows: Raw[][]): string =>
  [head, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");

/** Gives `text` to the reader as a file. */
export const download = (name: string, text: string, type = "text/csv") =>
  save(name, new Blob([text], { type: `${type};charset=utf-8` }));

/** Gives `content` to the reader as a file. */
export function save(name: string, content: Blob) {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the content when the click returns; a turn later is later still.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

/** A name that every file system takes, of a CSV file. */
export const fileName = (...parts: string[]): string => `${stem(parts)}.csv`;

/** The same of a picture. */
export const pictureName = (...parts: string[]): string => `${stem(parts)}.png`;

const stem = (parts: string[]): string =>
  parts
    .map((part) => part.replace(/[^\w.-]+/g, "-").replace(/^[-.]+|-+$/g, ""))
    .filter((part) => part !== "")
    .join("-")
    .slice(0, 120);
