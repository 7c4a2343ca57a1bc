// A server whose requests all take memory and wait for one monitor, for the test of the JVM's profile.

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

final class Locked {
    private static final byte[] ANSWER = "{\"code\":0,\"msg\":\"ok\",\"data\":{}}".getBytes();
    private static volatile Object kept;

    public static void main(String[] arguments) throws Exception {
        String[] listen = System.getenv("LISTEN").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(listen[0], Integer.parseInt(listen[1])), 0);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/", exchange -> {
            work();
            exchange.sendResponseHeaders(200, ANSWER.length);
            exchange.getResponseBody().write(ANSWER);
            exchange.close();
        });
        server.start();
    }

    private static synchronized void work() {
        long end = System.nanoTime() + 2_000_000;
        while (System.nanoTime() < end) {
            kept = new long[1000];
        }
    }
}
