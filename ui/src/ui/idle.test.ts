/** Tests of the work for idle time, with a browser that is idle when the test says so. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

let callbacks: (() => void)[] = [];

/** Lets the browser be idle once; says whether anybody waited for it. */
function idle(): boolean {
  const run = callbacks.shift();
  run?.();
  return run !== undefined;
}

beforeEach(() => {
  callbacks = [];
  vi.stubGlobal("requestIdleCallback", (run: () => void) => callbacks.push(run));
});
afterEach(() => {
  while (callbacks.length > 0) idle();
  vi.unstubAllGlobals();
});

describe("work for idle time", async () => {
  const { whenIdle } = await import("./idle");

  it("runs one job at a time, in order, and not before", () => {
    const ran: string[] = [];
    whenIdle(() => ran.push("a"));
    whenIdle(() => {
      ran.push("b");
      whenIdle(() => ran.push("d"));
    });
    whenIdle(() => ran.push("c"));
    expect(ran).toEqual([]);
    for (const wanted of [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]]) {
      expect(idle()).toBe(true);
      expect(ran).toEqual(wanted);
    }
    expect(idle()).toBe(false);
  });

  it("does not run what was taken back", () => {
    const job = vi.fn();
    const back = whenIdle(job);
    whenIdle(job);
    back();
    while (idle());
    expect(job).toHaveBeenCalledTimes(1);
  });

  it("goes on after a job that failed", () => {
    const next = vi.fn();
    whenIdle(() => {
      throw new Error("planted");
    });
    whenIdle(next);
    expect(() => idle()).toThrow("planted");
    while (idle());
    expect(next).toHaveBeenCalledTimes(1);
  });

  it("needs no browser that says when it is idle", () => {
    vi.unstubAllGlobals();
    vi.stubGlobal("requestIdleCallback", undefined);
    vi.useFakeTimers();
    const job = vi.fn();
    whenIdle(job);
    vi.runAllTimers();
    vi.useRealTimers();
    expect(job).toHaveBeenCalledTimes(1);
  });
});
