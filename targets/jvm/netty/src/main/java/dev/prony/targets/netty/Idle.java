package dev.prony.targets.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;

/** Closes a connection on which nothing was read or written for a time. */
final class Idle extends IdleStateHandler {

    Idle(int seconds) {
        super(0, 0, seconds);
    }

    @Override
    protected void channelIdle(ChannelHandlerContext context, IdleStateEvent event) {
        context.close();
    }
}
