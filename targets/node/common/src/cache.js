// Values by key in Redis, through node-redis' own pool of at most 20
// connections.
//
// While Redis is away commands fail at once instead of waiting in a queue, and
// the route answers 503; the client connects again by itself.

import { createClientPool } from 'redis';

import { unavailable } from './refusal.js';

const CONNECTIONS_MAX = 20;
const ACQUIRE_TIMEOUT_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;
const LIFE_S = 60;
const RECONNECT_MS = 200;

export class Cache {
  #pool;

  /** @param {object} [at] address; without it every call is refused with 503 */
  constructor(at) {
    if (!at) return;
    this.#pool = createClientPool(
      {
        socket: {
          host: at.host,
          port: at.port,
          connectTimeout: CONNECT_TIMEOUT_MS,
          reconnectStrategy: () => RECONNECT_MS,
        },
        disableOfflineQueue: true,
      },
      { minimum: 1, maximum: CONNECTIONS_MAX, acquireTimeout: ACQUIRE_TIMEOUT_MS },
    );
    // Each failed command says so itself.
    this.#pool.on('error', () => {});
    // Goes on in the background until Redis is there.
    this.#pool.connect().catch(() => {});
  }

  /** Whether an address was given. */
  get wanted() {
    return this.#pool !== undefined;
  }

  /** Resolves once Redis answered. */
  async reach() {
    await this.#pool.ping();
  }

  /** The value of key; where it is missing it is set to value-of-KEY for a minute. */
  async lookUp(key) {
    if (!this.#pool) throw unavailable('cache', 'REDIS_HOST and REDIS_PORT are not set');
    try {
      const found = await this.#pool.get(key);
      if (found !== null) return { key, value: found };
      const value = `value-of-${key}`;
      await this.#pool.set(key, value, { expiration: { type: 'EX', value: LIFE_S } });
      return { key, value };
    } catch (error) {
      throw unavailable('cache', error);
    }
  }

  async close() {
    if (this.#pool?.isOpen) this.#pool.destroy();
  }
}
