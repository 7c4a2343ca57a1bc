package dev.prony.targets.grpc;

import dev.prony.targets.common.Settings;
import dev.prony.targets.common.Settings.SettingException;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * grpc-java as a target: reads the environment, serves until TERM, ends within the 5 s of the contract.
 * Deliberately absent: TLS, HTTP/1.1, and any log per call, which would add to what is measured.
 */
public final class GrpcTarget {

    private static final int GRACE_MS = 4_500;

    private GrpcTarget() {}

    public static void main(String[] args) throws InterruptedException {
        try {
            Settings.Endpoint at = Settings.of(System.getenv()).listen();
            HealthStatusManager health = new HealthStatusManager();
            boolean direct = "true".equals(System.getenv("DIRECT_EXECUTOR"));
            NettyServerBuilder builder = NettyServerBuilder.forAddress(new InetSocketAddress(at.host(), at.port()));
            Server server = services(direct ? builder.directExecutor() : builder, health).build().start();
            InetSocketAddress bound = (InetSocketAddress) server.getListenSockets().get(0);
            System.err.println("listening on " + bound.getAddress().getHostAddress() + ":" + bound.getPort());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, health), "stop"));
            server.awaitTermination();
        } catch (SettingException wrong) {
            fail(wrong.getMessage());
        } catch (IOException refused) {
            fail("cannot listen: set LISTEN to a free host:port of this machine (" + refused.getMessage() + ")");
        }
    }

    /** Contract, health and reflection. */
    static <B extends ServerBuilder<B>> B services(B builder, HealthStatusManager health) {
        health.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, ServingStatus.SERVING);
        return builder.addService(new Methods())
                .addService(health.getHealthService())
                .addService(ProtoReflectionServiceV1.newInstance());
    }

    private static void stop(Server server, HealthStatusManager health) {
        health.enterTerminalState();
        try {
            if (!server.shutdown().awaitTermination(GRACE_MS, TimeUnit.MILLISECONDS)) {
                server.shutdownNow();
                System.err.println("error: calls still open after the stop signal were cut off");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void fail(String message) {
        System.err.println("error: " + message);
        System.exit(1);
    }
}
