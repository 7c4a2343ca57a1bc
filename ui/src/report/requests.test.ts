/** Which requests a cell lists, and that names of targets are cut. */
import { describe, expect, it } from "vitest";
import type { NotableRequest } from "../schema/page";
import { cut, listed } from "./requests";

const request = (number: number): NotableRequest => ({
  request: number,
  name: "GET /",
  intended_ns: 0,
  response_ns: 5,
});

describe("listed", () => {
  it("has the slowest before the failures, each with its list", () => {
    const of = {
      failures: [{ trial: 2, request: request(3) }],
      slowest: [{ trial: 1, request: request(7) }],
      slowest_sampled: [{ trial: 1, request: request(9) }],
    };
    const all = listed(of).map(({ list, trial, request }) => [list, trial, request.request]);
    expect(all).toEqual([
      ["slowest", 1, 7],
      ["slowest_sampled", 1, 9],
      ["failures", 2, 3],
    ]);
  });

  it("has none in files of older versions", () => {
    expect(listed(undefined)).toEqual([]);
    expect(listed({})).toEqual([]);
  });
});

describe("cut", () => {
  it("counts characters, not halves of pairs", () => {
    expect(cut("größer", 6)).toBe("größer");
    expect(cut("größer", 4)).toBe("grö…");
    expect(cut("🙂🙂🙂", 2)).toBe("🙂…");
    expect(Array.from(cut("x".repeat(100_000)))).toHaveLength(40);
  });
});
