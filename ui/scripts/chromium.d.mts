/** Types of `chromium.mjs`, which runs without a compiler. */
import type { Browser } from "playwright-core";

export const CHROMIUM: string | undefined;
export const MISSING: string;
export function launch(): Promise<Browser>;
