package dev.prony.targets.webflux;

import dev.prony.records.ListReply;
import dev.prony.records.ListRequest;
import dev.prony.records.RecordsGrpc;
import dev.prony.targets.common.Entry;
import dev.prony.targets.common.Refusal;
import dev.prony.targets.common.Settings;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.StreamObserver;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** The gRPC backend, asked over one TLS connection that is kept for all requests. */
@Component
class Backend implements Service {

    private static final int DEADLINE_S = 5;

    private final ManagedChannel channel;

    Backend(Settings settings) {
        channel = settings.backend().map(Backend::open).orElse(null);
    }

    private static ManagedChannel open(Settings.Backend backend) {
        try {
            var trust = TlsChannelCredentials.newBuilder().trustManager(backend.caFile().toFile()).build();
            return Grpc.newChannelBuilderForAddress(backend.at().host(), backend.at().port(), trust).build();
        } catch (IOException | IllegalArgumentException cause) {
            throw new IllegalStateException("GRPC_CA_FILE: " + cause.getMessage()
                    + ": set it to the certificate that the backend wrote", cause);
        }
    }

    @Override
    public boolean isWanted() {
        return channel != null;
    }

    @Override
    public Mono<?> reach() {
        return list(1);
    }

    /** The records 1 to 8n. */
    Mono<List<Entry>> list(int n) {
        if (channel == null) {
            return Mono.error(Refusal.unavailable("backend", "GRPC_HOST, GRPC_PORT and GRPC_CA_FILE are not set"));
        }
        ListRequest request = ListRequest.newBuilder().setN(n).build();
        return Mono.<ListReply>create(sink -> RecordsGrpc.newStub(channel)
                        .withDeadlineAfter(DEADLINE_S, TimeUnit.SECONDS)
                        .list(request, new Answer(sink)))
                .map(reply -> reply.getRecordsList().stream().map(Backend::entry).toList())
                .onErrorMap(Backend::refused);
    }

    private static Entry entry(dev.prony.records.Record from) {
        return new Entry(from.getId(), from.getName(), from.getEmail(), from.getAge(), from.getActive(),
                from.getScore(), from.getTagsList());
    }

    private static Refusal refused(Throwable cause) {
        Status status = Status.fromThrowable(cause);
        if (status.getCode() == Status.Code.INVALID_ARGUMENT) {
            return new Refusal(400, status.getDescription());
        }
        return Refusal.unavailable("backend", cause.getMessage());
    }

    private record Answer(MonoSink<ListReply> sink) implements StreamObserver<ListReply> {

        @Override
        public void onNext(ListReply reply) {
            sink.success(reply);
        }

        @Override
        public void onError(Throwable cause) {
            sink.error(cause);
        }

        @Override
        public void onCompleted() {
            // Does nothing after onNext.
            sink.success();
        }
    }

    @PreDestroy
    void close() {
        if (channel != null) {
            channel.shutdownNow();
        }
    }
}
