/**
 * Requests to the lab's server.
 *
 * Invariants: every answer is cleaned (`ui/clean`) before anything sees it; a refusal has a cause and a remedy; a
 * change carries the header that no other site can send.
 */
import type { LabError } from "../schema/lab-error";
import { cleanAll } from "../ui/clean";
import { type Text, english } from "../words/said/text";

/** Why something cannot be shown or done. */
export class Fault extends Error {
  constructor(
    readonly status: number,
    readonly why: Text,
    readonly remedy: Text,
  ) {
    super(english(why));
  }
}

/** The address of a part of the API; what comes from outside is one segment each. */
export const api = (...segments: (string | number)[]): string =>
  `api/${segments.map((segment) => encodeURIComponent(segment)).join("/")}`;

async function asked<T>(path: string, init: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Fault(0, "The lab does not answer.", "See whether prony serve still runs.");
  }
  if (answer.status === 204) return undefined as T;
  const value: unknown = await answer.json().catch(() => undefined);
  if (answer.ok && value !== undefined) return cleanAll(value as T);
  const told = cleanAll((value ?? {}) as Partial<LabError>);
  throw new Fault(answer.status, told.cause ?? `status ${answer.status}`, told.remedy ?? "");
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  asked<T>(path, { method: "GET", ...(signal ? { signal } : {}) });

export const send = <T>(method: "POST" | "PUT", path: string, body?: unknown): Promise<T> =>
  asked<T>(path, {
    method,
    headers: { "X-Prony": "1", ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** A fault as an error of any kind. */
export const faultOf = (error: unknown): Fault =>
  error instanceof Fault ? error : new Fault(0, error instanceof Error ? error.message : String(error), "");
