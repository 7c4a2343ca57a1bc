package dev.prony.targets.common;

import java.util.Map;

/**
 * The envelope of every answer but /health and /file.
 *
 * @param code 0, or the status of an error
 * @param msg for people
 * @param data what was asked for; an empty object where there is nothing
 */
public record Answer(int code, String msg, Object data) {

    /** A good answer. */
    public static Answer ok(Object data) {
        return new Answer(0, "ok", data);
    }

    /** An error; its status is its code. */
    public static Answer failure(int status, String msg) {
        return new Answer(status, msg == null ? "" : msg, Map.of());
    }
}
