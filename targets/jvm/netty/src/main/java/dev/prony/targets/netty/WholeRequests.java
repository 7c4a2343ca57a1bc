package dev.prony.targets.netty;

import dev.prony.targets.common.Answer;
import dev.prony.targets.common.Bytes;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.ReferenceCountUtil;

/** Joins a request with its body; one that is too large is answered with the envelope and read to its end. */
final class WholeRequests extends HttpObjectAggregator {

    WholeRequests() {
        super(Bytes.UPLOAD_MAX);
    }

    @Override
    protected void handleOversizedMessage(ChannelHandlerContext context, HttpMessage oversized) {
        context.writeAndFlush(tooLarge(context));
    }

    // A client that asks first (Expect: 100-continue) would get an answer without a body.
    @Override
    protected Object newContinueResponse(HttpMessage start, int maxContentLength, ChannelPipeline pipeline) {
        Object answer = super.newContinueResponse(start, maxContentLength, pipeline);
        boolean isTooLarge = answer instanceof HttpResponse response
                && response.status().equals(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
        if (!isTooLarge) {
            return answer;
        }
        ReferenceCountUtil.release(answer);
        return tooLarge(pipeline.lastContext());
    }

    private static FullHttpResponse tooLarge(ChannelHandlerContext context) {
        return Answers.json(context, 413, Answer.failure(413, "the body is larger than 16 MiB"));
    }
}
