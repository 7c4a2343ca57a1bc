/**
 * What a page has loaded, or why not.
 *
 * Invariant: an answer that comes after its page has asked for something else is dropped.
 */
import { useCallback, useEffect, useState } from "preact/hooks";
import { type Fault, faultOf } from "./api";

export interface Loaded<T> {
  value?: T;
  fault?: Fault;
  isLoading: boolean;
  again: () => void;
  set: (value: T) => void;
}

/** Loads when `key` changes, and again when asked; what was there stays until the new one is. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, set] = useState<{ key: string; value?: T; fault?: Fault; isLoading: boolean }>({
    key,
    isLoading: true,
  });
  const [turn, next] = useState(0);
  useEffect(() => {
    const ending = new AbortController();
    set((old) => ({ ...(old.value === undefined ? {} : { value: old.value }), key, isLoading: true }));
    load(ending.signal).then(
      (value) => ending.signal.aborted || set({ key, value, isLoading: false }),
      (error) => ending.signal.aborted || set({ key, fault: faultOf(error), isLoading: false }),
    );
    return () => ending.abort();
    // `load` is created at each rendering; the key says when it is another.
  }, [key, turn]);
  const again = useCallback(() => next((n) => n + 1), []);
  const put = useCallback((value: T) => set((old) => ({ key: old.key, value, isLoading: false })), []);
  return { ...state, again, set: put };
}

/** Runs again every so often while the page is seen. */
export function useEvery(ms: number, act: () => void) {
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && act(), ms);
    return () => clearInterval(timer);
  }, [ms, act]);
}
