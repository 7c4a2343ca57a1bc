package dev.prony.targets.common;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The environment, read once at the start. A value that cannot be understood ends the start with a message
 * that names the variable; nothing is guessed.
 *
 * @param eventLoopThreads 0 for the framework's own choice
 * @param http2 HTTP/2 without TLS is taken too, from clients that begin with it
 * @param logEveryRequest a line in the access log for each answer of every route
 */
public record Settings(
        Endpoint listen,
        Path filesDir,
        String jwtSecret,
        int eventLoopThreads,
        boolean http2,
        boolean logEveryRequest,
        Optional<Database> database,
        Optional<Endpoint> cache,
        Optional<Backend> backend) {

    /** An address. */
    public record Endpoint(String host, int port) {}

    /** MariaDB with its account. */
    public record Database(Endpoint at, String user, String password, String name, int openMax) {}

    /** The gRPC backend and the certificate it is checked against. */
    public record Backend(Endpoint at, Path caFile) {}

    /** A variable has a value that means nothing. */
    public static final class SettingException extends RuntimeException {
        SettingException(String name, String value, String wanted) {
            super(name + "=\"" + value + "\": set it to " + wanted + ", or leave it out");
        }
    }

    private static final int THREADS_MAX = 1024;
    private static final int OPEN_MAX = 10_000;

    public static Settings of(Map<String, String> env) {
        return new Settings(
                listen(text(env, "LISTEN", "127.0.0.1:8080")),
                Path.of(text(env, "FILES_DIR", "../../files")).toAbsolutePath().normalize(),
                text(env, "JWT_SECRET", "prony-contract-secret"),
                integer(env, "EVENT_LOOP_THREADS", 0, 0, THREADS_MAX),
                bool(env, "HTTP2", false),
                bool(env, "LOGGER", false),
                endpoint(env, "MARIADB").map(at -> new Database(at, text(env, "MARIADB_USER", "prony"),
                        text(env, "MARIADB_PASSWORD", ""), text(env, "MARIADB_DATABASE", "prony"),
                        integer(env, "DB_MAX_OPEN", 100, 1, OPEN_MAX))),
                endpoint(env, "REDIS"),
                endpoint(env, "GRPC").map(at -> new Backend(at, caFile(env))));
    }

    // No address is no error: the routes that need the service answer 503.
    private static Optional<Endpoint> endpoint(Map<String, String> env, String prefix) {
        String host = text(env, prefix + "_HOST", "");
        String port = text(env, prefix + "_PORT", "");
        if (host.isEmpty() || port.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new Endpoint(host, integer(env, prefix + "_PORT", 0, 1, 65_535)));
    }

    private static Path caFile(Map<String, String> env) {
        String file = text(env, "GRPC_CA_FILE", "");
        if (file.isEmpty()) {
            throw new SettingException("GRPC_CA_FILE", "", "the certificate that the backend is checked against");
        }
        return Path.of(file);
    }

    private static Endpoint listen(String text) {
        int colon = text.lastIndexOf(':');
        if (colon > 0 && text.substring(colon + 1).matches("[0-9]{1,5}")) {
            int port = Integer.parseInt(text.substring(colon + 1));
            if (port <= 65_535) {
                return new Endpoint(text.substring(0, colon).replaceAll("^\\[(.*)]$", "$1"), port);
            }
        }
        throw new SettingException("LISTEN", text, "a host:port");
    }

    private static String text(Map<String, String> env, String name, String fallback) {
        String value = env.get(name);
        return value == null || value.isEmpty() ? fallback : value;
    }

    private static int integer(Map<String, String> env, String name, int fallback, int least, int most) {
        String text = text(env, name, "");
        if (text.isEmpty()) {
            return fallback;
        }
        int value = text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : -1;
        if (value < least || value > most) {
            throw new SettingException(name, text, "an integer from " + least + " to " + most);
        }
        return value;
    }

    private static boolean bool(Map<String, String> env, String name, boolean fallback) {
        return switch (text(env, name, "")) {
            case "" -> fallback;
            case "true" -> true;
            case "false" -> false;
            default -> throw new SettingException(name, env.get(name), "true or false");
        };
    }
}
