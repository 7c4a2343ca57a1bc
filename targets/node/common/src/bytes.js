// The names that /file serves, and the checksum of /upload.

import { createHash } from 'node:crypto';

/** Every name that /file serves. A list, so that nothing outside the folder is ever reached. */
export const FILES = new Set(['1k', '64k', '1m']);

/** Bodies above this are answered with 413. */
export const UPLOAD_BYTES_MAX = 16 << 20;

/** The data of /upload for a whole body. */
export function digest(body) {
  return { bytes: body.length, sha256: createHash('sha256').update(body).digest('hex') };
}
