// Reads a recording of Java Flight Recorder and writes its stacks, one a line: what the value counts, the value, and
// the frames from root to leaf with semicolons between, separated by tabs. `jfr print` would write the same in some KiB
// for each frame, and leaves out all but five frames unless told.
//
// At most STACKS_MAX different stacks are kept; the values of what comes after are booked under one name.

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

final class JfrFolded {
    private static final int STACKS_MAX = 50_000;

    // Threads that park here wait for their turn; those that park elsewhere mostly wait for work.
    private static final Set<String> LOCKS =
            Set.of("ReentrantLock", "ReentrantReadWriteLock", "StampedLock", "Semaphore");

    private static final Map<Character, String> PRIMITIVES =
            Map.of('B', "byte", 'C', "char", 'D', "double", 'F', "float", 'I', "int", 'J', "long", 'S', "short",
                    'Z', "boolean");

    private final Map<String, Long> sums = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        JfrFolded folded = new JfrFolded();
        try (RecordingFile file = new RecordingFile(Path.of(arguments[0]))) {
            while (file.hasMoreEvents()) {
                folded.add(file.readEvent());
            }
        }
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        folded.sums.forEach((key, sum) -> {
            int tab = key.indexOf('\t');
            out.print(key.substring(0, tab) + "\t" + sum + key.substring(tab) + "\n");
        });
        out.flush();
    }

    private void add(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case "jdk.ExecutionSample":
                add("samples", event, null, 1);
                break;
            case "jdk.ObjectAllocationSample":
                add("bytes", event, name(event.getClass("objectClass")), event.getLong("weight"));
                break;
            case "jdk.JavaMonitorEnter":
                wait(event, event.getClass("monitorClass"));
                break;
            case "jdk.ThreadPark":
                if (isLock(event.getClass("parkedClass"))) {
                    wait(event, event.getClass("parkedClass"));
                }
                break;
            default:
        }
    }

    private void wait(RecordedEvent event, RecordedClass lock) {
        add("waits", event, "waits for " + name(lock), event.getDuration().toNanos());
    }

    private void add(String counts, RecordedEvent event, String leaf, long value) {
        RecordedStackTrace trace = event.getStackTrace();
        if (trace == null || value <= 0) {
            return;
        }
        List<String> frames = new ArrayList<>();
        if (trace.isTruncated()) {
            frames.add("[deeper]");
        }
        for (int k = trace.getFrames().size() - 1; k >= 0; k--) {
            frames.add(clean(name(trace.getFrames().get(k))));
        }
        if (leaf != null) {
            frames.add(clean(leaf));
        }
        // A tab ends a field, and `clean` leaves none in a name.
        String key = counts + "\t" + String.join(";", frames);
        boolean fits = sums.size() < STACKS_MAX || sums.containsKey(key);
        sums.merge(fits ? key : counts + "\t[stacks beyond the limit]", value, Long::sum);
    }

    // The class that a synchroniser stands in: ReentrantLock of java.util.concurrent.locks.ReentrantLock$NonfairSync.
    private static boolean isLock(RecordedClass parked) {
        if (parked == null || !parked.getName().endsWith("Sync") && !parked.getName().endsWith("StampedLock")) {
            return false;
        }
        String name = parked.getName().split("\\$", 2)[0];
        return LOCKS.contains(name.substring(name.lastIndexOf('.') + 1));
    }

    private static String name(RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        return method == null ? "[unknown]" : name(method.getType()) + "." + method.getName();
    }

    private static String name(RecordedClass type) {
        if (type == null) {
            return "[unknown]";
        }
        String name = type.getName();
        int depth = name.lastIndexOf('[') + 1;
        if (depth == 0) {
            // What follows in the name of a lambda's class differs from one start to the next.
            int lambda = name.indexOf("$$Lambda");
            return lambda < 0 ? name : name.substring(0, lambda + "$$Lambda".length());
        }
        String element = name.substring(depth);
        boolean isObject = element.startsWith("L") && element.endsWith(";");
        String plain = isObject
                ? element.substring(1, element.length() - 1)
                : PRIMITIVES.getOrDefault(element.charAt(0), element);
        return plain + "[]".repeat(depth);
    }

    private static String clean(String name) {
        return name.replaceAll("[;\\p{Cntrl}]", "_");
    }
}
