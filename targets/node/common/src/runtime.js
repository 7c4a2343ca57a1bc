// Counters of Node itself for /debug/runtime: memory, event loop, processor
// time, versions.
//
// Values count from the start of the process; whoever reads takes differences.
// With cluster workers each answer is about the one worker that gave it, whose
// pid says which. A loop delay that was never sampled is null, not zero.

import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const DELAY_RESOLUTION_MS = 20;

/** Starts the delay histogram and gives the function that reads everything. */
export function runtimeReader() {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  return () => ({
    version: process.version,
    versions: process.versions,
    pid: process.pid,
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
