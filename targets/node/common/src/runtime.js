// Counters of Node itself for /debug/runtime: memory, event loop, processor
// time, versions.
//
// Values count from the start of the process; whoever reads takes differences.
// With cluster workers each answer is about the one worker that gave it, whose
// pid says which. A loop delay that was never sampled is null, not zero; so is
// the number of requests with cluster workers, since each counts only its own.

import cluster from 'node:cluster';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const DELAY_RESOLUTION_MS = 20;

/** Counts the requests of a server, but those below /debug/, which are prony's own. */
export class RequestCounter {
  #served = 0;

  /** @param {import('node:http').Server} server */
  watch(server) {
    server.on('request', (request) => {
      if (!request.url.startsWith('/debug/')) this.#served += 1;
    });
  }

  /** @returns {number | null} null where other processes serve too */
  get served() {
    return cluster.isWorker ? null : this.#served;
  }
}

/**
 * Starts the delay histogram and gives the function that reads everything.
 * @param {RequestCounter} requests
 */
export function runtimeReader(requests = new RequestCounter()) {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  return () => ({
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
  });
}

function summary(delay) {
  if (delay.count === 0) return null;
  const { count, min, max, mean, stddev, exceeds } = delay;
  const percentiles = Object.fromEntries([50, 90, 99, 99.9].map((p) => [`p${p}`, delay.percentile(p)]));
  return { resolution: DELAY_RESOLUTION_MS * 1e6, count, min, max, mean, stddev, exceeds, ...percentiles };
}
