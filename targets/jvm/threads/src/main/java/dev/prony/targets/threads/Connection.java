package dev.prony.targets.threads;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** One connection: requests one after the other, each read, answered and written by the thread that runs this. */
final class Connection implements Runnable {

    private static final int HEAD_MAX = 16 << 10;
    private static final int FIRST = 1 << 10;

    private final Socket socket;
    private final Routes routes;
    private final Consumer<Connection> ended;
    private byte[] buffer = new byte[FIRST];
    private int filled;
    private volatile boolean working;
    private volatile boolean last;

    Connection(Socket socket, Routes routes, Consumer<Connection> ended) {
        this.socket = socket;
        this.routes = routes;
        this.ended = ended;
    }

    @Override
    public void run() {
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            for (int end = head(in); end > 0 && !last; end = head(in)) {
                working = true;
                String head = new String(buffer, 0, end, StandardCharsets.ISO_8859_1);
                System.arraycopy(buffer, end, buffer, 0, filled - end);
                filled -= end;
                boolean isLast = last || closes(head);
                out.write(answer(head, isLast));
                working = false;
                if (isLast) {
                    return;
                }
            }
        } catch (IOException gone) {
            // A client that went away, or was silent for too long, is no fault of the target.
        } finally {
            ended.accept(this);
        }
    }

    /** Ends with the answer of the request in progress, or at once where there is none. */
    void endAfterAnswer() {
        last = true;
        if (!working) {
            try {
                socket.close();
            } catch (IOException gone) {
                // It is closed all the same.
            }
        }
    }

    // Reads until a head is whole; gives its length with the empty line, or 0 at the end of the connection.
    private int head(InputStream in) throws IOException {
        int from = 0;
        while (true) {
            for (int k = from; k + 3 < filled; k++) {
                if (buffer[k] == '\r' && buffer[k + 1] == '\n' && buffer[k + 2] == '\r' && buffer[k + 3] == '\n') {
                    return k + 4;
                }
            }
            from = Math.max(0, filled - 3);
            if (filled == buffer.length) {
                if (filled >= HEAD_MAX) {
                    throw new IOException("a head longer than " + HEAD_MAX + " bytes");
                }
                buffer = java.util.Arrays.copyOf(buffer, 2 * buffer.length);
            }
            int read = in.read(buffer, filled, buffer.length - filled);
            if (read < 0) {
                return 0;
            }
            filled += read;
        }
    }

    private static boolean closes(String head) {
        String lower = head.toLowerCase(java.util.Locale.ROOT);
        // A body is never read here, so what follows it would be taken for a request.
        return lower.contains("\r\nconnection: close") || lower.contains("\r\ncontent-length:")
                || lower.contains("\r\ntransfer-encoding:") || lower.startsWith("head ");
    }

    private byte[] answer(String head, boolean isLast) throws IOException {
        String[] line = head.substring(0, head.indexOf('\r')).split(" ");
        Routes.Reply reply = routes.reply(line[0], line.length > 1 ? line[1] : "");
        String fields = "HTTP/1.1 " + reply.status() + " " + Routes.reason(reply.status())
                + "\r\nContent-Type: " + reply.type() + "\r\nContent-Length: " + reply.body().length
                + (isLast ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
        byte[] start = fields.getBytes(StandardCharsets.ISO_8859_1);
        byte[] whole = java.util.Arrays.copyOf(start, start.length + reply.body().length);
        System.arraycopy(reply.body(), 0, whole, start.length, reply.body().length);
        return whole;
    }
}
