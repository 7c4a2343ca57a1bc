package dev.prony.targets.common;

import java.util.List;
import java.util.stream.IntStream;

/** A record of /json/{n}; {@code Record} is a name of the language. */
public record Entry(int id, String name, String email, int age, boolean active, double score, List<String> tags) {

    private static final int PER_COUNT = 8;
    private static final List<String> TAGS = List.of("alpha", "beta", "gamma");

    /**
     * The records 1 to 8n, built for each call, because that work belongs to the request.
     *
     * @param n checked with {@link Numbers#count}
     */
    public static List<Entry> list(int n) {
        return IntStream.rangeClosed(1, PER_COUNT * n).mapToObj(Entry::of).toList();
    }

    private static Entry of(int id) {
        String digits = Integer.toString(id);
        String name = "user-" + "0".repeat(Math.max(0, 6 - digits.length())) + digits;
        return new Entry(id, name, name + "@example.com", 18 + id * 7 % 50, id % 2 == 0, id * 1.5, tags(id));
    }

    private static List<String> tags(int id) {
        int size = TAGS.size();
        return List.of(TAGS.get(id % size), TAGS.get((id + 1) % size), TAGS.get((id + 2) % size));
    }
}
