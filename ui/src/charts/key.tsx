/**
 * What the marks of a chart stand for, above it: sign, dash and colour of each series beside its name.
 *
 * Absent on purpose: a key beside a chart that labels its lines directly, unless the screen is too narrow for that.
 */
import { clean } from "./base";
import { type Mark, type Sign, markOf, svgLook } from "./look";

export interface KeyItem {
  name: string;
  /** Which mark; −1 is the thin grey line of what stands in the background. */
  index: number;
}

const LOOK = svgLook(0);

/** The box of a mark, in CSS pixels. */
export const KEY_SIZE = { width: 28, height: 12 };

/** The line of a mark and its signs, as SVG writes paths; the picture of a chart draws the same. */
export const markPaths: Record<"line" | Sign, string> = {
  line: "M0 6H28",
  circle: "M10.5 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
  rect: "M11 3h6v6h-6Z",
  triangle: "M14 2L18 9.5H10Z",
  diamond: "M14 1.5L18.5 6L14 10.5L9.5 6Z",
};

/** The element that marks are drawn in. */
const BOX = {
  ...KEY_SIZE,
  viewBox: `0 0 ${KEY_SIZE.width} ${KEY_SIZE.height}`,
  "aria-hidden": true,
} as const;

export function Key({ items, always = false }: { items: KeyItem[]; always?: boolean }) {
  if (items.length < 2 && !always) return null;
  return (
    <ul class={always ? "chart-key" : "chart-key chart-key-narrow"}>
      {items.map((item) => (
        <li key={`${item.index} ${item.name}`} data-index={item.index}>
          {item.index < 0 ? <Thin /> : <Swatch mark={markOf(LOOK, item.index)} />}
          {clean(item.name)}
        </li>
      ))}
    </ul>
  );
}

function Thin() {
  return (
    <svg {...BOX}>
      <path d={markPaths.line} stroke={LOOK.faint} stroke-width="1" opacity="0.55" fill="none" />
    </svg>
  );
}

/** A piece of the line with its sign. */
export function Swatch({ mark }: { mark: Mark }) {
  const dash = mark.dash === "solid" ? undefined : mark.dash.join(" ");
  const fill = mark.hollow ? "var(--ground)" : mark.color;
  return (
    <svg {...BOX}>
      <path d={markPaths.line} stroke={mark.color} stroke-width="2" stroke-dasharray={dash} fill="none" />
      <path d={markPaths[mark.sign]} fill={fill} stroke={mark.color} stroke-width={1.5} />
    </svg>
  );
}
