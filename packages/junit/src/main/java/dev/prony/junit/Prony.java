package dev.prony.junit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/**
 * Loads a service with the prony program and holds the result to limits, in a test of JUnit 5.
 *
 * <p>The program does all measuring. It is the one that the environment variable PRONY names, or the one on PATH. Numbers that
 * must not be used abort the test, which JUnit shows as skipped with the reason: nothing is known of the service then.
 */
public final class Prony {
  private Prony() {}

  /**
   * Runs {@code prony load URL OPTIONS}, for example {@code load(url, "-R", "500", "-d", "10s")}.
   *
   * @throws IllegalArgumentException where prony refuses, with what it says
   */
  public static Result load(String url, String... options) {
    try {
      Path file = Files.createTempFile("prony-", ".json");
      try {
        return load(file, url, options);
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException error) {
      throw new IllegalStateException("prony could not be run: is it on PATH, or named by PRONY?", error);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", error);
    }
  }

  private static Result load(Path file, String url, String[] options) throws IOException, InterruptedException {
    String program = System.getenv().getOrDefault("PRONY", "prony");
    List<String> command = new ArrayList<>(List.of(program, "load", url));
    command.addAll(List.of(options));
    command.addAll(List.of("--quiet", "--output", file.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    int code = process.waitFor();
    // 2: the numbers must not be used, 3: a limit of --fail was crossed; the result is there all the same.
    if ((code != 0 && code != 2 && code != 3) || Files.size(file) == 0) {
      throw new IllegalArgumentException("prony ended with exit code " + code + ": " + said.strip());
    }
    return new Result(new ObjectMapper().readTree(file.toFile()));
  }

  /** What a load did; {@code raw} is the whole result as of {@code prony schema load}. */
  public record Result(JsonNode raw) {
    /** Requests that were to be sent. */
    public long scheduled() {
      return raw.at("/requests/scheduled").asLong();
    }

    /** Right answers. */
    public long completed() {
      return raw.at("/requests/completed").asLong();
    }

    /** Requests without a right answer. */
    public long failed() {
      return raw.at("/requests/failed").asLong();
    }

    /** A percentile of response time such as {@code p99}; aborts the test where too few requests support it. */
    public Duration time(String name) {
      JsonNode found = raw.at("/latency_ns/response/" + name);
      Assumptions.assumeTrue(found.isNumber(), name + " is not known: too few requests support it; load longer");
      return Duration.ofNanos(found.asLong());
    }

    /** Aborts the test where the numbers must not be used. */
    public Result valid() {
      Assumptions.assumeTrue(raw.at("/validity/ok").asBoolean(), "void: " + raw.at("/validity/reasons").findValuesAsText("text"));
      return this;
    }

    /** Fails the test where a percentile is not below the limit. */
    public Result require(String name, Duration limit) {
      Duration time = valid().time(name);
      Assertions.assertTrue(time.compareTo(limit) < 0, name + " is " + time + ", not below " + limit);
      return this;
    }

    /** Fails the test where the share of failed requests is not below the limit, from 0 to 1. */
    public Result errorsBelow(double limit) {
      double share = (double) failed() / Math.max(1, failed() + completed());
      Assertions.assertTrue(share < limit, share + " of the requests failed, not below " + limit);
      return this;
    }
  }
}
