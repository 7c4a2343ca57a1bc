package dev.prony.targets.common;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;

/** The names that /file serves, and the checksum of /upload. */
public final class Bytes {

    /** Every name that /file serves. A list, so that nothing outside the folder is ever reached. */
    public static final Set<String> FILES = Set.of("1k", "64k", "1m");

    /** Bodies above this are answered with 413. */
    public static final int UPLOAD_MAX = 16 << 20;

    private Bytes() {}

    /** The data of /upload. */
    public record Digest(int bytes, String sha256) {

        /** For a whole body. */
        public static Digest of(byte[] body) {
            try {
                byte[] sum = MessageDigest.getInstance("SHA-256").digest(body);
                return new Digest(body.length, HexFormat.of().formatHex(sum));
            } catch (NoSuchAlgorithmException impossible) {
                throw new IllegalStateException("every Java platform has SHA-256", impossible);
            }
        }
    }
}
