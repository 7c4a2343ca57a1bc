package dev.prony.targets.netty;

import dev.prony.targets.common.AccessLog;
import dev.prony.targets.common.Answer;
import dev.prony.targets.common.Bytes;
import dev.prony.targets.common.Entry;
import dev.prony.targets.common.Numbers;
import dev.prony.targets.common.Refusal;
import dev.prony.targets.common.RuntimeStats;
import dev.prony.targets.common.Served;
import dev.prony.targets.common.Settings;
import dev.prony.targets.common.Tokens;
import dev.prony.targets.common.TraceContext;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The routes. Netty has no router and no layers; both are plain code here. A handler answers on the event
 * loop, since none of them waits for anything but the file system.
 */
@Sharable
final class Routes extends SimpleChannelInboundHandler<FullHttpRequest> {

    private static final Logger LOG = LoggerFactory.getLogger(Routes.class);

    private final Files files;
    private final Tokens tokens;
    private final boolean logEveryRequest;

    Routes(Settings settings) {
        files = new Files(settings.filesDir());
        tokens = new Tokens(settings.jwtSecret());
        logEveryRequest = settings.logEveryRequest();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        long start = System.nanoTime();
        long timed = Served.begin(request.uri());
        Path path = null;
        int status;
        try {
            path = Path.of(request);
            status = answer(context, request, path);
        } catch (Refusal refusal) {
            status = refuse(context, refusal.status(), refusal.getMessage());
        } catch (IOException | RuntimeException fault) {
            LOG.error("a request failed", fault);
            status = refuse(context, 500, "a fault of the target; its log says more");
        }
        Served.end(timed);
        if (logEveryRequest || path != null && path.isLogged()) {
            String text = path == null ? request.uri() : path.text();
            AccessLog.answered(request.method().name(), text, status, System.nanoTime() - start);
        }
    }

    // Gives the status. Each case writes exactly one answer.
    private int answer(ChannelHandlerContext context, FullHttpRequest request, Path path) throws IOException {
        String last = path.last();
        return switch (path.route()) {
            case "GET /ping" -> ok(context, Map.of());
            case "GET /health" -> send(context, Answers.json(context, 200, Map.of("status", "ok")));
            case "GET /debug/runtime" -> send(context, Answers.json(context, 200, RuntimeStats.read()));
            case "GET /debug/requests" -> send(context, Answers.text(context, Served.times()));
            case "GET /json/" -> ok(context, Entry.list(Numbers.count(last)));
            case "GET /auth" -> ok(context, Map.of("sub", subject(request)));
            case "GET /middleware/" -> middleware(context, request, Numbers.layers(last));
            case "GET /file/" -> files.send(context, last);
            case "POST /upload" -> ok(context, Bytes.Digest.of(ByteBufUtil.getBytes(request.content())));
            default -> throw new Refusal(404, "no such path");
        };
    }

    private String subject(FullHttpRequest request) {
        return tokens.subject(request.headers().get(HttpHeaderNames.AUTHORIZATION));
    }

    // The log layer is in channelRead0, around the others.
    private int middleware(ChannelHandlerContext context, FullHttpRequest request, int layers) {
        if (layers >= 2) {
            subject(request);
        }
        FullHttpResponse answer = Answers.json(context, 200, Answer.ok(Map.of("layers", layers)));
        if (layers >= 3) {
            answer.headers().set("traceparent", TraceContext.answer(request.headers().get("traceparent")));
        }
        return send(context, answer);
    }

    private static int ok(ChannelHandlerContext context, Object data) {
        return send(context, Answers.json(context, 200, Answer.ok(data)));
    }

    private static int refuse(ChannelHandlerContext context, int status, String message) {
        return send(context, Answers.json(context, status, Answer.failure(status, message)));
    }

    private static int send(ChannelHandlerContext context, FullHttpResponse answer) {
        context.write(answer);
        return answer.status().code();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        // Once for all pipelined requests that were read together.
        context.flush();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // A client that went away is no fault of the target.
        if (!(cause instanceof IOException || cause instanceof PrematureChannelClosureException)) {
            LOG.warn("a connection failed", cause);
        }
        context.close();
    }

    /**
     * A path with its last part taken off where a route has a parameter there.
     *
     * @param route method and path without the parameter, for example {@code GET /json/}
     * @param last the decoded parameter, or an empty text
     */
    private record Path(String text, String route, String last) {

        static Path of(FullHttpRequest request) {
            if (request.decoderResult().isFailure()) {
                throw new Refusal(400, "the request cannot be read");
            }
            String text = decoded(request.uri());
            HttpMethod method = request.method();
            int slash = text.lastIndexOf('/');
            boolean isFixed = slash <= 0 || text.startsWith("/debug/");
            String route = isFixed ? text : text.substring(0, slash + 1);
            return new Path(text, method.name() + " " + route, isFixed ? "" : text.substring(slash + 1));
        }

        boolean isLogged() {
            return route.equals("GET /middleware/") && !last.equals("0");
        }

        private static String decoded(String uri) {
            try {
                return new QueryStringDecoder(uri).path();
            } catch (IllegalArgumentException wrong) {
                throw new Refusal(400, wrong.getMessage());
            }
        }
    }
}
