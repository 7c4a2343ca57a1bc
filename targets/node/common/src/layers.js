// What the layers of /middleware do, apart from how a framework hooks them in:
// the access log (pino, as in most Node services) and the W3C trace context.

import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';

import pino from 'pino';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})(-.*)?$/;
const ZERO_TRACE = '0'.repeat(32);
const ZERO_SPAN = '0'.repeat(16);
const SAMPLED = '01';

/**
 * Opens $ACCESS_LOG. Lines are written in the background, at most a buffer
 * of 4 KiB behind.
 * @param {string} file
 */
export async function openAccessLog(file) {
  try {
    await (await open(file, 'a')).close();
  } catch (error) {
    throw new Error(`ACCESS_LOG: ${error.message}: set it to a file that can be written`, { cause: error });
  }
  const destination = pino.destination({ dest: file, sync: false, minLength: 4096 });
  // A disk that fills up later costs log lines, not answers.
  destination.on('error', () => {});
  return accessLog(destination);
}

/** The log over any destination of pino. */
export function accessLog(destination) {
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return {
    /** One line for one answer. */
    answered(method, path, status, durationMs) {
      logger.info({ method, path, status, duration_ms: durationMs });
    },
    /** Resolves when all lines are written. */
    flush: () => new Promise((resolve) => { logger.flush(() => resolve()); }),
  };
}

/**
 * The traceparent of an answer: the trace id and flags of the request where it
 * has them (W3C Trace Context, 3.2), else drawn ones; the span id is drawn.
 * @param {string | undefined} header traceparent of the request
 */
export function traceparent(header) {
  const [, version, trace, flags, rest] = TRACEPARENT.exec(header ?? '') ?? [];
  // Version ff is invalid, and only versions after 00 may have more fields.
  const known = version !== undefined && version !== 'ff' && !(version === '00' && rest);
  if (!known || trace === ZERO_TRACE || header.includes(`-${ZERO_SPAN}-`)) {
    return `00-${id(16)}-${id(8)}-${SAMPLED}`;
  }
  return `00-${trace}-${id(8)}-${flags}`;
}

// An id of zeros only is invalid, and as likely as never.
function id(bytes) {
  return randomBytes(bytes).toString('hex');
}
