// Limits of a connection in milliseconds and bytes; those of the Go targets. A
// public server has them, so their timers are part of the real cost.

export const TIMEOUTS = {
  /** From the first byte of a request to the end of its header. */
  headersMs: 5_000,
  /** From the first byte of a request to its end. */
  requestMs: 10_000,
  /** How often Node looks for connections past those two. */
  checkMs: 5_000,
  /** Header size. */
  headerBytesMax: 64 << 10,
};
