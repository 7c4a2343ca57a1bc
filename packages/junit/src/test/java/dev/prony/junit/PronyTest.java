package dev.prony.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/** The helper against a real prony, which loads a server of this process. */
class PronyTest {
  private HttpServer server;

  @BeforeEach
  void serve() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/fails") ? 500 : 204, -1);
      exchange.close();
    });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private Prony.Result loaded(String path) {
    String url = "http://127.0.0.1:" + server.getAddress().getPort() + path;
    return Prony.load(url, "-n", "200", "-c", "2", "--errors-ok");
  }

  /** A busy host voids the numbers; what is tested here holds all the same. */
  private static Prony.Result judged(Prony.Result result, boolean isValid) {
    ((ObjectNode) result.raw().at("/validity")).put("ok", isValid);
    return result;
  }

  @Test
  void aLoadIsCounted() {
    Prony.Result result = loaded("/");
    assertEquals(200, result.scheduled());
    assertEquals(200, result.completed());
    assertTrue(result.time("p50").toNanos() > 0);
  }

  @Test
  void aLimitThatDoesNotHoldFails() {
    Prony.Result result = judged(loaded("/"), true);
    result.require("p50", Duration.ofMinutes(1)).errorsBelow(0.01);
    assertThrows(AssertionFailedError.class, () -> result.require("p50", Duration.ofNanos(1)));
    assertThrows(AssertionFailedError.class, () -> judged(loaded("/fails"), true).errorsBelow(0.01));
  }

  @Test
  void voidNumbersAbort() {
    Prony.Result result = judged(loaded("/"), false);
    assertThrows(TestAbortedException.class, () -> result.require("p50", Duration.ofMinutes(1)));
  }

  @Test
  void aRefusalSaysWhy() {
    IllegalArgumentException error =
        assertThrows(IllegalArgumentException.class, () -> Prony.load("http://127.0.0.1:1/", "--no-such-option"));
    assertTrue(error.getMessage().contains("--no-such-option"), error.getMessage());
  }
}
