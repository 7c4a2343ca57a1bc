/** A sentence of a run as the page gets it: with its id, or as a plain text. */
import type { Said } from "../../schema/page";

export type { Said };
export type Text = Said | string;

/** In English. */
export const english = (text: Text): string => (typeof text === "string" ? text : text.text);

/** A sentence that is in the language of the page already, for charts, which take sentences. */
export const already = (text: string): Said => ({ text });

/** Several sentences as one, as Rust makes a list of them. */
export const semicolons = (parts: Said[]): Said => ({
  id: "list.semicolon",
  args: Object.fromEntries(parts.map((part, at) => [String(at).padStart(3, "0"), part])),
  text: parts.map(english).join("; "),
});

/** Whether something to show is a sentence, and no element. */
export const isText = (shown: unknown): shown is Text =>
  typeof shown === "string" || (typeof shown === "object" && shown !== null && "text" in shown);
