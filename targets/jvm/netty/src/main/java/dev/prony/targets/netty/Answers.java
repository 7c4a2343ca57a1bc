package dev.prony.targets.netty;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/** Encodes answers with Jackson, straight into a buffer of the connection's pool. */
final class Answers {

    private static final ObjectMapper JSON =
            new ObjectMapper().disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);

    private Answers() {}

    static FullHttpResponse text(ChannelHandlerContext context, String text) {
        ByteBuf body = ByteBufUtil.writeUtf8(context.alloc(), text);
        FullHttpResponse answer =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
        answer.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
        return answer;
    }

    static FullHttpResponse json(ChannelHandlerContext context, int status, Object value) {
        ByteBuf body = context.alloc().buffer();
        try (OutputStream out = new ByteBufOutputStream(body)) {
            JSON.writeValue(out, value);
        } catch (IOException impossible) {
            body.release();
            throw new UncheckedIOException(impossible);
        }
        FullHttpResponse answer =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), body);
        answer.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
        return answer;
    }
}
