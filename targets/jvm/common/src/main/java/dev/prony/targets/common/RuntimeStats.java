package dev.prony.targets.common;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counters of the JVM for /debug/runtime, from its MXBeans. Counts and times run from the start of the
 * JVM; whoever reads takes differences. What a pool or collector does not know is null, not zero.
 */
public final class RuntimeStats {

    private RuntimeStats() {}

    /** Reads everything; the map encodes as JSON. */
    public static Map<String, Object> read() {
        var runtime = ManagementFactory.getRuntimeMXBean();
        var memory = ManagementFactory.getMemoryMXBean();
        var threads = ManagementFactory.getThreadMXBean();
        Map<String, Object> stats = new LinkedHashMap<>();
        stats.put("requests", Served.requests());
        stats.put("version", runtime.getVmVersion());
        stats.put("vm", runtime.getVmName());
        stats.put("pid", runtime.getPid());
        stats.put("uptime_ms", runtime.getUptime());
        stats.put("arguments", runtime.getInputArguments());
        stats.put("processors", Runtime.getRuntime().availableProcessors());
        stats.put("heap_bytes", usage(memory.getHeapMemoryUsage()));
        stats.put("non_heap_bytes", usage(memory.getNonHeapMemoryUsage()));
        stats.put("pools_bytes", pools());
        stats.put("collectors", collectors());
        stats.put("threads", Map.of("now", threads.getThreadCount(), "peak", threads.getPeakThreadCount(),
                "started", threads.getTotalStartedThreadCount()));
        return stats;
    }

    private static Map<String, Object> pools() {
        Map<String, Object> pools = new LinkedHashMap<>();
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            pools.put(pool.getName(), usage(pool.getUsage()));
        }
        return pools;
    }

    private static Map<String, Object> collectors() {
        Map<String, Object> collectors = new LinkedHashMap<>();
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            Map<String, Object> counts = new LinkedHashMap<>();
            counts.put("count", known(collector.getCollectionCount()));
            counts.put("time_ms", known(collector.getCollectionTime()));
            collectors.put(collector.getName(), counts);
        }
        return collectors;
    }

    private static Map<String, Object> usage(MemoryUsage usage) {
        if (usage == null) {
            return null;
        }
        Map<String, Object> sizes = new LinkedHashMap<>();
        sizes.put("used", usage.getUsed());
        sizes.put("committed", usage.getCommitted());
        sizes.put("max", known(usage.getMax()));
        return sizes;
    }

    private static Long known(long value) {
        return value < 0 ? null : value;
    }
}
