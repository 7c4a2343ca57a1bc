package dev.prony.targets.threads;

import java.util.concurrent.locks.LockSupport;

/**
 * Two threads that hand a token to each other: the one that has it gives it away and waits. Each hand-over is one
 * switch from thread to thread, since the other one slept.
 */
final class Switches {

    private volatile Thread turn;
    private int made;

    private Switches() {}

    /**
     * Makes so many switches, between this thread and one of its own kind.
     *
     * @return those that were counted by the two
     */
    static int make(int count) {
        Switches token = new Switches();
        Thread caller = Thread.currentThread();
        Threads kind = caller.getClass().getSimpleName().contains("Virtual") ? Threads.VIRTUAL : Threads.PLATFORM;
        // Each of them makes half of the switches, the caller one more where the count is odd.
        Thread other = kind.unstarted(() -> token.pass(caller, count / 2));
        token.turn = caller;
        other.start();
        token.pass(other, count - count / 2);
        token.await(other);
        return token.made;
    }

    private void pass(Thread to, int times) {
        Thread self = Thread.currentThread();
        for (int k = 0; k < times; k++) {
            while (turn != self) {
                LockSupport.park(this);
            }
            made++;
            turn = to;
            LockSupport.unpark(to);
        }
    }

    private void await(Thread other) {
        try {
            other.join();
        } catch (InterruptedException never) {
            throw new IllegalStateException("nobody interrupts a request", never);
        }
    }
}
