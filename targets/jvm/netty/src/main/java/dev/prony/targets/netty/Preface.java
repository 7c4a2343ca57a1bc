package dev.prony.targets.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import java.util.List;

/**
 * Looks at the first bytes of a connection: those of a client that begins with HTTP/2 (RFC 9113, 3.3) or
 * any others. Then the handlers of that protocol take its place, and get the bytes.
 */
final class Preface extends ByteToMessageDecoder {

    private static final ByteBuf PREFACE = Http2CodecUtil.connectionPrefaceBuf();

    private final Runnable http1;
    private final Runnable http2;

    Preface(Runnable http1, Runnable http2) {
        this.http1 = http1;
        this.http2 = http2;
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> out) {
        int length = Math.min(bytes.readableBytes(), PREFACE.readableBytes());
        boolean fits = ByteBufUtil.equals(bytes, bytes.readerIndex(), PREFACE, PREFACE.readerIndex(), length);
        if (fits && length < PREFACE.readableBytes()) {
            return;
        }
        (fits ? http2 : http1).run();
        context.pipeline().remove(this);
    }
}
