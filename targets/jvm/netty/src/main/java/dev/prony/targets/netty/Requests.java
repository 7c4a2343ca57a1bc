package dev.prony.targets.netty;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.function.BooleanSupplier;

/**
 * Counts the requests in flight of one connection of HTTP/1.1, so that stopping closes idle connections at once and
 * the others with their answer. Used by its event loop only.
 */
final class Requests extends ChannelDuplexHandler {

    private final BooleanSupplier stopping;
    private ChannelHandlerContext context;
    private int inFlight;

    Requests(BooleanSupplier stopping) {
        this.stopping = stopping;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        this.context = context;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpRequest) {
            inFlight++;
        }
        context.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        // HttpServerKeepAliveHandler closes after an answer that says so.
        if (message instanceof HttpResponse response && stopping.getAsBoolean()) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        if (message instanceof LastHttpContent) {
            inFlight--;
        }
        context.write(message, promise);
    }

    /** Closes the connection unless a request is being received or answered. */
    void closeIfIdle() {
        if (inFlight <= 0) {
            context.close();
        }
    }
}
