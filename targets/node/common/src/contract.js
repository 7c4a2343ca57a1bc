// The answers that every Node target must give alike: the envelope, the rules
// for numbers and keys, and the records of /json/{n}.
//
// It builds values only. Routing and JSON encoding are what a framework does,
// and so what is measured; they stay in each target. Nothing is cached: each
// call builds its own values, because that work belongs to the request.

import { Refusal } from './refusal.js';

const COUNT_MAX = 1000;
const RECORDS_PER_COUNT = 8;
const QUERIES_MAX = 20;
const LAYERS_MAX = 3;
const TAGS = ['alpha', 'beta', 'gamma'];

/** Wraps the data of a good answer. */
export function ok(data) {
  return { code: 0, msg: 'ok', data };
}

/** The envelope of an error; status is its code. */
export function failure(status, message) {
  return { code: status, msg: message, data: {} };
}

/** n of /json/{n} and /grpc/{n}: a plain decimal number from 1 to 1000. */
export function parseCount(text) {
  return within(text, 1, COUNT_MAX, 'n');
}

/** q of /db/{id}?queries=q: a plain decimal number from 1 to 20. */
export function parseQueries(text) {
  return within(text, 1, QUERIES_MAX, 'queries');
}

/** k of /middleware/{k}: 0 to 3. */
export function parseLayers(text) {
  return within(text, 0, LAYERS_MAX, 'the number of layers');
}

/** id of /db/{id}: any plain decimal number; what is too large for one becomes Infinity, which no user has. */
export function parseId(text) {
  if (!isPlainDecimal(text)) throw new Refusal(400, 'id must be a plain decimal number');
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : Infinity;
}

/** key of /cache/{key}: 1 to 64 of a-z A-Z 0-9 _ - */
export function parseKey(text) {
  if (typeof text === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new Refusal(400, 'the key must be 1 to 64 of a-z A-Z 0-9 _ -');
}

/** name of /db/scan?name=…: given once and not empty. */
export function parseName(text) {
  if (typeof text === 'string' && text !== '') return text;
  throw new Refusal(400, 'name is missing: /db/scan?name=user-000007');
}

/** The 8n records of /json/{n}, numbered from 1. The caller has checked n with parseCount. */
export function records(n) {
  return Array.from({ length: RECORDS_PER_COUNT * n }, (_, k) => record(k + 1));
}

function record(id) {
  const name = `user-${String(id).padStart(6, '0')}`;
  return {
    id,
    name,
    email: `${name}@example.com`,
    age: 18 + ((id * 7) % 50),
    active: id % 2 === 0,
    score: id * 1.5,
    tags: TAGS.map((_, k) => TAGS[(k + id) % TAGS.length]),
  };
}

function within(text, least, most, what) {
  const value = isPlainDecimal(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new Refusal(400, `${what} must be an integer from ${least} to ${most}`);
}

// "+1", "01" and "1.0" are refused, so that targets in languages whose parsers
// differ there can agree.
function isPlainDecimal(text) {
  return typeof text === 'string' && /^(?:0|[1-9][0-9]*)$/.test(text);
}
