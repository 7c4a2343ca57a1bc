package dev.prony.targets.webflux;

import reactor.core.publisher.Mono;

/** Something beside the target that routes need. */
interface Service {

    /** Whether an address was given. */
    boolean isWanted();

    /** Completes once it answered. */
    Mono<?> reach();
}
