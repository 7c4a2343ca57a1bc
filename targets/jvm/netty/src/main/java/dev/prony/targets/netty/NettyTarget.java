package dev.prony.targets.netty;

import dev.prony.targets.common.AccessLog;
import dev.prony.targets.common.Settings;
import dev.prony.targets.common.Settings.SettingException;
import java.net.InetSocketAddress;

/** Netty as a target: reads the environment, serves until TERM, ends within the 5 s of the contract. */
public final class NettyTarget {

    private NettyTarget() {}

    public static void main(String[] args) throws InterruptedException {
        try {
            Server server = Server.start(Settings.of(System.getenv()));
            InetSocketAddress at = server.address();
            System.err.println("listening on " + at.getAddress().getHostAddress() + ":" + at.getPort());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server), "stop"));
            server.awaitEnd();
        } catch (SettingException wrong) {
            fail(wrong.getMessage());
        } catch (Server.BindException refused) {
            fail(refused.getMessage());
        }
    }

    private static void stop(Server server) {
        if (!server.stop()) {
            System.err.println("error: connections still open after the stop signal were cut off");
        }
        AccessLog.close();
    }

    private static void fail(String message) {
        System.err.println("error: " + message);
        System.exit(1);
    }
}
