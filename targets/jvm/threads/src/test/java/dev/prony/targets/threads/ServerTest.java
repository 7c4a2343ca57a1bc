package dev.prony.targets.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.prony.targets.common.Served;
import dev.prony.targets.common.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The server over real sockets: answers, keep-alive, requests in pieces, the count, and the stop. */
class ServerTest {

    private Server server;
    private Thread acceptor;

    @BeforeEach
    void start() throws IOException {
        server = Server.start(new Settings.Endpoint("127.0.0.1", 0), Threads.PLATFORM, new Routes(Duration.ofMillis(1)));
        acceptor = new Thread(server::serve);
        acceptor.start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.stop();
        acceptor.join();
    }

    private String ask(String... pieces) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
            socket.setSoTimeout(10_000);
            for (String piece : pieces) {
                socket.getOutputStream().write(piece.getBytes(StandardCharsets.ISO_8859_1));
            }
            InputStream in = socket.getInputStream();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String get(String path) throws IOException {
        return ask("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    }

    @Test
    void theContractsAnswers() throws IOException {
        assertTrue(get("/ping").endsWith("{\"code\":0,\"msg\":\"ok\",\"data\":{}}"));
        assertTrue(get("/work").endsWith("{\"code\":0,\"msg\":\"ok\",\"data\":{\"bytes\":4096,\"crc32\":\"5d93ae4e\"}}"));
        for (int switches : new int[] {1, 2, 3, 1000}) {
            assertTrue(get("/switch/" + switches).endsWith("\"data\":{\"switches\":" + switches + "}}"));
        }
        for (String path : new String[] {"/switch/0", "/switch/1000001", "/switch/x", "/json/0"}) {
            assertTrue(get(path).startsWith("HTTP/1.1 400 "), path);
        }
        assertTrue(get("/nope").startsWith("HTTP/1.1 404 "));
    }

    @Test
    void severalRequestsOnOneConnectionInPieces() throws IOException {
        long before = Served.requests();
        String one = "GET /ping HTTP/1.1\r\nHost: x\r\n\r\n";
        String last = "GET /ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        String answers = ask(one.substring(0, 7), one.substring(7, one.length() - 2), "\r\n" + one + last);
        assertEquals(3, answers.split("HTTP/1.1 200 OK", -1).length - 1, answers);
        assertEquals(3, Served.requests() - before);
        assertTrue(get("/debug/runtime").contains("\"requests\":" + Served.requests()));
    }

    @Test
    void virtualThreadsAreThereOrRefusedAtTheStart() {
        if (Runtime.version().feature() >= 21) {
            assertEquals(Threads.VIRTUAL, Threads.of("virtual"));
        } else {
            assertTrue(assertThrows(Threads.NotThere.class, () -> Threads.of("virtual")).getMessage().startsWith("THREADS=virtual"));
        }
        assertThrows(Threads.NotThere.class, () -> Threads.of("green"));
        assertEquals(Duration.ofSeconds(2), ThreadsTarget.wait(Map.of("WAIT", "2s")));
        assertEquals(Duration.ofMillis(100), ThreadsTarget.wait(Map.of("WAIT", "100ms")));
    }
}
