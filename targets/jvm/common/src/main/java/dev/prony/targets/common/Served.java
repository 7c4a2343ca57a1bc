package dev.prony.targets.common;

import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * The requests of this process, so that prony can hold its own count against them, and their times where
 * REQUEST_TIMES is true.
 */
public final class Served {

    /** What is not to be timed. */
    private static final long NOT_TIMED = Long.MIN_VALUE;

    private static final LongAdder REQUESTS = new LongAdder();
    private static final Optional<Times> TIMES =
            "true".equals(System.getenv("REQUEST_TIMES")) ? Optional.of(new Times()) : Optional.empty();

    private Served() {}

    /**
     * Counts a request to a path, but for those below /debug/, which are prony's own.
     *
     * @return for {@link #end}
     */
    public static long begin(String path) {
        if (path.startsWith("/debug/")) {
            return NOT_TIMED;
        }
        REQUESTS.increment();
        return TIMES.isPresent() ? System.nanoTime() : NOT_TIMED;
    }

    /** Times the request that {@link #begin} has seen, if it is to be timed. */
    public static void end(long began) {
        if (began != NOT_TIMED) {
            TIMES.ifPresent(times -> times.observe(System.nanoTime() - began));
        }
    }

    /** All requests since the start. */
    public static long requests() {
        return REQUESTS.sum();
    }

    /** Whether requests are timed. */
    public static boolean isTimed() {
        return TIMES.isPresent();
    }

    /** What /debug/requests answers. */
    public static String times() {
        return TIMES.orElseThrow(() -> new Refusal(404, "no such path")).text();
    }
}
