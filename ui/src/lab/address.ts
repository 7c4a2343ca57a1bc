/**
 * Which page is shown: said by the query of the address, so that anchors within a page stay free, a page can be
 * bookmarked, and the browser's own buttons work.
 */
export type Address =
  | { page: "library" }
  | { page: "run"; run: string }
  | { page: "live"; run: string }
  | { page: "compare"; runs: string[] }
  | { page: "experiments" }
  | { page: "history"; experiment: string };

export function addressOf(search: string): Address {
  const query = new URLSearchParams(search);
  const run = query.get("run");
  const live = query.get("live");
  const history = query.get("history");
  if (run) return { page: "run", run };
  if (live) return { page: "live", run: live };
  if (history) return { page: "history", experiment: history };
  if (query.has("compare")) {
    return { page: "compare", runs: (query.get("compare") ?? "").split(",").filter(Boolean) };
  }
  if (query.has("experiments")) return { page: "experiments" };
  return { page: "library" };
}

const one = (key: string, value: string) => `./?${key}=${encodeURIComponent(value)}`;

export const to = {
  library: "./",
  experiments: "./?experiments",
  run: (id: string) => one("run", id),
  live: (id: string) => one("live", id),
  history: (name: string) => one("history", name),
  compare: (ids: string[]) => `./?compare=${ids.map(encodeURIComponent).join(",")}`,
};

/** `2026-11-22 05:14 UTC`. */
export const wall = (text: string): string =>
  text.length < 16 ? text : `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`;
