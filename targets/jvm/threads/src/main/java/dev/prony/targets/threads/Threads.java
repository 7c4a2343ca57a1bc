package dev.prony.targets.threads;

import java.lang.reflect.InvocationTargetException;

/** Makes threads of one kind: of the operating system, or of the JVM's own scheduler (Java 21 or later). */
enum Threads {
    PLATFORM,
    VIRTUAL;

    /** This Java has no such threads, or the name means nothing. */
    static final class NotThere extends RuntimeException {
        NotThere(String message) {
            super(message);
        }
    }

    static Threads of(String name) {
        Threads kind = switch (name) {
            case "", "platform" -> PLATFORM;
            case "virtual" -> VIRTUAL;
            default -> throw new NotThere("THREADS=\"" + name + "\": set it to platform or virtual, or leave it out");
        };
        if (kind == VIRTUAL) {
            // Found out at the start and not by the first connection.
            kind.unstarted(() -> {});
        }
        return kind;
    }

    /** A daemon, which does not keep the process alive. */
    Thread unstarted(Runnable run) {
        if (this == PLATFORM) {
            Thread thread = new Thread(run, "connection");
            thread.setDaemon(true);
            return thread;
        }
        try {
            // Thread.ofVirtual().unstarted(run), for which Java 17 has no name.
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
            return (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, run);
        } catch (NoSuchMethodException | ClassNotFoundException | IllegalAccessException absent) {
            throw new NotThere("THREADS=virtual needs Java 21 or later, and this is " + Runtime.version());
        } catch (InvocationTargetException preview) {
            throw new NotThere("THREADS=virtual: " + preview.getCause().getMessage());
        }
    }
}
