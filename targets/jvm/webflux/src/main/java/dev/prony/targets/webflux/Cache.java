package dev.prony.targets.webflux;

import dev.prony.targets.common.Refusal;
import dev.prony.targets.common.Settings;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.codec.StringCodec;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Values by key in Redis. Lettuce sends the commands of many requests over one connection; the contract's 20
 * connections are used in turn. Each is opened when it is first needed. While Redis is away commands fail
 * at once.
 */
@Component
class Cache implements Service {

    /** The data of /cache/{key}. */
    record Entry(String key, String value) {}

    private static final int CONNECTIONS = 20;
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);
    private static final SetArgs A_MINUTE = SetArgs.Builder.ex(60);

    private final RedisClient client;
    private final List<Mono<StatefulRedisConnection<String, String>>> connections;
    private final AtomicInteger turn = new AtomicInteger();

    Cache(Settings settings) {
        client = settings.cache().map(at -> open(at.host(), at.port())).orElse(null);
        connections = client == null ? List.of() : IntStream.range(0, CONNECTIONS).mapToObj(k -> connection()).toList();
    }

    private static RedisClient open(String host, int port) {
        RedisClient client = RedisClient.create(RedisURI.builder().withHost(host).withPort(port)
                .withTimeout(COMMAND_TIMEOUT).build());
        client.setOptions(ClientOptions.builder()
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .timeoutOptions(TimeoutOptions.enabled(COMMAND_TIMEOUT))
                .build());
        return client;
    }

    // A failed attempt is not remembered: the next request tries again.
    private Mono<StatefulRedisConnection<String, String>> connection() {
        return Mono.fromCallable(() -> client.connect(StringCodec.UTF8))
                .subscribeOn(Schedulers.boundedElastic())
                .cacheInvalidateIf(connection -> false);
    }

    @Override
    public boolean isWanted() {
        return client != null;
    }

    @Override
    public Mono<?> reach() {
        return commands().flatMap(RedisReactiveCommands::ping);
    }

    /** The value of key; where it is missing it is set to value-of-KEY for a minute. */
    Mono<Entry> lookUp(String key) {
        return commands()
                .flatMap(redis -> redis.get(key).switchIfEmpty(Mono.defer(() -> set(redis, key))))
                .map(value -> new Entry(key, value))
                .onErrorMap(cause -> cause instanceof Refusal ? cause
                        : Refusal.unavailable("cache", cause.getMessage()));
    }

    private static Mono<String> set(RedisReactiveCommands<String, String> redis, String key) {
        String value = "value-of-" + key;
        return redis.set(key, value, A_MINUTE).thenReturn(value);
    }

    private Mono<RedisReactiveCommands<String, String>> commands() {
        if (client == null) {
            return Mono.error(Refusal.unavailable("cache", "REDIS_HOST and REDIS_PORT are not set"));
        }
        return connections.get(Math.floorMod(turn.getAndIncrement(), CONNECTIONS))
                .map(StatefulRedisConnection::reactive);
    }

    @PreDestroy
    void close() {
        if (client != null) {
            client.shutdown(Duration.ZERO, Duration.ofMillis(200));
        }
    }
}
