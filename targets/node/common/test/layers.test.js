// What each layer of /middleware does to a request.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Writable } from 'node:stream';
import { test } from 'node:test';

import { accessLog, openAccessLog, traceparent } from '../src/layers.js';
import { tokenChecker } from '../src/token.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a good traceparent keeps its trace and flags, with a new span', () => {
  for (const flags of ['01', '00']) {
    const answer = traceparent(`00-${TRACE}-${SPAN}-${flags}`);
    assert.match(answer, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-${flags}$`));
    assert.ok(!answer.includes(SPAN));
  }
});

test('a missing or wrong traceparent is replaced', () => {
  const wrong = [
    undefined, '', 'x', `00-${TRACE}-${SPAN}`, `ff-${TRACE}-${SPAN}-01`, `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`, `00-${TRACE.toUpperCase()}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01-x`,
  ];
  for (const header of wrong) {
    const answer = traceparent(header);
    assert.match(answer, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/, header);
    assert.ok(!answer.includes(TRACE), header);
  }
  assert.match(traceparent(`01-${TRACE}-${SPAN}-01-more`), new RegExp(`^00-${TRACE}-`));
});

test('one line for one answer', async () => {
  const lines = [];
  const log = accessLog(new Writable({ write(chunk, _, done) { lines.push(JSON.parse(chunk)); done(); } }));
  log.answered('GET', '/middleware/1', 200, 1.5);
  assert.equal(lines.length, 1);
  const { method, path, status, duration_ms, time } = lines[0];
  assert.deepEqual({ method, path, status, duration_ms }, { method: 'GET', path: '/middleware/1', status: 200, duration_ms: 1.5 });
  assert.ok(!Number.isNaN(Date.parse(time)));
});

test('a log that cannot be written says which variable is wrong', async () => {
  await assert.rejects(openAccessLog('/nowhere/at/all'), /ACCESS_LOG/);
});

test('only HS256 tokens with an end in the future and a subject pass', () => {
  const check = tokenChecker('secret');
  const later = Math.floor(Date.now() / 1000) + 3600;
  assert.equal(check(`Bearer ${token('HS256', { sub: 'user-7', exp: later })}`), 'user-7');
  const bad = {
    'no header': undefined,
    'no scheme': token('HS256', { sub: 'a', exp: later }),
    'another algorithm': `Bearer ${token('HS512', { sub: 'a', exp: later })}`,
    unsigned: `Bearer ${token('none', { sub: 'a', exp: later })}`,
    'another secret': `Bearer ${token('HS256', { sub: 'a', exp: later }, 'other')}`,
    expired: `Bearer ${token('HS256', { sub: 'a', exp: 1_000_000_000 })}`,
    endless: `Bearer ${token('HS256', { sub: 'a' })}`,
    nobody: `Bearer ${token('HS256', { exp: later })}`,
    'subject no text': `Bearer ${token('HS256', { sub: 7, exp: later })}`,
    garbage: 'Bearer a.b.c',
  };
  for (const [name, header] of Object.entries(bad)) {
    assert.throws(() => check(header), (error) => error.statusCode === 401, name);
  }
});

function token(alg, claims, secret = 'secret') {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg, typ: 'JWT' })}.${part(claims)}`;
  if (alg === 'none') return `${text}.`;
  return `${text}.${createHmac(alg.replace('HS', 'sha'), secret).update(text).digest('base64url')}`;
}
