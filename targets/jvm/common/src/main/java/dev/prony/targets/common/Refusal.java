package dev.prony.targets.common;

/**
 * The one error that handlers throw on purpose: a status and a message for people. A target turns it into the
 * envelope in one place. It carries no stack trace, since it is about a request and not a fault.
 */
public final class Refusal extends RuntimeException {

    private final int status;

    public Refusal(int status, String message) {
        super(message, null, false, false);
        this.status = status;
    }

    /** A service that a route needs is not there. */
    public static Refusal unavailable(String service, String cause) {
        return new Refusal(503, "the " + service + " is not available: " + cause);
    }

    /** HTTP status, also the code of the envelope. */
    public int status() {
        return status;
    }
}
