package dev.prony.targets.common;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * How long requests took by the target's own clock, as a histogram in Prometheus' text format, so that prony can
 * hold its 95th percentile against the target's. The clock begins when the framework hands the request over: under
 * many connections the wait before that is not seen, so that it is off unless a knob turns it on.
 */
final class Times {

    private static final String NAME = "http_request_duration_seconds";
    // Two bounds an octave, from 10 us to more than 10 s; the last bucket has none.
    private static final double[] BOUNDS = new double[41];

    static {
        Arrays.setAll(BOUNDS, k -> 1e-5 * Math.pow(2, k / 2.0));
    }

    private final AtomicLongArray buckets = new AtomicLongArray(BOUNDS.length + 1);
    private final LongAdder sumNs = new LongAdder();

    void observe(long tookNs) {
        int at = Arrays.binarySearch(BOUNDS, tookNs / 1e9);
        buckets.incrementAndGet(at < 0 ? -at - 1 : at);
        sumNs.add(tookNs);
    }

    String text() {
        StringBuilder text = new StringBuilder("# TYPE " + NAME + " histogram\n");
        long below = 0;
        for (int k = 0; k < buckets.length(); k++) {
            below += buckets.get(k);
            String bound = k < BOUNDS.length ? Double.toString(BOUNDS[k]) : "+Inf";
            text.append(NAME).append("_bucket{le=\"").append(bound).append("\"} ").append(below).append('\n');
        }
        text.append(NAME).append("_sum ").append(sumNs.sum() / 1e9).append('\n');
        return text.append(NAME).append("_count ").append(below).append('\n').toString();
    }
}
