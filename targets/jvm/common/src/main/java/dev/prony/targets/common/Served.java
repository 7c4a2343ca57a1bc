package dev.prony.targets.common;

import java.util.concurrent.atomic.LongAdder;

/** The requests of this process, so that prony can hold its own count against them. */
public final class Served {

    private static final LongAdder REQUESTS = new LongAdder();

    private Served() {}

    /** Counts a request to a path, but for those below /debug/, which are prony's own. */
    public static void count(String path) {
        if (!path.startsWith("/debug/")) {
            REQUESTS.increment();
        }
    }

    /** All of them since the start. */
    public static long requests() {
        return REQUESTS.sum();
    }
}
