// The services that routes need, opened together, and whether all that were
// asked for have been reached.

import { Backend } from './backend.js';
import { Cache } from './cache.js';
import { Refusal, unavailable } from './refusal.js';
import { Users } from './users.js';

const REACH_TIMEOUT_MS = 2_000;

export class Services {
  #missing;

  /** @param {ReturnType<import('./settings.js').readSettings>} settings */
  constructor(settings) {
    this.users = new Users(settings.database);
    this.cache = new Cache(settings.cache);
    this.backend = new Backend(settings.backend);
    const all = { database: this.users, cache: this.cache, backend: this.backend };
    this.#missing = new Map(Object.entries(all).filter(([, service]) => service.wanted));
  }

  /** Resolves once every service asked for was reached at least once; else a 503 that names the first one missing. */
  async reached() {
    for (const [name, service] of this.#missing) {
      try {
        await bounded(service.reach());
      } catch (error) {
        throw error instanceof Refusal ? error : unavailable(name, error);
      }
      this.#missing.delete(name);
    }
  }

  async close() {
    await Promise.allSettled([this.users.close(), this.cache.close(), this.backend.close()]);
  }
}

async function bounded(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(reject, REACH_TIMEOUT_MS, new Error(`no answer within ${REACH_TIMEOUT_MS} ms`));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
