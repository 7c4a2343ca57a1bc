package dev.prony.targets.netty;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.prony.targets.common.Served;
import dev.prony.targets.common.Settings;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server over real connections to loopback. */
@Timeout(60)
class ServerTest {

    private static final String TOKEN = "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
            + ".eyJzdWIiOiJ1c2VyLTciLCJleHAiOjQxMDI0NDQ4MDB9.ZfyOs_wLGeG2YJ1XKe7IYpXLmdJkctKTZ1tpKvKVQNQ";

    private final HttpClient client = HttpClient.newHttpClient();
    private Server server;

    @BeforeEach
    void start() throws InterruptedException {
        server = Server.start(Settings.of(Map.of("LISTEN", "127.0.0.1:0", "EVENT_LOOP_THREADS", "1")));
    }

    // A client that begins with HTTP/2, and one that speaks HTTP/1.1 to the same port.
    @ParameterizedTest
    @CsvSource({"/ping, 31", "/file/64k, 65536"})
    void http2IsTakenWhereItIsAskedFor(String path, int length) throws Exception {
        Server both = Server.start(Settings.of(
                Map.of("LISTEN", "127.0.0.1:0", "EVENT_LOOP_THREADS", "1", "HTTP2", "true")));
        try (Socket socket = new Socket("127.0.0.1", both.address().getPort())) {
            socket.getOutputStream().write(http2Get(path));
            assertEquals(length, http2Body(new DataInputStream(socket.getInputStream())));
            URI uri = URI.create("http://127.0.0.1:" + both.address().getPort() + path);
            HttpRequest request = HttpRequest.newBuilder(uri).version(HttpClient.Version.HTTP_1_1).build();
            assertEquals(length, client.send(request, BodyHandlers.ofByteArray()).body().length);
        } finally {
            both.stop();
        }
    }

    // The preface, settings with a window for any file, and a GET on stream 1 (RFC 9113, RFC 7541).
    private static byte[] http2Get(String path) {
        byte[] name = path.getBytes(StandardCharsets.US_ASCII);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        bytes.writeBytes(new byte[] {0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0});
        bytes.writeBytes(new byte[] {0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 1, 0, 0});
        bytes.writeBytes(new byte[] {0, 0, (byte) (7 + name.length), 1, 5, 0, 0, 0, 1});
        bytes.writeBytes(new byte[] {(byte) 0x82, (byte) 0x86, 1, 1, 'x', 4, (byte) name.length});
        bytes.writeBytes(name);
        return bytes.toByteArray();
    }

    // The length of the body on stream 1.
    private static int http2Body(DataInputStream in) throws IOException {
        int length = 0;
        for (boolean isOver = false; !isOver;) {
            int size = in.readUnsignedByte() << 16 | in.readUnsignedShort();
            int kind = in.readUnsignedByte();
            int flags = in.readUnsignedByte();
            int stream = in.readInt();
            in.readNBytes(size);
            length += kind == 0 ? size : 0;
            isOver = stream == 1 && (flags & 1) != 0;
        }
        return length;
    }

    @AfterEach
    void stop() {
        server.stop();
    }

    @ParameterizedTest
    @CsvSource(delimiter = ' ', value = {
        "/ping {\"code\":0,\"msg\":\"ok\",\"data\":{}}",
        "/health {\"status\":\"ok\"}",
        "/auth {\"code\":0,\"msg\":\"ok\",\"data\":{\"sub\":\"user-7\"}}",
        "/middleware/0 {\"code\":0,\"msg\":\"ok\",\"data\":{\"layers\":0}}",
        "/middleware/3 {\"code\":0,\"msg\":\"ok\",\"data\":{\"layers\":3}}",
    })
    void answers(String path, String body) throws Exception {
        HttpRequest request = to(path).header("Authorization", TOKEN).build();
        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
        assertEquals(200, answer.statusCode());
        assertEquals(body, answer.body());
        assertEquals(path.endsWith("3"), answer.headers().firstValue("traceparent").isPresent());
    }

    @Test
    void requestsAreCountedButThoseForProny() throws Exception {
        long before = Served.requests();
        for (String path : new String[] {"/ping", "/nope", "/debug/runtime"}) {
            client.send(to(path).build(), BodyHandlers.ofString());
        }
        assertEquals(2, Served.requests() - before);
    }

    @ParameterizedTest
    @CsvSource({"/json/0,400", "/json/+1,400", "/middleware/4,400", "/middleware/2,401", "/auth,401", "/file/2k,404",
        "/file/..%2f..%2fetc%2fpasswd,404", "/nope,404", "/db/1,404"})
    void errorsHaveTheEnvelope(String path, int status) throws Exception {
        HttpResponse<String> answer = client.send(to(path).build(), BodyHandlers.ofString());
        assertEquals(status, answer.statusCode());
        assertTrue(answer.body().startsWith("{\"code\":" + status + ","), answer.body());
        assertTrue(answer.body().endsWith("\"data\":{}}"), answer.body());
    }

    @Test
    void bytesGoOutAndComeInWhole() throws Exception {
        byte[] file = client.send(to("/file/64k").build(), BodyHandlers.ofByteArray()).body();
        assertEquals(65_536, file.length);
        String told = client.send(to("/upload").POST(BodyPublishers.ofByteArray(file)).build(),
                BodyHandlers.ofString()).body();
        assertTrue(told.contains("62b3a2ef06cf977623a5936a8fa653e3caecbf69b5f393ebdfe5022affc5331f"), told);
    }

    @Test
    void aBodyThatIsTooLargeIsRefusedWithTheEnvelope() throws Exception {
        HttpRequest request = to("/upload").POST(BodyPublishers.ofByteArray(new byte[(16 << 20) + 1])).build();
        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
        assertEquals(413, answer.statusCode());
        assertTrue(answer.body().startsWith("{\"code\":413,"), answer.body());
    }

    // Over a plain socket: the client of JDK 17 waits for 100 Continue for ever.
    @Test
    void aBodyThatIsTooLargeIsRefusedBeforeItIsSent() throws Exception {
        try (Socket socket = new Socket("127.0.0.1", server.address().getPort())) {
            socket.getOutputStream().write(("POST /upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                    + "Expect: 100-continue\r\nContent-Length: 16777217\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(first(socket, 300), StandardCharsets.US_ASCII);
            assertTrue(answer.startsWith("HTTP/1.1 413") && answer.contains("{\"code\":413,"), answer);
        }
    }

    @Test
    void aTakenPortIsAnError() {
        Settings same = Settings.of(Map.of("LISTEN", "127.0.0.1:" + server.address().getPort()));
        var error = assertThrows(Server.BindException.class, () -> Server.start(same));
        assertTrue(error.getMessage().contains("LISTEN"), error.getMessage());
    }

    @Test
    void aRequestInFlightIsAnsweredAfterTheStop() throws Exception {
        try (Socket socket = new Socket("127.0.0.1", server.address().getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write("POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII));
            // 100 Continue proves that the server has the header.
            assertArrayEquals("HTTP/1.1 100".getBytes(StandardCharsets.US_ASCII), first(socket, 12));
            CompletableFuture<Boolean> stopped = CompletableFuture.supplyAsync(server::stop);
            server.awaitEnd();
            out.write("abcd".getBytes(StandardCharsets.US_ASCII));
            String rest = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertTrue(rest.contains("HTTP/1.1 200") && rest.contains("\"bytes\":4"), rest);
            assertTrue(stopped.get(30, TimeUnit.SECONDS));
        }
    }

    private static byte[] first(Socket socket, int count) throws IOException {
        InputStream in = socket.getInputStream();
        return in.readNBytes(count);
    }

    private HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.address().getPort() + path));
    }
}
