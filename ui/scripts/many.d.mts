/** Types of `many.mjs`, which runs without a compiler. */
import type { PageFile } from "../src/schema/page";

export function many(page: PageFile): PageFile;
