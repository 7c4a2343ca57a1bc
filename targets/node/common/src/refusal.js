// The one error that handlers throw on purpose: a status and a message for
// people. Each framework turns it into the envelope in its own error handler.

/** An answer that is not 200. */
export class Refusal extends Error {
  /**
   * @param {number} statusCode HTTP status, also the code of the envelope
   * @param {string} message for people
   * @param {ErrorOptions} [options] the cause, where there is one
   */
  constructor(statusCode, message, options) {
    super(message, options);
    this.statusCode = statusCode;
  }
}

/** A service that a route needs is not there: 503. */
export function unavailable(service, cause) {
  return new Refusal(503, `the ${service} is not available: ${cause?.message ?? cause}`, { cause });
}

/**
 * The status of any error that reached a framework's error handler. Frameworks
 * give their own errors (body too large, bad escape in the path) a statusCode;
 * what has none is a fault of the program: 500.
 */
export function statusOf(error) {
  const status = error?.statusCode;
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500;
}
