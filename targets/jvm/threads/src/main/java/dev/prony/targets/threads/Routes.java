package dev.prony.targets.threads;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.prony.targets.common.Answer;
import dev.prony.targets.common.Entry;
import dev.prony.targets.common.Numbers;
import dev.prony.targets.common.Refusal;
import dev.prony.targets.common.RuntimeStats;
import dev.prony.targets.common.Served;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.zip.CRC32;

/** The routes: plain code, run by the thread of the connection. A wait is a sleep of that thread. */
final class Routes {

    /** Status and body. */
    record Reply(int status, String type, byte[] body) {}

    private record Work(int bytes, String crc32) {}

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PAYLOAD_BYTES = 4096;

    private final Duration wait;

    Routes(Duration wait) {
        this.wait = wait;
    }

    static String reason(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 400 -> "Bad Request";
            case 404 -> "Not Found";
            default -> "Internal Server Error";
        };
    }

    Reply reply(String method, String target) throws JsonProcessingException {
        String path = target.split("\\?", 2)[0];
        if (path.equals("/debug/runtime")) {
            return json(200, RuntimeStats.read());
        }
        if (path.equals("/debug/requests") && Served.isTimed()) {
            return new Reply(200, "text/plain", Served.times().getBytes(StandardCharsets.US_ASCII));
        }
        long began = Served.begin(path);
        try {
            if (!method.equals("GET")) {
                throw new Refusal(404, "no such path");
            }
            return path.equals("/health") ? json(200, Map.of("status", "ok")) : json(200, Answer.ok(data(path)));
        } catch (Refusal refusal) {
            return json(refusal.status(), Answer.failure(refusal.status(), refusal.getMessage()));
        } finally {
            Served.end(began);
        }
    }

    private Object data(String path) {
        int slash = path.lastIndexOf('/');
        return switch (slash <= 0 ? path : path.substring(0, slash + 1)) {
            case "/ping" -> Map.of();
            case "/work" -> work();
            case "/json/" -> Entry.list(Numbers.count(path.substring(slash + 1)));
            case "/switch/" -> Map.of("switches", Switches.make(Numbers.switches(path.substring(slash + 1))));
            default -> throw new Refusal(404, "no such path");
        };
    }

    private Work work() {
        if (!wait.isZero()) {
            try {
                Thread.sleep(wait.toMillis());
            } catch (InterruptedException never) {
                throw new Refusal(500, "the wait was interrupted");
            }
        }
        byte[] payload = new byte[PAYLOAD_BYTES];
        for (int k = 0; k < payload.length; k++) {
            payload[k] = (byte) (k * 31 >> 3);
        }
        CRC32 sum = new CRC32();
        sum.update(payload);
        return new Work(payload.length, String.format("%08x", sum.getValue()));
    }

    private static Reply json(int status, Object value) throws JsonProcessingException {
        return new Reply(status, "application/json", JSON.writeValueAsBytes(value));
    }
}
