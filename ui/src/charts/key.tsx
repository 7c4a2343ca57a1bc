/**
 * What the marks of a chart stand for, above it: sign, dash and colour of each series beside its name.
 *
 * Absent on purpose: a key beside a chart that labels its lines directly, unless the screen is too narrow for that.
 */
import { clean } from "./base";
import { type Mark, markOf, svgLook } from "./look";

export interface KeyItem {
  name: string;
  /** Which mark; −1 is the thin grey line of what stands in the background. */
  index: number;
}

const LOOK = svgLook(0);

export function Key({ items, always = false }: { items: KeyItem[]; always?: boolean }) {
  if (items.length < 2 && !always) return null;
  return (
    <ul class={always ? "chart-key" : "chart-key chart-key-narrow"}>
      {items.map((item) => (
        <li key={`${item.index} ${item.name}`}>
          {item.index < 0 ? <Thin /> : <Swatch mark={markOf(LOOK, item.index)} />}
          {clean(item.name)}
        </li>
      ))}
    </ul>
  );
}

function Thin() {
  return (
    <svg width="28" height="12" viewBox="0 0 28 12" aria-hidden="true">
      <path d="M0 6H28" stroke={LOOK.faint} stroke-width="1" opacity="0.55" fill="none" />
    </svg>
  );
}

/** A piece of the line with its sign. */
export function Swatch({ mark }: { mark: Mark }) {
  const dash = mark.dash === "solid" ? undefined : mark.dash.join(" ");
  const fill = mark.hollow ? "var(--ground)" : mark.color;
  const sign = { fill, stroke: mark.color, "stroke-width": 1.5 };
  return (
    <svg width="28" height="12" viewBox="0 0 28 12" aria-hidden="true">
      <path d="M0 6H28" stroke={mark.color} stroke-width="2" stroke-dasharray={dash} fill="none" />
      {mark.sign === "circle" && <circle cx="14" cy="6" r="3.5" {...sign} />}
      {mark.sign === "rect" && <rect x="11" y="3" width="6" height="6" {...sign} />}
      {mark.sign === "triangle" && <path d="M14 2L18 9.5H10Z" {...sign} />}
      {mark.sign === "diamond" && <path d="M14 1.5L18.5 6L14 10.5L9.5 6Z" {...sign} />}
    </svg>
  );
}
