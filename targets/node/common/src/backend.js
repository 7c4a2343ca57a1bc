// The gRPC backend, asked over one TLS connection that is kept for all
// requests. @grpc/grpc-js connects again by itself when it breaks.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { Client, credentials, loadPackageDefinition, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

import { Refusal, unavailable } from './refusal.js';

// A copy of services/grpc/proto/records.proto; a test holds the two together.
const PROTO = fileURLToPath(new URL('../proto/records.proto', import.meta.url));
const DEADLINE_MS = 5_000;
// 8000 records are less than 1 MiB.
const ANSWER_BYTES_MAX = 4 << 20;

export class Backend {
  #client;

  /** @param {object} [at] address and certificate; without it every call is refused with 503 */
  constructor(at) {
    if (!at) return;
    const { Records } = loadPackageDefinition(loadSync(PROTO, { defaults: true })).prony.v1;
    this.#client = new Records(`${at.host}:${at.port}`, credentials.createSsl(authority(at.caFile)), {
      'grpc.max_receive_message_length': ANSWER_BYTES_MAX,
      'grpc.max_reconnect_backoff_ms': 1_000,
    });
  }

  /** Whether an address was given. */
  get wanted() {
    return this.#client !== undefined;
  }

  /** Resolves once the backend answered. */
  async reach() {
    await this.list(1);
  }

  /** The records 1 to 8n. */
  list(n) {
    if (!this.#client) {
      throw unavailable('backend', 'GRPC_HOST, GRPC_PORT and GRPC_CA_FILE are not set');
    }
    return new Promise((resolve, reject) => {
      this.#client.list({ n }, { deadline: Date.now() + DEADLINE_MS }, (error, reply) => {
        if (error) reject(refused(error));
        else resolve(reply.records);
      });
    });
  }

  close() {
    if (this.#client) Client.prototype.close.call(this.#client);
  }
}

function authority(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`GRPC_CA_FILE: ${error.message}: set it to the certificate that the backend wrote`, { cause: error });
  }
}

function refused(error) {
  if (error.code === status.INVALID_ARGUMENT) return new Refusal(400, error.details);
  return unavailable('backend', error);
}
