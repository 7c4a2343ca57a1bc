package dev.prony.targets.common;

import java.util.regex.Pattern;

/**
 * The rules for what comes in paths and queries. Numbers are plain decimals: "+1" and "01" are refused, so
 * that targets in languages whose parsers differ there can agree.
 */
public final class Numbers {

    /** An id that no user has, for numbers too large for one. */
    public static final int NO_ID = Integer.MAX_VALUE;

    private static final int COUNT_MAX = 1000;
    private static final int QUERIES_MAX = 20;
    private static final int LAYERS_MAX = 3;
    private static final int SWITCHES_MAX = 1_000_000;
    private static final int DIGITS_MAX = 9;
    private static final Pattern KEY = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    private Numbers() {}

    /** n of /json/{n} and /grpc/{n}: 1 to 1000. */
    public static int count(String text) {
        return within(text, 1, COUNT_MAX, "n");
    }

    /** q of /db/{id}?queries=q: 1 to 20. */
    public static int queries(String text) {
        return within(text, 1, QUERIES_MAX, "queries");
    }

    /** k of /middleware/{k}: 0 to 3. */
    public static int layers(String text) {
        return within(text, 0, LAYERS_MAX, "the number of layers");
    }

    /** n of /switch/{n}: 1 to 1,000,000. */
    public static int switches(String text) {
        return within(text, 1, SWITCHES_MAX, "n");
    }

    /** id of /db/{id}: any plain decimal number. */
    public static int id(String text) {
        if (!isPlainDecimal(text)) {
            throw new Refusal(400, "id must be a plain decimal number");
        }
        return text.length() > DIGITS_MAX ? NO_ID : Integer.parseInt(text);
    }

    /** key of /cache/{key}: 1 to 64 of a-z A-Z 0-9 _ - */
    public static String key(String text) {
        if (text == null || !KEY.matcher(text).matches()) {
            throw new Refusal(400, "the key must be 1 to 64 of a-z A-Z 0-9 _ -");
        }
        return text;
    }

    private static int within(String text, int least, int most, String what) {
        if (isPlainDecimal(text) && text.length() <= DIGITS_MAX) {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        }
        throw new Refusal(400, what + " must be an integer from " + least + " to " + most);
    }

    private static boolean isPlainDecimal(String text) {
        if (text == null || text.isEmpty() || text.length() > 1 && text.charAt(0) == '0') {
            return false;
        }
        return text.chars().allMatch(c -> c >= '0' && c <= '9');
    }
}
