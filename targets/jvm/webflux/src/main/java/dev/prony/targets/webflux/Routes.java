package dev.prony.targets.webflux;

import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.prony.targets.common.Answer;
import dev.prony.targets.common.Bytes;
import dev.prony.targets.common.Entry;
import dev.prony.targets.common.Numbers;
import dev.prony.targets.common.Refusal;
import dev.prony.targets.common.RuntimeStats;
import dev.prony.targets.common.Served;
import dev.prony.targets.common.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/** The routes of the contract, as functional endpoints. Jackson encodes each answer. */
@Configuration(proxyBeanMethods = false)
class Routes {

    private record Mixed(Users.User user, Cache.Entry cached, List<Entry> records) {}

    private final Settings settings;
    private final Users users;
    private final Cache cache;
    private final Backend backend;
    private final Readiness readiness;

    Routes(Settings settings, Users users, Cache cache, Backend backend, Readiness readiness) {
        this.settings = settings;
        this.users = users;
        this.cache = cache;
        this.backend = backend;
        this.readiness = readiness;
    }

    @Bean
    RouterFunction<ServerResponse> router(Layers layers) {
        RouterFunctions.Builder routes = route()
                .GET("/ping", request -> ok(Map.of()))
                .GET("/json/{n}", request -> ok(Entry.list(Numbers.count(request.pathVariable("n")))))
                .GET("/health", request -> readiness.check().then(json(Map.of("status", "ok"))))
                .GET("/debug/runtime", request -> json(RuntimeStats.read()))
                .GET("/debug/requests", request ->
                        ServerResponse.ok().contentType(MediaType.TEXT_PLAIN).bodyValue(Served.times()))
                .GET("/db/scan", this::scan)
                .GET("/db/{id}", this::user)
                .GET("/cache/{key}", request -> cache.lookUp(Numbers.key(request.pathVariable("key")))
                        .flatMap(Routes::ok))
                .GET("/grpc/{n}", request -> backend.list(Numbers.count(request.pathVariable("n")))
                        .flatMap(Routes::ok))
                .GET("/mixed", this::mixed)
                .GET("/file/{name}", this::file)
                .POST("/upload", Routes::upload)
                .add(guarded(layers));
        return settings.logEveryRequest() ? routes.filter(layers.log()).build() : routes.build();
    }

    // Each number of layers is a route of its own, so that a route pays for its layers only.
    private RouterFunction<ServerResponse> guarded(Layers layers) {
        RouterFunction<ServerResponse> first = behind(1);
        RouterFunction<ServerResponse> second = behind(2).filter(layers.token());
        RouterFunction<ServerResponse> third = behind(3).filter(layers.trace()).filter(layers.token());
        if (!settings.logEveryRequest()) {
            first = first.filter(layers.log());
            second = second.filter(layers.log());
            third = third.filter(layers.log());
        }
        return RouterFunctions.route()
                .add(RouterFunctions.route().GET("/auth", Routes::subject).build().filter(layers.token()))
                .add(behind(0))
                .add(first)
                .add(second)
                .add(third)
                .GET("/middleware/{k}", request -> layered(Numbers.layers(request.pathVariable("k"))))
                .build();
    }

    private static RouterFunction<ServerResponse> behind(int layers) {
        return RouterFunctions.route().GET("/middleware/" + layers, request -> layered(layers)).build();
    }

    private static Mono<ServerResponse> layered(int layers) {
        return ok(Map.of("layers", layers));
    }

    private static Mono<ServerResponse> subject(ServerRequest request) {
        return ok(Map.of("sub", request.attribute(Layers.SUBJECT).orElseThrow()));
    }

    private Mono<ServerResponse> scan(ServerRequest request) {
        String name = request.queryParam("name").filter(text -> !text.isEmpty())
                .orElseThrow(() -> new Refusal(400, "name is missing: /db/scan?name=user-000007"));
        return users.byName(name).flatMap(found -> ok(Map.of("users", found)));
    }

    private Mono<ServerResponse> user(ServerRequest request) {
        int id = Numbers.id(request.pathVariable("id"));
        if (!request.queryParams().containsKey("queries")) {
            return users.byId(id).flatMap(Routes::ok);
        }
        int count = Numbers.queries(request.queryParam("queries").orElse(""));
        return users.sequence(id, count).flatMap(found -> ok(Map.of("users", found)));
    }

    private Mono<ServerResponse> mixed(ServerRequest request) {
        int id = Numbers.id(request.queryParam("id").orElse("1"));
        return users.byId(id)
                .flatMap(user -> cache.lookUp("mixed-" + id).map(cached -> new Mixed(user, cached, Entry.list(1))))
                .flatMap(Routes::ok);
    }

    private Mono<ServerResponse> file(ServerRequest request) {
        String name = request.pathVariable("name");
        Path path = settings.filesDir().resolve(Bytes.FILES.contains(name) ? name : "");
        if (!Files.isRegularFile(path)) {
            throw new Refusal(404, "no such file");
        }
        return ServerResponse.ok().contentType(MediaType.APPLICATION_OCTET_STREAM)
                .body(BodyInserters.fromResource(new FileSystemResource(path)));
    }

    private static Mono<ServerResponse> upload(ServerRequest request) {
        return DataBufferUtils.join(request.bodyToFlux(DataBuffer.class), Bytes.UPLOAD_MAX)
                .map(Routes::bytes)
                .defaultIfEmpty(new byte[0])
                .flatMap(body -> ok(Bytes.Digest.of(body)));
    }

    private static byte[] bytes(DataBuffer buffer) {
        try {
            byte[] bytes = new byte[buffer.readableByteCount()];
            buffer.read(bytes);
            return bytes;
        } finally {
            DataBufferUtils.release(buffer);
        }
    }

    private static Mono<ServerResponse> ok(Object data) {
        return json(Answer.ok(data));
    }

    private static Mono<ServerResponse> json(Object value) {
        return ServerResponse.ok().contentType(MediaType.APPLICATION_JSON).bodyValue(value);
    }
}
