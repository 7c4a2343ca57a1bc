// The environment, read once at the start. A value that cannot be understood
// ends the start with a message that names the variable; nothing is guessed.

import { resolve } from 'node:path';

const UNIT_MS = { ns: 1e-6, us: 1e-3, ms: 1, s: 1e3, m: 60e3, h: 3600e3 };

/** A variable of the environment has a value that means nothing. */
export class SettingError extends Error {
  constructor(name, value, wanted) {
    super(`${name}=${JSON.stringify(value)}: set it to ${wanted}, or leave it out`);
  }
}

/**
 * Reads what all targets share.
 * @param {NodeJS.ProcessEnv} env
 */
export function readSettings(env) {
  return {
    listen: address(env, 'LISTEN', '127.0.0.1:8080'),
    filesDir: resolve(env.FILES_DIR || '../../files'),
    jwtSecret: env.JWT_SECRET || 'prony-contract-secret',
    accessLog: env.ACCESS_LOG || '/dev/null',
    clusterWorkers: integer(env, 'CLUSTER_WORKERS', 1, 1, 256),
    keepAliveTimeoutMs: durationMs(env, 'KEEPALIVE_TIMEOUT', 120_000),
    logEveryRequest: boolean(env, 'LOGGER', false),
    requestTimes: boolean(env, 'REQUEST_TIMES', false),
    database: database(env),
    cache: endpoint(env, 'REDIS'),
    backend: backend(env),
  };
}

function database(env) {
  const at = endpoint(env, 'MARIADB');
  return at && {
    ...at,
    user: env.MARIADB_USER || 'prony',
    password: env.MARIADB_PASSWORD ?? '',
    database: env.MARIADB_DATABASE || 'prony',
    openMax: integer(env, 'DB_MAX_OPEN', 100, 1, 10_000),
  };
}

function backend(env) {
  const at = endpoint(env, 'GRPC');
  if (!at) return undefined;
  if (!env.GRPC_CA_FILE) throw new SettingError('GRPC_CA_FILE', '', 'the certificate that the backend is checked against');
  return { ...at, caFile: env.GRPC_CA_FILE };
}

// No address is no error: the routes that need the service answer 503.
function endpoint(env, prefix) {
  const host = env[`${prefix}_HOST`];
  if (!host || !env[`${prefix}_PORT`]) return undefined;
  return { host, port: integer(env, `${prefix}_PORT`, undefined, 1, 65_535) };
}

function address(env, name, fallback) {
  const text = env[name] || fallback;
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  const digits = /^[0-9]{1,5}$/.test(text.slice(colon + 1));
  if (colon < 1 || !digits || port > 65_535) throw new SettingError(name, text, 'a host:port');
  return { host: text.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port };
}

/** An integer from least to most. */
export function integer(env, name, fallback, least, most) {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new SettingError(name, text, `an integer from ${least} to ${most}`);
}

/** true or false. */
export function boolean(env, name, fallback) {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new SettingError(name, text, 'true or false');
}

// A timer of Node holds 31 bits of milliseconds; an hour is more than any keep-alive needs.
function durationMs(env, name, fallback) {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const parts = /^([0-9]{1,9}(?:\.[0-9]{1,9})?)(ns|us|ms|s|m|h)$/.exec(text);
  const value = parts ? Math.round(Number(parts[1]) * UNIT_MS[parts[2]]) : NaN;
  if (value >= 1 && value <= UNIT_MS.h) return value;
  throw new SettingError(name, text, 'a duration from 1ms to 1h, for example 75s');
}
