package dev.prony.targets.grpc;

import com.google.protobuf.ByteString;
import dev.prony.contract.ContractGrpc;
import dev.prony.contract.CountReply;
import dev.prony.contract.CountRequest;
import dev.prony.contract.PingReply;
import dev.prony.contract.PingRequest;
import dev.prony.contract.Record;
import dev.prony.contract.RecordsReply;
import dev.prony.contract.RecordsRequest;
import dev.prony.contract.UploadReply;
import dev.prony.contract.UploadRequest;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/** The methods of the contract. Records are built for each call, because that work belongs to the request. */
final class Methods extends ContractGrpc.ContractImplBase {

    private static final int COUNT_MAX = 1000;
    private static final int PER_COUNT = 8;
    private static final String[] TAGS = {"alpha", "beta", "gamma"};

    private final AtomicLong calls = new AtomicLong();

    @Override
    public void ping(PingRequest request, StreamObserver<PingReply> out) {
        calls.incrementAndGet();
        answer(PingReply.newBuilder().setMsg("ok").build(), out);
    }

    @Override
    public void records(RecordsRequest request, StreamObserver<RecordsReply> out) {
        calls.incrementAndGet();
        if (isRefused(request, out)) {
            return;
        }
        RecordsReply.Builder reply = RecordsReply.newBuilder().setMsg("ok");
        for (int id = 1; id <= PER_COUNT * request.getN(); id++) {
            reply.addData(record(id));
        }
        answer(reply.build(), out);
    }

    @Override
    public void upload(UploadRequest request, StreamObserver<UploadReply> out) {
        calls.incrementAndGet();
        Sum sum = new Sum();
        sum.add(request.getPayload());
        answer(sum.reply(), out);
    }

    @Override
    public void count(CountRequest request, StreamObserver<CountReply> out) {
        answer(CountReply.newBuilder().setCalls(calls.get()).build(), out);
    }

    @Override
    public void watch(RecordsRequest request, StreamObserver<Record> out) {
        calls.incrementAndGet();
        if (isRefused(request, out)) {
            return;
        }
        ServerCallStreamObserver<Record> paced = (ServerCallStreamObserver<Record>) out;
        int last = PER_COUNT * request.getN();
        int[] next = {1};
        // As fast as they are taken, so that nothing piles up.
        paced.setOnReadyHandler(() -> {
            while (paced.isReady() && next[0] <= last) {
                paced.onNext(record(next[0]++));
                if (next[0] > last) {
                    paced.onCompleted();
                }
            }
        });
    }

    @Override
    public StreamObserver<UploadRequest> fill(StreamObserver<UploadReply> out) {
        calls.incrementAndGet();
        Sum sum = new Sum();
        return new Messages() {
            @Override
            public void onNext(UploadRequest request) {
                sum.add(request.getPayload());
            }

            @Override
            public void onCompleted() {
                answer(sum.reply(), out);
            }
        };
    }

    @Override
    public StreamObserver<UploadRequest> echo(StreamObserver<UploadRequest> out) {
        calls.incrementAndGet();
        return new Messages() {
            @Override
            public void onNext(UploadRequest request) {
                out.onNext(request);
            }

            @Override
            public void onCompleted() {
                out.onCompleted();
            }
        };
    }

    /** A client's messages; one that goes away is of no interest. */
    private abstract static class Messages implements StreamObserver<UploadRequest> {
        @Override
        public void onError(Throwable gone) {}
    }

    private static <T> void answer(T message, StreamObserver<T> out) {
        out.onNext(message);
        out.onCompleted();
    }

    private static boolean isRefused(RecordsRequest request, StreamObserver<?> out) {
        int n = request.getN();
        if (n >= 1 && n <= COUNT_MAX) {
            return false;
        }
        String words = "n is " + n + ", must be from 1 to " + COUNT_MAX;
        out.onError(Status.INVALID_ARGUMENT.withDescription(words).asRuntimeException());
        return true;
    }

    private static Record record(int id) {
        String digits = Integer.toString(id);
        String name = "user-" + "0".repeat(6 - digits.length()) + digits;
        Record.Builder record = Record.newBuilder()
                .setId(id)
                .setName(name)
                .setEmail(name + "@example.com")
                .setAge(18 + id * 7 % 50)
                .setActive(id % 2 == 0)
                .setScore(id * 1.5);
        for (int place = 0; place < TAGS.length; place++) {
            record.addTags(TAGS[(place + id) % TAGS.length]);
        }
        return record.build();
    }

    /** Length and checksum of payloads. */
    private static final class Sum {
        private final MessageDigest digest;
        private long bytes;

        Sum() {
            try {
                digest = MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        void add(ByteString payload) {
            bytes += payload.size();
            payload.asReadOnlyByteBufferList().forEach(digest::update);
        }

        UploadReply reply() {
            String sha256 = HexFormat.of().formatHex(digest.digest());
            return UploadReply.newBuilder().setBytes(bytes).setSha256(sha256).build();
        }
    }
}
