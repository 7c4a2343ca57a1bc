package dev.prony.targets.webflux;

import dev.prony.targets.common.AccessLog;
import dev.prony.targets.common.Settings;
import dev.prony.targets.common.Tokens;
import dev.prony.targets.common.TraceContext;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.server.HandlerFilterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/** The layers as filters of single routes. */
@Component
class Layers {

    /** Attribute of a request that passed {@link #token}. */
    static final String SUBJECT = "subject";

    private final Tokens tokens;

    Layers(Settings settings) {
        tokens = new Tokens(settings.jwtSecret());
    }

    /** Writes one line for the answer; errors of inner layers have become answers before they come here. */
    HandlerFilterFunction<ServerResponse, ServerResponse> log() {
        return (request, next) -> {
            long start = System.nanoTime();
            return next.handle(request)
                    .onErrorResume(cause -> Failures.answer(cause))
                    .doOnNext(answer -> answered(request, answer, start));
        };
    }

    private static void answered(ServerRequest request, ServerResponse answer, long start) {
        AccessLog.answered(request.method().name(), request.requestPath().value(), answer.statusCode().value(),
                System.nanoTime() - start);
    }

    /** Lets pass only what has a good bearer token. */
    HandlerFilterFunction<ServerResponse, ServerResponse> token() {
        return (request, next) -> Mono.defer(() -> {
            String header = request.headers().firstHeader(HttpHeaders.AUTHORIZATION);
            request.attributes().put(SUBJECT, tokens.subject(header));
            return next.handle(request);
        });
    }

    /** Answers with a traceparent. */
    HandlerFilterFunction<ServerResponse, ServerResponse> trace() {
        return (request, next) -> {
            String header = request.headers().firstHeader("traceparent");
            request.exchange().getResponse().getHeaders().set("traceparent", TraceContext.answer(header));
            return next.handle(request);
        };
    }
}
