// A small shop as somebody else would write it: the JDK's own HTTP server and Micrometer's usual binders. Each route
// has one fault that load brings out; nothing here knows of prony.

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;

public final class Shop {
    private static final Map<Integer, byte[]> CATALOGUE = new HashMap<>();

    public static void main(String[] arguments) throws IOException {
        String[] listen = System.getenv("LISTEN").split(":");
        int backlog = Integer.parseInt(System.getenv().getOrDefault("BACKLOG", "0"));
        HttpServer server =
            HttpServer.create(new InetSocketAddress(listen[0], Integer.parseInt(listen[1])), backlog);
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmGcMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        server.createContext("/metrics", exchange -> answer(exchange, registry.scrape()));
        server.createContext("/health", exchange -> answer(exchange, "ok"));
        server.createContext("/catalogue", exchange -> answer(exchange, catalogue()));
        server.createContext("/search", exchange -> answer(exchange, search()));
        server.createContext("/welcome", exchange -> answer(exchange, welcome()));
        // Without a pool the one thread that accepts connections answers, too.
        if (backlog == 0) {
            server.setExecutor(Executors.newFixedThreadPool(16));
        }
        if (System.getenv("CATALOGUE") != null) {
            for (int item = 0; item < 1_200_000; item++) {
                CATALOGUE.put(item, new byte[16]);
            }
        }
        server.start();
    }

    /** A page of a large catalogue, made of many short-lived strings. */
    private static String catalogue() {
        ArrayDeque<String> page = new ArrayDeque<>();
        for (int line = 0; line < 2_000; line++) {
            page.add("item " + line + " of " + CATALOGUE.size());
        }
        return "page of " + page.size();
    }

    /** Looks through everything there is. */
    private static String search() {
        long hash = 1;
        for (int step = 0; step < 2_000_000; step++) {
            hash = hash * 31 + (hash >>> 7) + step;
        }
        return "found " + (hash & 0xff);
    }

    /** Looks something up elsewhere. */
    private static String welcome() throws IOException {
        try {
            Thread.sleep(1);
        } catch (InterruptedException interrupted) {
            throw new IOException(interrupted);
        }
        return "welcome";
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
