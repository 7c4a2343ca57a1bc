/**
 * The tokens of `theme.css` hold what its head promises: text has a contrast of 4.5 or more on each ground it stands
 * on, lines of series 3 or more on the ground of the page (WCAG 2.2, 1.4.3 and 1.4.11).
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./theme.css", import.meta.url), "utf8");

/** The colours of a block of the style sheet. */
function tokens(selector: string): Record<string, string> {
  const begin = css.indexOf(`${selector} {`);
  const block = css.slice(begin, css.indexOf("}", begin));
  return Object.fromEntries(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name, colour]),
  );
}

/** Relative luminance (WCAG 2.2). */
function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}

describe.each([
  ["light", tokens(":root")],
  ["dark", tokens(':root[data-theme="dark"]')],
])("%s", (_, of) => {
  it("has readable text on every ground", () => {
    for (const text of ["ink", "ink-soft", "ink-faint", "accent", "good", "bad", "warn", "quiet"]) {
      for (const ground of ["ground", "raised"]) {
        expect(contrast(of[text]!, of[ground]!), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      }
    }
    for (const tone of ["good", "bad", "warn", "quiet"]) {
      expect(contrast(of[tone]!, of[`${tone}-ground`]!), tone).toBeGreaterThanOrEqual(4.5);
      expect(contrast(of.ink!, of[`${tone}-ground`]!), `ink on ${tone}`).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("has series that stand out from the ground", () => {
    for (let index = 1; index <= 8; index += 1) {
      expect(contrast(of[`series-${index}`]!, of.ground!), `series ${index}`).toBeGreaterThanOrEqual(3);
    }
  });
});
