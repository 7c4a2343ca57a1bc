/**
 * A chart as a PNG: heading, key, drawing and where it is from, as one picture.
 *
 * Invariants: it is drawn anew on a canvas of its own by the same option, in the colours and the zoom that are seen; two
 * pixels for each CSS pixel; the key is that of the page, also where the page hides it for want of need.
 * Absent on purpose: any knowledge of what is shown, and any request: the file is made in the page.
 */
import type { ChartProps } from "./chart";
import { oneLine } from "./base";
import { type ChartOption, init } from "./echarts";
import { KEY_SIZE, markPaths } from "./key";
import { type Look, canvasLook, markOf } from "./look";

const PIXELS = 2;
const MARGIN = 16;
const HEADING = 15;
const SMALL = 12;
const LINE = 22;

/** What stands around the drawing. */
export interface Caption {
  heading: string;
  key: { name: string; index: number }[];
  /** Where it is from, such as the name of the run. */
  source: string;
}

/** What the page says around the chart whose element is `root`. */
export function captionOf(root: HTMLElement, label: string, source: string): Caption {
  const written = root.closest("figure")?.querySelector("figcaption")?.textContent;
  const items = root.closest(".chart-box")?.querySelectorAll<HTMLElement>(".chart-key li[data-index]") ?? [];
  return {
    heading: oneLine(written || label.split(". ")[0]!, 120),
    key: [...items].map((item) => ({ name: item.textContent, index: Number(item.dataset.index) })),
    source: oneLine(source, 120),
  };
}

/** The whole picture; `change` is applied to the option before it is drawn, for example to keep a zoom. */
export function picture(
  props: ChartProps,
  width: number,
  font: string,
  caption: Caption,
  change: (option: ChartOption) => void,
): HTMLCanvasElement {
  const look = canvasLook(width, font);
  const plot = plotted(props, look, change);
  const lines = keyLines(caption.key, width, look);
  const top = MARGIN + LINE + lines.length * LINE;
  const height = props.height(look);
  const canvas = document.createElement("canvas");
  canvas.width = (width + 2 * MARGIN) * PIXELS;
  canvas.height = (top + height + LINE + MARGIN) * PIXELS;
  const to = canvas.getContext("2d")!;
  to.scale(PIXELS, PIXELS);
  to.fillStyle = look.ground;
  to.fillRect(0, 0, canvas.width, canvas.height);
  write(to, caption.heading, [MARGIN, MARGIN + HEADING], look.ink, `600 ${HEADING}px ${look.font}`);
  lines.forEach((line, at) => keyLine(to, line, MARGIN + (at + 1) * LINE, look));
  to.drawImage(plot, MARGIN, top, width, height);
  write(to, caption.source, [MARGIN, top + height + LINE], look.faint, `${SMALL}px ${look.font}`);
  return canvas;
}

/** The drawing alone, as ECharts makes it on a canvas. */
function plotted(props: ChartProps, look: Look, change: (option: ChartOption) => void): HTMLCanvasElement {
  const host = document.createElement("div");
  const chart = init(host, null, {
    renderer: "canvas",
    width: look.width,
    height: props.height(look),
    devicePixelRatio: PIXELS,
  });
  const option = props.make(look);
  change(option);
  chart.setOption({ animation: false, textStyle: { fontFamily: look.font }, ...option });
  const drawn = chart.renderToCanvas({ pixelRatio: PIXELS, backgroundColor: look.ground });
  chart.dispose();
  return drawn;
}

type KeyEntry = { name: string; index: number; left: number };

const measured = (text: string, look: Look): number => {
  const on = document.createElement("canvas").getContext("2d")!;
  on.font = `${SMALL}px ${look.font}`;
  return on.measureText(text).width;
};

/** The key in lines that are no wider than the drawing. */
function keyLines(key: Caption["key"], width: number, look: Look): KeyEntry[][] {
  const lines: KeyEntry[][] = [];
  let left = Infinity;
  for (const { name, index } of key) {
    const wide = KEY_SIZE.width + 6 + measured(name, look) + 20;
    if (left + wide > width) {
      lines.push([]);
      left = 0;
    }
    lines.at(-1)!.push({ name, index, left: MARGIN + left });
    left += wide;
  }
  return lines;
}

function keyLine(to: CanvasRenderingContext2D, line: KeyEntry[], top: number, look: Look) {
  for (const { name, index, left } of line) {
    to.save();
    to.translate(left, top + 4);
    drawMark(to, index, look);
    to.restore();
    write(to, name, [left + KEY_SIZE.width + 6, top + SMALL + 2], look.soft, `${SMALL}px ${look.font}`);
  }
}

function drawMark(to: CanvasRenderingContext2D, index: number, look: Look) {
  if (index < 0) {
    to.strokeStyle = look.faint;
    to.stroke(new Path2D(markPaths.line));
    return;
  }
  const mark = markOf(look, index);
  to.strokeStyle = mark.color;
  to.lineWidth = 2;
  to.setLineDash(mark.dash === "solid" ? [] : mark.dash);
  to.stroke(new Path2D(markPaths.line));
  to.setLineDash([]);
  to.lineWidth = 1.5;
  to.fillStyle = mark.hollow ? look.ground : mark.color;
  const sign = new Path2D(markPaths[mark.sign]);
  to.fill(sign);
  to.stroke(sign);
}

function write(
  to: CanvasRenderingContext2D,
  text: string,
  [x, y]: [number, number],
  color: string,
  font: string,
) {
  to.fillStyle = color;
  to.font = font;
  to.fillText(text, x, y);
}
