package dev.prony.targets.webflux;

import dev.prony.targets.common.Served;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** Counts each request before its route is found, and times it. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class Counted implements WebFilter {

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        long began = Served.begin(exchange.getRequest().getPath().value());
        return chain.filter(exchange).doFinally(how -> Served.end(began));
    }
}
