/**
 * Parts of the page that are made when they come near the view, are printed, or the browser has time.
 *
 * Invariants: what was made once stays; a page on its way to the printer has everything before the print begins; left
 * alone, the page makes all of itself.
 */
import { options } from "preact";
import type { Children } from "../jsx/children";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { whenIdle } from "./idle";

const NEAR = "900px 0px";

let isPrinting = false;
const listeners = new Set<() => void>();

/** `options.requestAnimationFrame` is where preact/hooks asks when to run effects; not in its types. */
type Scheduling = typeof options & { requestAnimationFrame?: (run: () => void) => void };

/**
 * Call once. While printing, components render and effects run at once and not in the next frame, because the
 * browser takes its picture when the listeners return.
 */
export function startPrinting() {
  const scheduling = options as Scheduling;
  const { debounceRendering, requestAnimationFrame } = scheduling;
  const tell = (on: boolean) => {
    isPrinting = on;
    for (const listener of [...listeners]) listener();
  };
  // Before the charts' own listeners: they must find their elements.
  addEventListener(
    "beforeprint",
    () => {
      // Effects wait until what they look at stands in the document, which is when rendering has returned.
      const due: (() => void)[] = [];
      scheduling.debounceRendering = (run) => run();
      scheduling.requestAnimationFrame = (run) => void due.push(run);
      tell(true);
      for (let run = due.shift(); run; run = due.shift()) run();
      scheduling.requestAnimationFrame = (run) => run();
    },
    { capture: true },
  );
  addEventListener("afterprint", () => {
    scheduling.debounceRendering = debounceRendering;
    scheduling.requestAnimationFrame = requestAnimationFrame;
    tell(false);
  });
}

/** Whether the page is on its way to paper. */
export function usePrinting(): boolean {
  const [is, set] = useState(isPrinting);
  useEffect(() => {
    const listener = () => set(isPrinting);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return is;
}

interface LazyProps {
  /** Room to keep until it comes near, in CSS pixels. */
  height: number;
  /** What stands there until then. */
  before?: Children;
  children: () => Children;
}

export function Lazy({ height, before, children }: LazyProps) {
  const [isNear, near] = useState(false);
  const isPrinting = usePrinting();
  const place = useRef<HTMLDivElement>(null);
  const focused = useRef<string | null>(null);
  const isMade = isNear || isPrinting;
  // What is made takes the place of what held it, and the focus with it.
  if (isMade && place.current?.contains(document.activeElement)) focused.current = document.activeElement!.id;
  useLayoutEffect(() => {
    if (!isMade || focused.current === null) return;
    document.getElementById(focused.current)?.focus({ preventScroll: true });
    focused.current = null;
  }, [isMade]);
  useEffect(() => {
    if (isMade || place.current === null) return;
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) near(true);
      },
      { rootMargin: NEAR },
    );
    watch.observe(place.current);
    const takeBack = whenIdle(() => near(true));
    return () => {
      watch.disconnect();
      takeBack();
    };
  }, [isMade]);
  // What was printed stays: its charts need not be drawn again.
  useEffect(() => {
    if (isPrinting) near(true);
  }, [isPrinting]);
  if (isMade) return <>{children()}</>;
  return (
    <div ref={place} class="later" style={{ minHeight: `${height}px` }}>
      {before}
    </div>
  );
}
