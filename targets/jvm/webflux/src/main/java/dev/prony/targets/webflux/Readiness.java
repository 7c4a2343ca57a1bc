package dev.prony.targets.webflux;

import dev.prony.targets.common.Refusal;
import java.time.Duration;
import java.util.List;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Whether every service asked for was reached at least once. */
@Component
class Readiness {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final List<Service> services;
    private volatile boolean reached;

    Readiness(List<Service> services) {
        this.services = services.stream().filter(Service::isWanted).toList();
    }

    /** Completes when so; else a 503 of the first that is missing. */
    Mono<Void> check() {
        if (reached) {
            return Mono.empty();
        }
        return Flux.fromIterable(services)
                .concatMap(this::reach)
                .then(Mono.fromRunnable(() -> reached = true));
    }

    private Mono<?> reach(Service service) {
        String name = service.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT);
        return service.reach().timeout(TIMEOUT)
                .onErrorMap(cause -> cause instanceof Refusal ? cause
                        : Refusal.unavailable(name, cause.getMessage()));
    }
}
