/**
 * What may stand between tags: elements, texts and numbers, and no other objects.
 *
 * Preact's own `ComponentChildren` takes any object and shows nothing for it, so a sentence with an id (`Said`) that was
 * put between tags would vanish without an error. Here it does not compile: `<Told text={said} />` shows it.
 * The children of a bare fragment (`<>…</>`) are not checked by the compiler; `guard.ts` looks at those.
 */
import type { VNode } from "preact";

export type Child = VNode<any> | string | number | bigint | boolean | null | undefined;
export type Children = Child | readonly Children[];
