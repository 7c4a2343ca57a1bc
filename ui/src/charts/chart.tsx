/**
 * One chart in the page: ECharts in a box that knows its width, its theme, the printer and the keyboard.
 *
 * Invariants: it is drawn when it comes near the view, is printed, is asked for by a test or the browser has time; it
 * is redrawn when its data, its width or (on canvas) the theme changes, and a zoom outlives that; it is disposed of
 * with its element; the drawing is one image with a description for those who cannot see it, and its values can be read with
 * the arrow keys. Foreign text gets into it as text only: labels are text nodes, tooltips are built of elements.
 * Test hook: the root element has `data-chart`, and `__pronyOption()` gives the option that ECharts holds.
 * Absent on purpose: animation, and any knowledge of what is shown.
 */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useTheme } from "../theme";
import { pictureName, save } from "../ui/csv";
import { whenIdle } from "../ui/idle";
import { useWords } from "../words";
import { timeInterval } from "./base";
import { type ChartOption, type ECharts, init } from "./echarts";
import { type Look, canvasLook, svgLook } from "./look";
import { captionOf, picture } from "./picture";

export interface ChartProps {
  /** What kind of chart it is, for tests and style sheets. */
  name: string;
  /** What can be seen in it, in words. */
  label: string;
  /** In CSS pixels; may depend on the width. */
  height: (look: Look) => number;
  make: (look: Look) => ChartOption;
  /** Canvas where there are thousands of shapes; else SVG, which stays sharp on paper. */
  renderer?: "svg" | "canvas";
}

/** The root element of a chart, as tests see it. */
export interface ChartElement extends HTMLDivElement {
  __pronyOption?: () => ChartOption;
}

/** A chart begins to be drawn this far outside the view. */
const NEAR = "500px 0px";
/** A page of A4 or letter with its margins has about as many CSS pixels. */
const PAPER_WIDTH = 680;

export function Chart(props: ChartProps) {
  const { name, label } = props;
  const words = useWords().charts;
  const shown = useTheme();
  const root = useRef<ChartElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const [told, tell] = useState("");
  const drawing = useRef<Drawing | null>(null);

  useLayoutEffect(() => {
    const made = new Drawing(host.current!);
    drawing.current = made;
    root.current!.__pronyOption = () => made.option();
    return () => {
      made.end();
      drawing.current = null;
    };
  }, []);

  // After each rendering: new data, new words or another theme. Before the first view it only takes note.
  useEffect(() => drawing.current?.show(props, shown));

  const onKeyDown = useCallback((event: KeyboardEvent) => {
    const text = drawing.current?.step(event.key);
    if (text === undefined) return;
    event.preventDefault();
    tell(text);
  }, []);

  return (
    <div class="chart" data-chart={name} ref={root}>
      <div
        class="chart-plot"
        role="img"
        aria-label={label}
        aria-roledescription={words.chart}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onBlur={() => drawing.current?.step("Escape")}
        ref={host}
      />
      <p class="chart-told" aria-live="polite">
        {told}
      </p>
      <button
        type="button"
        class="chart-save no-print"
        aria-label={words.savePicture(label.split(". ")[0]!)}
        onClick={() => drawing.current?.save(root.current!)}
      >
        PNG
      </button>
    </div>
  );
}

/** Whether the page is on its way to paper: what is made meanwhile is drawn at once. */
let isPaper = false;
if (typeof addEventListener === "function") {
  addEventListener("beforeprint", () => (isPaper = true), { capture: true });
  addEventListener("afterprint", () => (isPaper = false), { capture: true });
}

/** The life of one ECharts instance. */
class Drawing {
  private chart: ECharts | null = null;
  private props: ChartProps | null = null;
  private theme = "";
  private isNear = false;
  private drawnWidth = 0;
  /** Where the arrow keys stand. */
  private at = -1;
  private readonly near: IntersectionObserver;
  private readonly takeBack: () => void;
  private readonly size: ResizeObserver;

  constructor(private readonly host: HTMLDivElement) {
    this.near = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        this.isNear = true;
        this.drawFirst();
      },
      { rootMargin: NEAR },
    );
    this.near.observe(host);
    this.takeBack = whenIdle(() => this.drawFirst());
    this.size = new ResizeObserver(() => {
      if (this.isNear && this.host.clientWidth !== this.drawnWidth) this.draw();
    });
    this.size.observe(host);
    addEventListener("beforeprint", this.forPaper);
    addEventListener("afterprint", this.forScreen);
  }

  show(props: ChartProps, theme: string) {
    const isSame = this.props !== null && this.props.make === props.make && this.theme === theme;
    this.props = props;
    this.theme = theme;
    if (this.chart === null) this.reserve();
    if (isPaper) this.draw(PAPER_WIDTH);
    else if (this.isNear && !(isSame && this.chart !== null)) this.draw();
  }

  option(): ChartOption {
    if (this.chart === null) this.draw();
    return (this.chart?.getOption() ?? {}) as ChartOption;
  }

  /** Gives the chart to the reader as a picture. */
  save(root: HTMLElement) {
    const { host, props, chart } = this;
    const width = host.clientWidth;
    if (props === null || width <= 0) return;
    const font = getComputedStyle(host).fontFamily || "sans-serif";
    const caption = captionOf(root, props.label, document.title);
    const canvas = picture(props, width, font, caption, (option) =>
      keepZoom(chart?.getOption() as ChartOption | undefined, option),
    );
    canvas.toBlob((content) => content && save(pictureName(document.title, props.name), content));
  }

  end() {
    this.near.disconnect();
    this.takeBack();
    this.size.disconnect();
    removeEventListener("beforeprint", this.forPaper);
    removeEventListener("afterprint", this.forScreen);
    this.chart?.dispose();
    this.chart = null;
  }

  /** Takes the room of the chart before it is drawn, so that the page does not jump. */
  private reserve() {
    const width = this.host.clientWidth;
    if (this.props && width > 0) this.host.style.height = `${this.props.height(svgLook(width))}px`;
  }

  private readonly forPaper = () => this.draw(PAPER_WIDTH);
  private readonly forScreen = () => {
    if (this.isNear) this.draw();
  };

  /** What is folded away has no width and waits until it comes near. */
  private drawFirst() {
    if (this.chart === null) this.draw();
    if (!this.isNear) return;
    this.near.disconnect();
    this.takeBack();
  }

  private draw(widthMax = Infinity) {
    const { host, props } = this;
    const width = Math.min(host.clientWidth, widthMax);
    if (props === null || width <= 0) return;
    this.isNear = true;
    this.drawnWidth = host.clientWidth;
    const renderer = props.renderer ?? "svg";
    const font = getComputedStyle(host).fontFamily || "sans-serif";
    const look = renderer === "canvas" ? canvasLook(width, font) : svgLook(width, font);
    const height = props.height(look);
    host.style.height = `${height}px`;
    if (this.chart === null) {
      this.chart = init(host, null, { renderer, width, height });
      this.chart.on("datazoom", () => this.onZoom());
    } else this.chart.resize({ width, height, silent: true });
    const option = props.make(look);
    keepZoom(this.chart.getOption() as ChartOption | undefined, option);
    this.chart.setOption(
      { animation: false, textStyle: { fontFamily: font }, ...option },
      { notMerge: true, lazyUpdate: false },
    );
    this.at = -1;
  }

  /** A part of a long time needs nearer ticks than the whole. */
  private onZoom() {
    const { chart } = this;
    const option = chart?.getOption() as ZoomedOption | undefined;
    const [zoom] = option?.dataZoom ?? [];
    const axes = option?.xAxis ?? [];
    if (!chart || !zoom || !axes.some((axis) => axis.id?.startsWith("time"))) return;
    const xAxis = axes.map(({ id, min, max, splitNumber }) => ({
      id,
      interval: timeInterval(((max - min) * (zoom.end - zoom.start)) / 100, splitNumber),
    }));
    chart.setOption({ xAxis } as ChartOption);
  }

  /** Moves the tooltip by the arrow keys; gives its text, or nothing where the key means nothing here. */
  step(key: string): string | undefined {
    const { chart } = this;
    if (chart === null) return undefined;
    const series = (chart.getOption() as { series?: { data?: unknown[]; silent?: boolean }[] }).series ?? [];
    const index = series.findIndex((one) => !one.silent && (one.data?.length ?? 0) > 0);
    const last = (series[index]?.data?.length ?? 0) - 1;
    const to = placeAfter(key, this.at, last);
    if (to === undefined) return undefined;
    this.at = to;
    if (to < 0) {
      chart.dispatchAction({ type: "hideTip" });
      return "";
    }
    chart.dispatchAction({ type: "showTip", seriesIndex: index, dataIndex: to });
    return this.host.querySelector<HTMLElement>(".chart-tip")?.innerText ?? "";
  }
}

/** What is looked at when the zoom changes. */
interface ZoomedOption {
  dataZoom?: { start: number; end: number }[];
  xAxis?: { id?: string; min: number; max: number; splitNumber: number }[];
}

/** Where the arrow keys lead from `at`; −1 is nowhere. */
export function placeAfter(key: string, at: number, last: number): number | undefined {
  if (last < 0) return undefined;
  switch (key) {
    case "ArrowRight":
    case "ArrowDown":
      return Math.min(last, at + 1);
    case "ArrowLeft":
    case "ArrowUp":
      return Math.max(0, at - 1);
    case "Home":
      return 0;
    case "End":
      return last;
    case "Escape":
      return -1;
    default:
      return undefined;
  }
}

/** A zoom that the reader has chosen outlives a new drawing. */
function keepZoom(from: ChartOption | undefined, to: ChartOption) {
  const [old] = [from?.dataZoom ?? []].flat();
  if (!old || !Array.isArray(to.dataZoom)) return;
  for (const zoom of to.dataZoom) Object.assign(zoom, { start: old.start, end: old.end });
}
