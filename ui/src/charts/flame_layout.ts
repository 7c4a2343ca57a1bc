/**
 * Where the frames of a flame graph stand: pure, without a screen.
 *
 * Invariants: a frame is as wide as its share of the frame that is zoomed to; children lie within their parent, in
 * the order of the profile; what is narrower than can be seen is left out, and so are its children.
 */
import type { Frame } from "./data";

/** The way to a frame from the root: places among the children. */
export type Path = number[];

export interface Box {
  path: Path;
  name: string;
  value: number;
  /** Value in the other profile of a difference; null where it is not in it. */
  other?: number | null;
  depth: number;
  /** Of the whole width, 0 to 1. */
  left: number;
  width: number;
  /** Whether it lies above the frame that is zoomed to. */
  isAbove: boolean;
}

/** A frame of a difference: the value in both. */
export interface DiffFrame extends Frame {
  other?: number | null;
  children?: DiffFrame[];
}

export const pathKey = (path: Path): string => path.join(".");

export function frameAt(root: DiffFrame, path: Path): DiffFrame | undefined {
  let frame: DiffFrame | undefined = root;
  for (const at of path) frame = frame?.children?.[at];
  return frame;
}

/** The boxes to draw, zoomed to the frame at `focus`; none narrower than `least` of the width. */
export function boxesOf(root: DiffFrame, focus: Path, least: number): Box[] {
  const boxes: Box[] = [];
  let above: DiffFrame | undefined = root;
  for (let depth = 0; depth < focus.length && above; depth++) {
    boxes.push(boxOf(above, focus.slice(0, depth), 0, 1, true));
    above = above.children?.[focus[depth] ?? 0];
  }
  const walk = (frame: DiffFrame, path: Path, left: number, width: number) => {
    boxes.push(boxOf(frame, path, left, width, false));
    let at = left;
    (frame.children ?? []).forEach((child, index) => {
      const share = frame.value > 0 ? (child.value / frame.value) * width : 0;
      const room = Math.min(share, left + width - at);
      if (room >= least) walk(child, [...path, index], at, room);
      at += room;
    });
  };
  if (above) walk(above, focus, 0, 1);
  return boxes;
}

function boxOf(frame: DiffFrame, path: Path, left: number, width: number, isAbove: boolean): Box {
  const { name, value } = frame;
  const other = frame.other === undefined ? {} : { other: frame.other };
  return { path, name, value, ...other, depth: path.length, left, width, isAbove };
}

/** `after` with the values of `before` beside its own; frames are the same where their callers are. */
export function difference(after: Frame, before: Frame | undefined): DiffFrame {
  return {
    name: after.name,
    value: after.value,
    other: before?.value ?? null,
    children: (after.children ?? []).map((child) =>
      difference(
        child,
        before?.children?.find((one) => one.name === child.name),
      ),
    ),
  };
}

/** What a frame belongs to: its package, module or library, by the habits of the languages. */
export function ownerOf(name: string): string {
  const bare = name.replace(/\(.*$/, "").replace(/\[[^\]]*\]$/, "");
  const slash = bare.lastIndexOf("/");
  const tail = bare.slice(slash + 1);
  const end = [tail.indexOf("."), tail.indexOf("::")].filter((at) => at > 0).sort((a, b) => a - b)[0];
  return bare.slice(0, slash + 1) + (end === undefined ? tail : tail.slice(0, end));
}

/**
 * Which tint each owner has: the widest ones get one each, beginning with the same one for the same name wherever it
 * appears; all others share the last.
 */
export function tintsOf(root: Frame, tints: number): (owner: string) => number {
  const widest = new Map<string, number>();
  const walk = (frame: Frame) => {
    const owner = ownerOf(frame.name);
    widest.set(owner, Math.max(frame.value, widest.get(owner) ?? 0));
    for (const child of frame.children ?? []) walk(child);
  };
  for (const child of root.children ?? []) walk(child);
  const taken = new Map<string, number>();
  const free = new Set(Array.from({ length: tints - 1 }, (_, at) => at));
  for (const [owner] of [...widest].sort((a, b) => b[1] - a[1]).slice(0, tints - 1)) {
    let tint = hashOf(owner) % (tints - 1);
    while (!free.has(tint)) tint = (tint + 1) % (tints - 1);
    free.delete(tint);
    taken.set(owner, tint);
  }
  return (owner) => taken.get(owner) ?? tints - 1;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 2166136261;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619);
  return hash >>> 0;
}

/** How much a frame grew from one profile to the other, in steps from −3 (shrank) to 3 (grew), by shares. */
export function stepOf(share: number, other: number): number {
  const by = share - other;
  const size = [0.002, 0.01, 0.04].filter((limit) => Math.abs(by) >= limit).length;
  return size === 0 ? 0 : Math.sign(by) * size;
}

/** Where the arrow keys lead: down to the widest child, up to the caller, aside to the next sibling. */
export function moved(root: DiffFrame, path: Path, key: string): Path | undefined {
  const last = path.at(-1);
  switch (key) {
    case "ArrowDown": {
      const children = frameAt(root, path)?.children ?? [];
      if (children.length === 0) return undefined;
      const widest = children.reduce(
        (best, child, at) => (child.value > (children[best]?.value ?? 0) ? at : best),
        0,
      );
      return [...path, widest];
    }
    case "ArrowUp":
      return path.length ? path.slice(0, -1) : undefined;
    case "ArrowLeft":
    case "ArrowRight": {
      if (last === undefined) return undefined;
      const to = [...path.slice(0, -1), last + (key === "ArrowLeft" ? -1 : 1)];
      return frameAt(root, to) && (to.at(-1) ?? -1) >= 0 ? to : undefined;
    }
    case "Home":
      return [];
    default:
      return undefined;
  }
}
