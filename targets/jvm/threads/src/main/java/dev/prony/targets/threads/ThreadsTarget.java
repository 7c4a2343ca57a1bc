package dev.prony.targets.threads;

import dev.prony.targets.common.Settings;
import dev.prony.targets.common.Settings.SettingException;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/** A thread for each connection as a target: reads the environment, serves until TERM. */
public final class ThreadsTarget {

    private ThreadsTarget() {}

    public static void main(String[] args) {
        Map<String, String> env = System.getenv();
        try {
            Settings.Endpoint at = Settings.of(env).listen();
            Server server = Server.start(at, Threads.of(env.getOrDefault("THREADS", "")), new Routes(wait(env)));
            System.err.println("listening on " + at.host() + ":" + server.port());
            Runtime.getRuntime().addShutdownHook(new Thread(server::stop, "stop"));
            server.serve();
        } catch (SettingException | Threads.NotThere wrong) {
            fail(wrong.getMessage());
        } catch (IOException refused) {
            fail("cannot listen on LISTEN=" + env.get("LISTEN") + ": stop the process that holds it, or choose a free"
                    + " host:port of this machine (" + refused.getMessage() + ")");
        }
    }

    /** WAIT is a number with ms or s, as go/stages has it; nothing for no wait. */
    static Duration wait(Map<String, String> env) {
        String text = env.getOrDefault("WAIT", "");
        if (text.isEmpty()) {
            return Duration.ZERO;
        }
        if (text.matches("[0-9]{1,5}ms")) {
            return Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)));
        }
        if (text.matches("[0-9]{1,2}s")) {
            return Duration.ofSeconds(Long.parseLong(text.substring(0, text.length() - 1)));
        }
        fail("WAIT=\"" + text + "\": set it to a duration such as 100ms or 1s, or leave it out");
        return Duration.ZERO;
    }

    private static void fail(String message) {
        System.err.println("error: " + message);
        System.exit(1);
    }
}
