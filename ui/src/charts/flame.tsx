/**
 * A flame graph, callers above what they called, and the difference of two: boxes of HTML, zoomed by click or Enter.
 *
 * Invariants: every frame can be reached by keyboard and is announced with its value and share; names are text; the
 * same package has the same tint; in a difference, growth and shrinking have signs besides colours; what is too narrow
 * to be seen appears when its caller is zoomed to.
 * Absent on purpose: sums over frames. Values and their shares of the total are those of the profile.
 */
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { bytes, count, duration, percent } from "../format";
import { type Words, useWords } from "../words";
import { oneLine } from "./base";
import type { Profile } from "./data";
import {
  type Box,
  boxesOf,
  type DiffFrame,
  difference,
  frameAt,
  moved,
  ownerOf,
  type Path,
  pathKey,
  stepOf,
  tintsOf,
} from "./flame_layout";

const ROW = 21;
/** Narrower than this a frame cannot be seen, wider than the other its name can be read. */
const SEEN_PIXELS = 1.5;
const NAMED_PIXELS = 28;
const TINTS = 8;

/** A value in the unit of the profile; what is counted is not named. */
export function profileAmount(unit: Profile["unit"], value: number): string {
  switch (unit) {
    case "cpu_ns":
    case "elapsed_ns":
    case "blocked_ns":
      return duration(value);
    case "bytes":
      return bytes(value);
    default:
      return count(value);
  }
}

/** The same with the name of what is counted. */
export function profileValue(unit: Profile["unit"], value: number, words: Words): string {
  const amount = profileAmount(unit, value);
  switch (unit) {
    case "objects":
    case "samples":
    case "goroutines":
      return `${amount} ${words.charts.profileUnits[unit]}`;
    default:
      return amount;
  }
}

export interface FlameProps {
  profile: Pick<Profile, "frames" | "total" | "unit" | "label" | "kind">;
  /** What it is compared with. */
  before?: Pick<Profile, "frames" | "total"> | undefined;
}

interface Shares {
  share: number;
  other: number | null;
}

export function Flame({ profile, before }: FlameProps) {
  const words = useWords();
  const t = words.charts;
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(1000);
  const [focus, setFocus] = useState<Path>([]);
  const [active, setActive] = useState<Path>([]);
  const [hovered, setHovered] = useState<Path | null>(null);
  const [sought, seek] = useState("");

  useEffect(() => {
    const size = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width || 1000));
    size.observe(root.current!);
    return () => size.disconnect();
  }, []);

  const tree = useMemo<DiffFrame>(
    () => (before ? difference(profile.frames, before.frames) : profile.frames),
    [profile, before],
  );
  const boxes = useMemo(() => boxesOf(tree, focus, SEEN_PIXELS / width), [tree, focus, width]);
  const tints = useMemo(() => tintsOf(profile.frames, TINTS), [profile]);
  const rows = Math.max(...boxes.map((box) => box.depth)) + 1;
  const needle = sought.trim().toLowerCase();
  const isFound = (name: string) => needle !== "" && name.toLowerCase().includes(needle);
  const found = needle ? boxes.filter((box) => isFound(box.name)).length : 0;

  const sharesOf = (value: number, other: number | null | undefined): Shares => ({
    share: profile.total > 0 ? value / profile.total : 0,
    other: before && other != null && before.total > 0 ? other / before.total : null,
  });
  const tell = (frame: { name: string; value: number; other?: number | null }) => {
    const { share, other } = sharesOf(frame.value, frame.other);
    const shown = `${oneLine(frame.name, 400)}: ${profileValue(profile.unit, frame.value, words)}, ${percent(share)}`;
    if (!before) return shown;
    return `${shown} (${t.before} ${other === null ? "–" : percent(other)})`;
  };
  const zoom = (path: Path) => {
    setFocus(path);
    setActive(path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = moved(tree, active, event.key);
    if (to) {
      setActive(to);
      // What is too narrow, or above the zoom, is zoomed to.
      if (!boxes.some((box) => pathKey(box.path) === pathKey(to))) setFocus(to.slice(0, -1));
      else if (to.length < focus.length) setFocus(to);
    } else if (event.key === "Enter" || event.key === " ") zoom(active);
    else if (event.key === "Escape") zoom(focus.slice(0, -1));
    else if (!["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(event.key)) return;
    event.preventDefault();
  };
  const told = frameAt(tree, hovered ?? active) ?? tree;

  return (
    <div class="flame" data-chart={before ? "flame-difference" : "flame"}>
      <div class="flame-tools">
        <label>
          {t.flameSearch}
          <input type="search" value={sought} onInput={(event) => seek(event.currentTarget.value)} />
        </label>
        {needle && <span aria-live="polite">{t.flameFound(count(found))}</span>}
        <button type="button" disabled={focus.length === 0} onClick={() => zoom([])}>
          {t.flameReset}
        </button>
        {before && (
          <span class="flame-legend">
            <span class="flame-box-sample" data-step="3" /> + {t.grew}
            <span class="flame-box-sample" data-step="-3" /> − {t.shrank}
          </span>
        )}
      </div>
      <div
        class="flame-tree"
        role="tree"
        tabIndex={0}
        aria-label={t.flame(profile.kind, oneLine(profile.label))}
        aria-activedescendant={`${id}-${pathKey(active)}`}
        style={{ height: `${rows * ROW}px` }}
        onKeyDown={onKeyDown}
        onMouseLeave={() => setHovered(null)}
        ref={root}
      >
        {boxes.map((box) => (
          <FlameBox
            key={pathKey(box.path)}
            id={`${id}-${pathKey(box.path)}`}
            box={box}
            shares={sharesOf(box.value, box.other)}
            tint={before ? undefined : tints(ownerOf(box.name))}
            isActive={pathKey(box.path) === pathKey(active)}
            isFound={isFound(box.name)}
            isSought={needle !== ""}
            isNamed={box.width * width >= NAMED_PIXELS}
            label={tell(box)}
            onZoom={() => zoom(box.path)}
            onHover={() => setHovered(box.path)}
          />
        ))}
      </div>
      <p class="flame-told">{tell(told)}</p>
    </div>
  );
}

interface FlameBoxProps {
  id: string;
  box: Box;
  shares: Shares;
  /** Absent in a difference. */
  tint: number | undefined;
  isActive: boolean;
  isFound: boolean;
  isSought: boolean;
  isNamed: boolean;
  label: string;
  onZoom: () => void;
  onHover: () => void;
}

function FlameBox(props: FlameBoxProps) {
  const { id, box, shares, tint, isNamed, label } = props;
  const step = tint === undefined ? stepOf(shares.share, shares.other ?? 0) : undefined;
  const sign = step === undefined || step === 0 ? "" : step > 0 ? "+ " : "− ";
  const state = [
    "flame-box",
    box.isAbove && "flame-above",
    props.isActive && "flame-active",
    props.isSought && (props.isFound ? "flame-found" : "flame-other"),
  ];
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={box.depth + 1}
      aria-selected={props.isActive}
      aria-label={label}
      class={state.filter(Boolean).join(" ")}
      data-tint={tint}
      data-step={step}
      style={{ left: `${box.left * 100}%`, width: `${box.width * 100}%`, top: `${box.depth * ROW}px` }}
      onClick={props.onZoom}
      onMouseEnter={props.onHover}
    >
      {isNamed ? sign + oneLine(box.name, 200) : ""}
    </div>
  );
}
