package dev.prony.targets.webflux;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.prony.targets.common.Answer;
import dev.prony.targets.common.Refusal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponse;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/** Turns every error into the envelope, before Spring Boot's own handler (order -1) would. */
@Component
@Order(-2)
class Failures implements WebExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(Failures.class);

    private final ObjectMapper json;

    Failures(ObjectMapper json) {
        this.json = json;
    }

    /** The envelope as an answer, for filters that want to see it. */
    static Mono<ServerResponse> answer(Throwable cause) {
        Answer answer = envelope(cause);
        return ServerResponse.status(answer.code()).contentType(MediaType.APPLICATION_JSON).bodyValue(answer);
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable cause) {
        var response = exchange.getResponse();
        if (response.isCommitted()) {
            return Mono.error(cause);
        }
        Answer answer = envelope(cause);
        return response.writeWith(Mono.fromCallable(() -> {
            response.setStatusCode(HttpStatusCode.valueOf(answer.code()));
            response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
            return response.bufferFactory().wrap(json.writeValueAsBytes(answer));
        }));
    }

    private static Answer envelope(Throwable cause) {
        if (cause instanceof Refusal refusal) {
            return Answer.failure(refusal.status(), refusal.getMessage());
        }
        if (cause instanceof DataBufferLimitException) {
            return Answer.failure(413, "the body is larger than 16 MiB");
        }
        if (cause instanceof ErrorResponse known) {
            return Answer.failure(known.getStatusCode().value(), known.getBody().getTitle());
        }
        LOG.error("a request failed", cause);
        return Answer.failure(500, "a fault of the target; its log says more");
    }
}
