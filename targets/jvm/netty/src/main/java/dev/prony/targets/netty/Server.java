package dev.prony.targets.netty;

import dev.prony.targets.common.Settings;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The listener, its event loops, and the pipeline of a connection. One acceptor; as many event loops as
 * asked for. The native epoll transport where it is there, else NIO.
 */
final class Server {

    /** The address cannot be bound. */
    static final class BindException extends RuntimeException {
        BindException(Settings.Endpoint at, Throwable cause) {
            super("cannot listen on " + at.host() + ":" + at.port() + ": stop the process that holds it, or set LISTEN"
                    + " to a free host:port of this machine (" + cause.getMessage() + ")", cause);
        }
    }

    // As many as Go's server allows.
    private static final int STREAMS = 250;
    private static final int BACKLOG = 4096;
    private static final int LINE_MAX = 8 << 10;
    private static final int HEADER_MAX = 64 << 10;
    private static final int CHUNK_MAX = 64 << 10;
    // Longer than the think times of a closed load, so that keep-alive holds.
    private static final int IDLE_S = 120;
    private static final long GRACE_MS = 4_000;
    // Time for a request that was on its way in a new connection to arrive.
    private static final long SILENT_MS = 200;

    private final EventLoopGroup acceptor;
    private final EventLoopGroup loops;
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final Routes routes;
    private final boolean http2;
    private Channel listener;

    private Server(Settings settings) {
        boolean epoll = Epoll.isAvailable();
        int threads = settings.eventLoopThreads();
        acceptor = epoll ? new EpollEventLoopGroup(1) : new NioEventLoopGroup(1);
        loops = epoll ? new EpollEventLoopGroup(threads) : new NioEventLoopGroup(threads);
        routes = new Routes(settings);
        http2 = settings.http2();
    }

    /** Binds and serves; returns at once. */
    static Server start(Settings settings) throws InterruptedException {
        Server server = new Server(settings);
        server.bind(settings.listen());
        return server;
    }

    private void bind(Settings.Endpoint at) throws InterruptedException {
        Class<? extends ServerChannel> kind =
                Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
        ChannelFuture bound = new ServerBootstrap()
                .group(acceptor, loops)
                .channel(kind)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new Pipeline())
                .bind(at.host(), at.port())
                .await();
        if (!bound.isSuccess()) {
            endLoops();
            throw new BindException(at, bound.cause());
        }
        listener = bound.channel();
    }

    /** With the real port where port 0 was asked for. */
    InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    /** Waits until the listener is closed. */
    void awaitEnd() throws InterruptedException {
        listener.closeFuture().await();
    }

    /**
     * Frees the port, lets requests in flight end, closes the rest.
     *
     * @return false where some had to be cut off
     */
    boolean stop() {
        listener.close().awaitUninterruptibly();
        stopping.set(true);
        for (Channel connection : connections) {
            connection.eventLoop().schedule(() -> end(connection), SILENT_MS, TimeUnit.MILLISECONDS);
        }
        boolean ended = connections.newCloseFuture().awaitUninterruptibly(GRACE_MS);
        connections.close().awaitUninterruptibly(GRACE_MS / 10);
        endLoops();
        return ended;
    }

    // A connection of HTTP/2 says goodbye (GOAWAY) and closes with its last stream.
    private static void end(Channel connection) {
        Requests requests = connection.pipeline().get(Requests.class);
        if (requests == null) {
            connection.close();
        } else {
            requests.closeIfIdle();
        }
    }

    private void endLoops() {
        acceptor.shutdownGracefully(0, 100, TimeUnit.MILLISECONDS);
        loops.shutdownGracefully(0, 100, TimeUnit.MILLISECONDS);
    }

    private final class Pipeline extends ChannelInitializer<SocketChannel> {

        @Override
        protected void initChannel(SocketChannel connection) {
            connections.add(connection);
            ChannelPipeline pipeline = connection.pipeline().addLast(new Idle(IDLE_S));
            if (http2) {
                pipeline.addLast(new Preface(() -> addHttp1(pipeline), () -> addHttp2(pipeline)));
            } else {
                addHttp1(pipeline);
            }
        }

        private void addHttp1(ChannelPipeline pipeline) {
            pipeline.addLast(new HttpServerCodec(LINE_MAX, HEADER_MAX, CHUNK_MAX))
                    .addLast(new HttpServerKeepAliveHandler())
                    .addLast(new Requests(stopping::get))
                    .addLast(new WholeRequests())
                    .addLast(routes);
        }

        private void addHttp2(ChannelPipeline pipeline) {
            Http2FrameCodec frames = Http2FrameCodecBuilder.forServer()
                    .initialSettings(new Http2Settings().maxConcurrentStreams(STREAMS).maxHeaderListSize(HEADER_MAX))
                    .gracefulShutdownTimeoutMillis(GRACE_MS)
                    .build();
            pipeline.addLast(frames).addLast(new Http2MultiplexHandler(new Stream()));
        }
    }

    /** The handlers of one stream of HTTP/2: it is one request. */
    private final class Stream extends ChannelInitializer<Channel> {

        @Override
        protected void initChannel(Channel stream) {
            stream.pipeline()
                    .addLast(new Http2StreamFrameToHttpObjectCodec(true))
                    .addLast(new WholeRequests())
                    .addLast(routes);
        }
    }
}
