package dev.prony.targets.common;

import ch.qos.logback.classic.LoggerContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The log layer: one line for each answer to $ACCESS_LOG, by the logger "access" of logback.xml. */
public final class AccessLog {

    private static final Logger LOG = LoggerFactory.getLogger("access");

    private AccessLog() {}

    /** Writes the line of one answer; its time is put in by the logger. */
    public static void answered(String method, String path, int status, long durationNs) {
        LOG.info("method={} path={} status={} duration_us={}", method, path, status, durationNs / 1000);
    }

    /** Writes what is still in memory. For targets whose framework does not end the logger itself. */
    public static void close() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.stop();
        }
    }
}
