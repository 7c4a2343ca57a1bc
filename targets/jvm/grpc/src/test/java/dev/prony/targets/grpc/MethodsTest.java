package dev.prony.targets.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import dev.prony.contract.ContractGrpc;
import dev.prony.contract.CountRequest;
import dev.prony.contract.PingRequest;
import dev.prony.contract.Record;
import dev.prony.contract.RecordsRequest;
import dev.prony.contract.UploadReply;
import dev.prony.contract.UploadRequest;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Each method as the contract says, over a real connection on loopback. */
class MethodsTest {

    private static final String SHA256_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    private static Server server;
    private static ManagedChannel channel;

    @BeforeAll
    static void start() throws Exception {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0));
        server = GrpcTarget.services(builder, new HealthStatusManager()).build().start();
        channel = Grpc.newChannelBuilder("127.0.0.1:" + server.getPort(), InsecureChannelCredentials.create()).build();
    }

    @AfterAll
    static void stop() {
        channel.shutdownNow();
        server.shutdownNow();
    }

    private static UploadRequest payload(String text) {
        return UploadRequest.newBuilder().setPayload(ByteString.copyFromUtf8(text)).build();
    }

    @Test
    void methodsWithOneMessageEachWay() {
        ContractGrpc.ContractBlockingStub client = ContractGrpc.newBlockingStub(channel);
        long before = client.count(CountRequest.getDefaultInstance()).getCalls();
        assertEquals("ok", client.ping(PingRequest.getDefaultInstance()).getMsg());
        List<Record> data = client.records(RecordsRequest.newBuilder().setN(3).build()).getDataList();
        Record last = data.get(23);
        assertEquals(24, data.size());
        assertEquals(List.of("user-000024", 36, 36.0, List.of("alpha", "beta", "gamma")),
                List.of(last.getName(), last.getAge(), last.getScore(), last.getTagsList()));
        for (int n : new int[] {0, -1, 1001}) {
            RecordsRequest wrong = RecordsRequest.newBuilder().setN(n).build();
            StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, () -> client.records(wrong));
            assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode());
        }
        UploadReply upload = client.upload(payload("abc"));
        assertEquals(3, upload.getBytes());
        assertEquals(SHA256_OF_ABC, upload.getSha256());
        assertEquals(before + 6, client.count(CountRequest.getDefaultInstance()).getCalls());
    }

    @Test
    void streams() throws Exception {
        List<Integer> ids = new ArrayList<>();
        ContractGrpc.newBlockingStub(channel).watch(RecordsRequest.newBuilder().setN(2).build())
                .forEachRemaining(record -> ids.add(record.getId()));
        assertEquals(16, ids.size());
        ContractGrpc.ContractStub client = ContractGrpc.newStub(channel);
        Collected<UploadReply> filled = new Collected<>();
        StreamObserver<UploadRequest> fill = client.fill(filled);
        fill.onNext(payload("a"));
        fill.onNext(payload("bc"));
        fill.onCompleted();
        assertEquals(SHA256_OF_ABC, filled.all().get(0).getSha256());
        Collected<UploadRequest> echoed = new Collected<>();
        StreamObserver<UploadRequest> echo = client.echo(echoed);
        echo.onNext(payload("x"));
        echo.onCompleted();
        assertEquals(List.of(payload("x")), echoed.all());
    }

    /** Messages up to the end of a stream. */
    private static final class Collected<T> implements StreamObserver<T> {
        private final List<T> messages = new ArrayList<>();
        private final CompletableFuture<List<T>> end = new CompletableFuture<>();

        List<T> all() throws Exception {
            return end.get(30, TimeUnit.SECONDS);
        }

        @Override
        public void onNext(T message) {
            messages.add(message);
        }

        @Override
        public void onError(Throwable error) {
            end.completeExceptionally(error);
        }

        @Override
        public void onCompleted() {
            end.complete(messages);
        }
    }
}
