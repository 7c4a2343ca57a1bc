// The table users in MariaDB, through a pool of mysql2 connections with
// prepared statements.
//
// At most openMax connections, 20 of them idle, 30 minutes of life, 500 ms to
// get one. mysql2 knows neither the last nor the last but one, so they are
// here. Anything that goes wrong with the database is a 503.

import mysql from 'mysql2/promise';

import { Refusal, unavailable } from './refusal.js';

const IDLE_MAX = 20;
const LIFE_MS = 30 * 60_000;
const ACQUIRE_TIMEOUT_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;
// A surplus idle connection is closed after this; mysql2 looks once a second.
const SURPLUS_IDLE_MS = 1_000;
// Callers that gave up stay queued in mysql2 until a connection is free.
const QUEUE_MAX = 10_000;
// The table's last id; after it comes 1.
const ID_MAX = 100_000;

const COLUMNS = 'id, name, email, age, active, score';
const BY_ID = `SELECT ${COLUMNS} FROM users WHERE id = ?`;
const BY_NAME = `SELECT ${COLUMNS} FROM users WHERE name = ?`;

export class Users {
  #pool;
  #openMax = 0;
  #waits = 0;
  #waitMs = 0;
  #born = new WeakMap();

  /** @param {object} [at] address and account; without it every call is refused with 503 */
  constructor(at) {
    if (!at) return;
    this.#openMax = at.openMax;
    this.#pool = mysql.createPool({
      host: at.host,
      port: at.port,
      user: at.user,
      password: at.password,
      database: at.database,
      connectionLimit: at.openMax,
      maxIdle: Math.min(IDLE_MAX, at.openMax),
      idleTimeout: SURPLUS_IDLE_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
      queueLimit: QUEUE_MAX,
      enableKeepAlive: true,
    });
    this.#pool.on('connection', (connection) => this.#born.set(connection, performance.now()));
  }

  /** Whether an address was given. */
  get wanted() {
    return this.#pool !== undefined;
  }

  /** Resolves once the table answered. */
  async reach() {
    await this.#select(BY_ID, [1]);
  }

  /** The user with this id; 404 where there is none. */
  async byId(id) {
    // The statement is not asked for what no column can hold.
    const [row] = id <= Number.MAX_SAFE_INTEGER ? await this.#select(BY_ID, [id]) : [];
    if (!row) throw new Refusal(404, 'no such user');
    return user(row);
  }

  /** count users from id on, one statement each, one after the other. */
  async sequence(id, count) {
    const users = [];
    for (let next = id; users.length < count; next = next === ID_MAX ? 1 : next + 1) {
      users.push(await this.byId(next));
    }
    return users;
  }

  /** All users of this name; the column has no index. */
  async byName(name) {
    const rows = await this.#select(BY_NAME, [name]);
    return rows.map(user);
  }

  async close() {
    await this.#pool?.end();
  }

  /**
   * For /debug/runtime: the pool now, and how often and how long callers waited for a connection that others had, in
   * all. Null where there is none. Numbers of connections are read from mysql2's own queues, since it does not tell
   * them; where a version lacks one, it is null.
   */
  pool() {
    if (!this.#pool) return null;
    const { _allConnections: all, _freeConnections: free, _connectionQueue: queue } = this.#pool.pool;
    const known = all && free;
    return {
      max: this.#openMax,
      open: all?.length ?? null,
      idle: free?.length ?? null,
      in_use: known ? all.length - free.length : null,
      waiting: queue?.length ?? null,
      waits: this.#waits,
      wait_ns: Math.round(this.#waitMs * 1e6),
    };
  }

  async #select(sql, values) {
    if (!this.#pool) throw unavailable('database', 'MARIADB_HOST and MARIADB_PORT are not set');
    try {
      const connection = await this.#acquire();
      try {
        const [rows] = await connection.execute(sql, values);
        return rows;
      } finally {
        this.#release(connection);
      }
    } catch (error) {
      throw unavailable('database', error);
    }
  }

  async #acquire() {
    const { _allConnections: all, _freeConnections: free } = this.#pool.pool;
    // A connection that is free or may yet be made is not waited for.
    if (free?.length === 0 && all?.length >= this.#openMax) return this.#waitFor();
    return this.#connection();
  }

  async #waitFor() {
    const since = performance.now();
    try {
      return await this.#connection();
    } finally {
      this.#waits += 1;
      this.#waitMs += performance.now() - since;
    }
  }

  async #connection() {
    const pending = this.#pool.getConnection();
    let timer;
    const late = new Promise((_, reject) => {
      const error = new Error(`no free connection within ${ACQUIRE_TIMEOUT_MS} ms`);
      timer = setTimeout(reject, ACQUIRE_TIMEOUT_MS, error);
    });
    try {
      return await Promise.race([pending, late]);
    } catch (error) {
      // One that comes too late goes back at once.
      pending.then((connection) => this.#release(connection), () => {});
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #release(connection) {
    const born = this.#born.get(connection.connection) ?? performance.now();
    if (performance.now() - born > LIFE_MS) connection.destroy();
    else connection.release();
  }
}

function user(row) {
  return { ...row, active: row.active === 1 };
}
