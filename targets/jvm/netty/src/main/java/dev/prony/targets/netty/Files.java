package dev.prony.targets.netty;

import dev.prony.targets.common.Bytes;
import dev.prony.targets.common.Refusal;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.DefaultFileRegion;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Serves files by sendfile. */
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
        // The region closes the file when it was sent.
        context.write(new DefaultFileRegion(file, 0, size));
        context.write(LastHttpContent.EMPTY_LAST_CONTENT);
        return HttpResponseStatus.OK.code();
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
