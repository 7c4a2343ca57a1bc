package dev.prony.targets.common;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Durations fall into their buckets, which add up. */
class TimesTest {

    @Test
    void durationsFallIntoTheirBuckets() {
        Times times = new Times();
        for (long ns : new long[] {0, 10_000, 11_000, 3_600_000_000_000L}) {
            times.observe(ns);
        }
        String text = times.text();
        for (String line : new String[] {
            "_bucket{le=\"1.0E-5\"} 2", "_bucket{le=\"2.0E-5\"} 3", "_bucket{le=\"+Inf\"} 4", "_count 4"
        }) {
            assertTrue(text.contains("http_request_duration_seconds" + line + "\n"), line + " in\n" + text);
        }
    }
}
