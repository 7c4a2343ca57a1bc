package dev.prony.targets.common;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** W3C Trace Context: the traceparent that the trace layer answers with. */
public final class TraceContext {

    private static final Pattern HEADER =
            Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");
    private static final String SAMPLED = "01";

    private TraceContext() {}

    /**
     * The trace id and flags of the request where it has valid ones, else drawn ones; the span id is drawn.
     *
     * @param header traceparent of the request, or null
     */
    public static String answer(String header) {
        Matcher parts = HEADER.matcher(header == null ? "" : header);
        if (!parts.matches() || !isValid(parts)) {
            return "00-" + id() + id() + "-" + id() + "-" + SAMPLED;
        }
        return "00-" + parts.group(2) + "-" + id() + "-" + parts.group(4);
    }

    // Version ff is invalid, only versions after 00 may have more fields, and ids of zeros only mean none.
    private static boolean isValid(Matcher parts) {
        boolean knownVersion = !parts.group(1).equals("ff") && !(parts.group(1).equals("00") && parts.group(5) != null);
        return knownVersion && !isZero(parts.group(2)) && !isZero(parts.group(3));
    }

    private static boolean isZero(String digits) {
        return digits.chars().allMatch(c -> c == '0');
    }

    // An id need not be secret, only unlikely to repeat.
    private static String id() {
        return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }
}
