package dev.prony.targets.webflux;

import dev.prony.targets.common.Refusal;
import dev.prony.targets.common.Settings;
import dev.prony.targets.common.Settings.Database;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Readable;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.List;
import org.mariadb.r2dbc.MariadbConnectionConfiguration;
import org.mariadb.r2dbc.MariadbConnectionFactory;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The table users in MariaDB, through a pool of R2DBC connections with prepared statements. The pool has
 * no limit of idle connections apart from that of open ones; idle ones beyond the first are closed after a
 * while.
 */
@Component
class Users implements Service {

    /** A row. */
    record User(int id, String name, String email, int age, boolean active, int score) {}

    private static final int ID_MAX = 100_000;
    private static final Duration ACQUIRE_TIMEOUT = Duration.ofMillis(500);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration LIFE = Duration.ofMinutes(30);
    private static final String COLUMNS = "SELECT id, name, email, age, active, score FROM users WHERE ";

    private final ConnectionPool pool;
    private final DatabaseClient client;

    Users(Settings settings) {
        pool = settings.database().map(Users::open).orElse(null);
        client = pool == null ? null : DatabaseClient.create(pool);
    }

    private static ConnectionPool open(Database database) {
        var connections = new MariadbConnectionFactory(MariadbConnectionConfiguration.builder()
                .host(database.at().host())
                .port(database.at().port())
                .username(database.user())
                .password(database.password())
                .database(database.name())
                .connectTimeout(CONNECT_TIMEOUT)
                .useServerPrepStmts(true)
                .build());
        return new ConnectionPool(ConnectionPoolConfiguration.builder(connections)
                .initialSize(0)
                .maxSize(database.openMax())
                .maxLifeTime(LIFE)
                .maxIdleTime(LIFE)
                .maxAcquireTime(ACQUIRE_TIMEOUT)
                .build());
    }

    @Override
    public boolean isWanted() {
        return client != null;
    }

    @Override
    public Mono<?> reach() {
        return byId(1);
    }

    /** The user of this id; 404 where there is none. */
    Mono<User> byId(int id) {
        return users("id = ?", id).next().switchIfEmpty(Mono.error(() -> new Refusal(404, "no such user")));
    }

    /** count users from id on, one statement each, one after the other. */
    Mono<List<User>> sequence(int id, int count) {
        return Flux.range(0, count)
                .concatMap(k -> byId(following(id, k)), 1)
                .collectList();
    }

    /** All users of this name; the column has no index. */
    Mono<List<User>> byName(String name) {
        return users("name = ?", name).collectList();
    }

    // After the last id comes 1. An id beyond has no user, and so no follower.
    private static int following(int id, int k) {
        return id > ID_MAX ? id : (int) ((id - 1L + k + ID_MAX) % ID_MAX) + 1;
    }

    private Flux<User> users(String condition, Object value) {
        if (client == null) {
            return Flux.error(Refusal.unavailable("database", "MARIADB_HOST and MARIADB_PORT are not set"));
        }
        return client.sql(COLUMNS + condition)
                .bind(0, value)
                .map(Users::user)
                .all()
                .onErrorMap(cause -> Refusal.unavailable("database", cause.getMessage()));
    }

    private static User user(Readable row) {
        return new User(row.get(0, Integer.class), row.get(1, String.class), row.get(2, String.class),
                row.get(3, Integer.class), row.get(4, Boolean.class), row.get(5, Integer.class));
    }

    @PreDestroy
    void close() {
        if (pool != null) {
            pool.dispose();
        }
    }
}
