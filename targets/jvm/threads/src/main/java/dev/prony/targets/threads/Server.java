package dev.prony.targets.threads;

import dev.prony.targets.common.Settings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Accepts connections and gives each a thread of its own, which reads, works, waits and writes.
 *
 * <p>Stop: the port is freed at once, connections between two requests are closed, the others with their answer,
 * at most after 4 s.
 */
final class Server {

    private static final int BACKLOG = 4096;
    // Longer than the think times of a closed load, so that keep-alive holds.
    private static final int IDLE_MS = 120_000;
    private static final long GRACE_NS = 4_000_000_000L;

    private final ServerSocket listener;
    private final Threads threads;
    private final Routes routes;
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean stopping;

    private Server(ServerSocket listener, Threads threads, Routes routes) {
        this.listener = listener;
        this.threads = threads;
        this.routes = routes;
    }

    static Server start(Settings.Endpoint at, Threads threads, Routes routes) throws IOException {
        return new Server(new ServerSocket(at.port(), BACKLOG, InetAddress.getByName(at.host())), threads, routes);
    }

    /** The real one where port 0 was asked for. */
    int port() {
        return listener.getLocalPort();
    }

    /** Accepts until the listener is closed. */
    void serve() {
        while (!stopping) {
            try {
                Socket socket = listener.accept();
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(IDLE_MS);
                Connection connection = new Connection(socket, routes, connections::remove);
                connections.add(connection);
                threads.unstarted(connection).start();
            } catch (IOException closed) {
                if (!stopping) {
                    System.err.println("warning: a connection could not be taken: " + closed.getMessage());
                }
            }
        }
    }

    void stop() {
        stopping = true;
        try {
            listener.close();
        } catch (IOException gone) {
            // It is closed all the same.
        }
        long until = System.nanoTime() + GRACE_NS;
        connections.forEach(Connection::endAfterAnswer);
        while (!connections.isEmpty() && System.nanoTime() < until) {
            Thread.onSpinWait();
            Thread.yield();
        }
        if (!connections.isEmpty()) {
            System.err.println("error: connections still open 4 s after the stop signal were cut off");
        }
    }
}
