/**
 * Work for the time when the browser has nothing else to do: one job at a time, in the order in which they were asked
 * for, so that searching in the page and captures of the whole page find what nobody has scrolled to.
 *
 * Invariants: nothing runs before the first screen was painted; every job runs once unless it is taken back, also
 * where the one before it failed or the browser is never idle.
 */

/**
 * The longest wait for an idle moment, in milliseconds. Headless captures in virtual time have no idle moments, so
 * each job waits this long.
 */
const WAIT_MAX_MS = 100;
/** The wait where the browser does not say when it is idle (Safari). */
const PAUSE_MS = 30;

const jobs = new Set<() => void>();
let isAsked = false;

function whenFree(run: () => void) {
  if (typeof requestIdleCallback === "function") requestIdleCallback(run, { timeout: WAIT_MAX_MS });
  else setTimeout(run, PAUSE_MS);
}

function ask() {
  if (isAsked || jobs.size === 0) return;
  isAsked = true;
  whenFree(() => {
    isAsked = false;
    const [job] = jobs;
    if (job === undefined) return;
    jobs.delete(job);
    try {
      job();
    } finally {
      ask();
    }
  });
}

/** Runs `job` once in idle time; the result takes it back. */
export function whenIdle(job: () => void): () => void {
  // A function of its own, so that the same job can be asked for twice.
  const own = () => job();
  jobs.add(own);
  ask();
  return () => void jobs.delete(own);
}
