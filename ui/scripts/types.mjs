/**
 * Writes `src/schema/NAME.ts` for the JSON Schemas that the page and the lab read (`docs/schemas`, which the Rust
 * types generate), so that a field that is renamed in Rust is a compile error here.
 *
 * Invariants: the output depends on the schemas only; a file that would not change is not written again.
 * Absent on purpose: types by hand. A schema that is missing is named, and the build stops.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const ui = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const from = resolve(ui, "../docs/schemas");
const to = join(ui, "src/schema");
const NEEDED = ["page", "analysis", "run", "compare", "history"];

/** The schemas to read: the needed ones, and those of the lab, however many there are. */
function wanted() {
  const lab = readdirSync(from)
    .filter((name) => name.startsWith("lab") && name.endsWith(".schema.json"))
    .map((name) => name.replace(".schema.json", ""));
  return [...NEEDED, ...lab.sort()];
}

/**
 * `oneOf` of constants, each with a description, becomes an enum: the shape that compiles to a short union. What
 * stands beside a reference goes, because the compiler would else copy the type in place of naming it.
 */
function simplified(node) {
  if (Array.isArray(node)) return node.map(simplified);
  if (node === null || typeof node !== "object") return node;
  if (typeof node.$ref === "string") return { $ref: node.$ref };
  const out = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, simplified(value)]));
  if (Array.isArray(out.oneOf) && out.oneOf.every((entry) => typeof entry.const === "string")) {
    const { oneOf, ...rest } = out;
    return { ...rest, type: "string", enum: oneOf.map((entry) => entry.const) };
  }
  return out;
}

async function write(name) {
  const path = join(from, `${name}.schema.json`);
  if (!existsSync(path)) {
    throw new Error(`${path} is missing; \`make schemas\` writes the schemas of all formats`);
  }
  const text = await compile(simplified(JSON.parse(readFileSync(path, "utf8"))), name, {
    additionalProperties: false,
    bannerComment: `/* Generated from docs/schemas/${name}.schema.json by scripts/types.mjs. Not for editing. */`,
    format: false,
    strictIndexSignatures: true,
    unreachableDefinitions: false,
  });
  const target = join(to, `${name}.ts`);
  if (existsSync(target) && readFileSync(target, "utf8") === text) return;
  writeFileSync(target, text);
}

mkdirSync(to, { recursive: true });
for (const name of wanted()) {
  await write(name);
}
