/**
 * Which sentences there are: the ids that the Rust sources say (`docs/sentences.json`, which a test of Rust holds fresh).
 *
 * Types only: the page carries no English text of a sentence but that in its data.
 */
import type sentences from "../../../../docs/sentences.json";

/** The id of a sentence. */
export type SaidId = keyof typeof sentences;

/** Some sentences in one language; an id that Rust does not say is an error where it is written. */
export type Texts = Partial<Record<SaidId, string>>;
