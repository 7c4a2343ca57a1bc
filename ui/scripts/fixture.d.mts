/** Types of `fixture.mjs`, which runs without a compiler. */
import type { PageFile } from "../src/schema/page";

export function pageOfFolder(folder: string): PageFile;
export function escaped(page: unknown): string;
export function reportOf(page: unknown): string;
export function pageOf(path: string): PageFile;
