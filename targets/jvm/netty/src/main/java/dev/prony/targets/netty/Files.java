package dev.prony.targets.netty;

import dev.prony.targets.common.Bytes;
import dev.prony.targets.common.Refusal;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.DefaultFileRegion;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2StreamChannel;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Serves files: by sendfile over HTTP/1.1, from memory over HTTP/2, whose frames cut them. */
final class Files {

    private final Path folder;

    Files(Path folder) {
        this.folder = folder;
    }

    /** Writes the file and gives the status. */
    int send(ChannelHandlerContext context, String name) throws IOException {
        FileChannel file = open(name);
        long size = file.size();
        HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        head.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_OCTET_STREAM)
                .set(HttpHeaderNames.CONTENT_LENGTH, size);
        context.write(head);
        if (context.channel() instanceof Http2StreamChannel) {
            context.write(new DefaultHttpContent(read(context, file, size)));
        } else {
            // The region closes the file when it was sent.
            context.write(new DefaultFileRegion(file, 0, size));
        }
        context.write(LastHttpContent.EMPTY_LAST_CONTENT);
        return HttpResponseStatus.OK.code();
    }

    private static ByteBuf read(ChannelHandlerContext context, FileChannel file, long size) throws IOException {
        ByteBuf bytes = context.alloc().buffer((int) size);
        try (file) {
            while (bytes.readableBytes() < size) {
                if (bytes.writeBytes(file, bytes.readableBytes(), (int) size - bytes.readableBytes()) < 0) {
                    throw new EOFException("the file has become shorter");
                }
            }
            return bytes.retain();
        } finally {
            bytes.release();
        }
    }

    private FileChannel open(String name) throws IOException {
        if (!Bytes.FILES.contains(name)) {
            throw new Refusal(404, "no such file");
        }
        try {
            return FileChannel.open(folder.resolve(name), StandardOpenOption.READ);
        } catch (NoSuchFileException missing) {
            throw new Refusal(404, "no such file");
        }
    }
}
