/**
 * A line as small as a word: values without axes, the last one marked. For tables, lists and the live lab.
 *
 * Invariants: the text that describes it carries the numbers; gaps stay gaps; it begins at 0 unless set otherwise.
 * Absent on purpose: ECharts (a list may have hundreds), tooltips.
 */
import { drawable } from "./base";

export interface SparklineProps {
  values: (number | null | undefined)[];
  /** What it shows, with its last value. */
  label: string;
  width?: number;
  height?: number;
  /** Where the axis begins: 0, or the smallest value. */
  from?: "zero" | "least";
  /** Places that are marked, for example change points. */
  marks?: { at: number; bad: boolean }[];
  color?: string;
}

/** The pieces of the line, as SVG path data in a box of `width` × `height`. */
export function sparkPath(
  values: SparklineProps["values"],
  width: number,
  height: number,
  from: "zero" | "least" = "zero",
): { path: string; last?: [number, number]; x: (at: number) => number } {
  const found = values.filter(drawable);
  const low = from === "zero" ? Math.min(0, ...found) : Math.min(...found);
  const high = Math.max(...found);
  const pad = 2.5;
  const x = (at: number) => pad + ((width - 2 * pad) * at) / Math.max(1, values.length - 1);
  const y = (value: number) =>
    high > low ? height - pad - ((height - 2 * pad) * (value - low)) / (high - low) : height / 2;
  let path = "";
  let isOn = false;
  let last: [number, number] | undefined;
  values.forEach((value, at) => {
    if (!drawable(value)) {
      isOn = false;
      return;
    }
    const place: [number, number] = [x(at), y(value)];
    path += `${isOn ? "L" : "M"}${place[0].toFixed(1)} ${place[1].toFixed(1)}`;
    isOn = true;
    last = place;
  });
  return last ? { path, last, x } : { path, x };
}

export function Sparkline({
  values,
  label,
  width = 96,
  height = 22,
  from = "zero",
  marks,
  color,
}: SparklineProps) {
  const { path, last, x } = sparkPath(values, width, height, from);
  const stroke = color ?? "var(--series-1)";
  return (
    <svg
      class="sparkline"
      data-chart="sparkline"
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      {marks?.map((mark) => (
        <path
          key={mark.at}
          d={`M${x(mark.at - 0.5).toFixed(1)} 0V${height}`}
          stroke={mark.bad ? "var(--bad)" : "var(--good)"}
          stroke-width="1.5"
          stroke-dasharray={mark.bad ? undefined : "2 2"}
        />
      ))}
      <path d={path} fill="none" stroke={stroke} stroke-width="1.5" stroke-linejoin="round" />
      {last && <circle cx={last[0]} cy={last[1]} r="2.5" fill={stroke} />}
    </svg>
  );
}
