// Counters of Node itself for /debug/runtime: memory, event loop, collector,
// processor time, versions.
//
// Values count from the start of the process; whoever reads takes differences.
// Only the delays under "processes" are of a window, which starts over when
// somebody asks for `?window=new`: prony's collector does, others leave it alone.
// With cluster workers the answer is about the one worker that gave it, whose pid
// says which, but for "processes", which has all of them. A loop delay that was
// never sampled is null, not zero; so is the number of requests with cluster
// workers, since each counts only its own.
//
// The answer comes from the event loop that it tells about: while that is
// blocked there is none. A worker thread could answer then, but it would be a
// second isolate with its memory and collector inside of what is measured, and
// would know no more: a delay is recorded only when the loop goes on, and the
// first answer after it tells how long it was.

import cluster from 'node:cluster';
import { PerformanceObserver, constants, createHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

import { gatherer } from './fleet.js';
import { Times } from './times.js';

const DELAY_RESOLUTION_MS = 20;
const NS_PER_MS = 1e6;

/** Counts the requests of a server, but those below /debug/, which are prony's own, and times them if it is asked to. */
export class RequestCounter {
  #served = 0;

  /** @param {boolean} timed */
  constructor(timed = false) {
    /** @type {Times | null} */
    this.times = timed ? new Times() : null;
  }

  /** @param {import('node:http').Server} server */
  watch(server) {
    server.on('request', (request, response) => {
      if (request.url.startsWith('/debug/')) return;
      this.#served += 1;
      if (this.times) response.once('finish', timer(this.times));
    });
  }

  /** @returns {number | null} null where other processes serve too */
  get served() {
    return cluster.isWorker ? null : this.#served;
  }

  /** @returns {number} by this process */
  get own() {
    return this.#served;
  }
}

function timer(times) {
  const start = performance.now();
  return () => times.observe((performance.now() - start) / 1e3);
}

/**
 * Starts the histograms and gives the function that reads everything; its flag
 * begins a new window of the delays.
 * @param {RequestCounter} requests
 * @param {() => object | null} pool what the database's pool tells; null where there is none
 * @returns {(freshWindow?: boolean) => Promise<object>}
 */
export function runtimeReader(requests = new RequestCounter(), pool = () => null) {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  const gather = gatherer(processReader(requests, pool));
  return async (freshWindow = false) => ({
    version: process.version,
    versions: process.versions,
    pid: process.pid,
    requests: requests.served,
    uptime_s: process.uptime(),
    memory_bytes: process.memoryUsage(),
    heap: getHeapStatistics(),
    heap_spaces: getHeapSpaceStatistics(),
    event_loop: { utilization: performance.eventLoopUtilization(), delay_ns: summary(delay) },
    cpu_us: process.cpuUsage(),
    resources: process.getActiveResourcesInfo().length,
    processes: await gather(freshWindow),
  });
}

/** What one process reports on itself; the keys are those of crates/collect/src/runtimes/node.rs. */
function processReader(requests, pool) {
  const delay = watchLoop();
  const gc = watchCollector();
  return (freshWindow) => {
    const { active, idle } = performance.eventLoopUtilization();
    const heap = getHeapStatistics();
    const own = {
      pid: process.pid,
      loop_delay_ns: lateness(delay),
      active_ms: active,
      idle_ms: idle,
      gc: { ...gc },
      heap_used_bytes: heap.used_heap_size,
      heap_limit_bytes: heap.heap_size_limit,
      rss_bytes: process.memoryUsage.rss(),
      external_bytes: heap.external_memory,
      requests: requests.own,
      pool: pool(),
    };
    if (freshWindow) delay.reset();
    return own;
  };
}

function watchCollector() {
  const seen = { pause_ns: 0, cycles: 0, major_cycles: 0 };
  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries()) {
      seen.pause_ns += duration * NS_PER_MS;
      seen.cycles += 1;
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) seen.major_cycles += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return seen;
}

// How late a timer fires. Not monitorEventLoopDelay: after a reset that forgets
// when it fired last, so a loop that blocks at the begin of a window would not
// show.
function watchLoop() {
  const histogram = createHistogram();
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    // 1 is the least that a histogram takes.
    histogram.record(Math.max(1, Math.round((now - last - DELAY_RESOLUTION_MS) * NS_PER_MS)));
    last = now;
  }, DELAY_RESOLUTION_MS).unref();
  return histogram;
}

function lateness(delay) {
  if (delay.count === 0) return null;
  return { p50: delay.percentile(50), p99: delay.percentile(99), max: delay.max };
}

function summary(delay) {
  if (delay.count === 0) return null;
  const { count, min, max, mean, stddev, exceeds } = delay;
  const percentiles = Object.fromEntries([50, 90, 99, 99.9].map((p) => [`p${p}`, delay.percentile(p)]));
  return { resolution: DELAY_RESOLUTION_MS * 1e6, count, min, max, mean, stddev, exceeds, ...percentiles };
}
