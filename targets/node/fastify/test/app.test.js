// The routes that need no service, asked over a real connection as the
// contract files do; those with services are what `prony targets check` asks.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

import { RequestCounter, Services, listen, openAccessLog, readSettings, runtimeReader } from '@prony/target-common';

import { buildApp } from '../src/app.js';

const FILES = new URL('../../../files', import.meta.url).pathname;
const TOKEN = 'Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c2VyLTciLCJleHAiOjQxMDI0NDQ4MDB9.'
  + 'ZfyOs_wLGeG2YJ1XKe7IYpXLmdJkctKTZ1tpKvKVQNQ';

for (const schemas of [true, false]) {
  test(`answers, schemas ${schemas}`, async (t) => {
    const ask = await started(t, schemas);
    const cases = [
      ['/ping', {}, 200, { code: 0, msg: 'ok', data: {} }],
      ['/health', {}, 200, { status: 'ok' }],
      ['/middleware/0', {}, 200, { code: 0, msg: 'ok', data: { layers: 0 } }],
      ['/middleware/2', { authorization: TOKEN }, 200, { code: 0, msg: 'ok', data: { layers: 2 } }],
      ['/auth', { authorization: TOKEN }, 200, { code: 0, msg: 'ok', data: { sub: 'user-7' } }],
    ];
    for (const [path, headers, status, body] of cases) {
      const answer = await ask(path, { headers });
      assert.equal(answer.status, status, path);
      assert.deepEqual(await answer.json(), body, path);
    }
    const list = await (await ask('/json/2')).json();
    assert.equal(list.data.length, 16);
    assert.deepEqual(list.data[0].tags, ['beta', 'gamma', 'alpha']);
  });
}

test('errors have the envelope', async (t) => {
  const ask = await started(t, true);
  const cases = [
    ['/json/0', 400], ['/json/%zz', 400], ['/middleware/4', 400], ['/middleware/2', 401], ['/auth', 401],
    ['/db/1', 503], ['/db/x', 400], ['/db/scan', 400], ['/db/1?queries=21', 400], ['/cache/a%20b', 400],
    ['/grpc/0', 400], ['/mixed?id=x', 400], ['/file/2k', 404], ['/file/..%2f..%2fetc%2fpasswd', 404], ['/nope', 404],
  ];
  for (const [path, status] of cases) {
    const answer = await ask(path);
    assert.equal(answer.status, status, path);
    const { code, msg, data } = await answer.json();
    assert.equal(code, status, path);
    assert.equal(typeof msg, 'string');
    assert.deepEqual(data, {}, path);
  }
});

test('bytes go out and come in whole', async (t) => {
  const ask = await started(t, true);
  const file = await ask('/file/64k');
  assert.equal(file.headers.get('content-type'), 'application/octet-stream');
  const body = Buffer.from(await file.arrayBuffer());
  assert.equal(body.length, 65_536);
  const { data } = await (await ask('/upload', { method: 'POST', body })).json();
  assert.deepEqual(data, {
    bytes: 65_536, sha256: '62b3a2ef06cf977623a5936a8fa653e3caecbf69b5f393ebdfe5022affc5331f',
  });
  const tooLarge = await ask('/upload', { method: 'POST', body: Buffer.alloc((16 << 20) + 1) });
  assert.equal(tooLarge.status, 413);
});

test('the third layer answers with a trace of its own', async (t) => {
  const ask = await started(t, true);
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { authorization: TOKEN, traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  const answer = await ask('/middleware/3', { headers });
  assert.match(answer.headers.get('traceparent'), new RegExp(`^00-${trace}-`));
});

test('requests are counted but not the readings', async (t) => {
  const ask = await started(t, true);
  const count = async () => (await (await ask('/debug/runtime')).json()).requests;
  const before = await count();
  for (let k = 0; k < 5; k += 1) assert.equal((await ask('/ping')).status, 200);
  assert.equal((await ask('/nope')).status, 404);
  assert.equal((await count()) - before, 6);
});

test('requests are timed where that is asked for', async (t) => {
  assert.equal((await (await started(t, true))('/debug/requests')).status, 404);
  const ask = await started(t, true, true);
  for (const path of ['/ping', '/nope', '/debug/runtime']) await (await ask(path)).text();
  assert.match(await (await ask('/debug/requests')).text(), /^http_request_duration_seconds_count 2$/m);
});

test('one port speaks both versions', async (t) => {
  const ask = await started(t, true, false, true);
  const ping = { code: 0, msg: 'ok', data: {} };
  assert.deepEqual(await (await ask('/ping')).json(), ping);
  const session = connect(new URL(ask.origin));
  t.after(() => session.close());
  const [first, second] = await Promise.all(['/ping', '/json/1'].map(async (path) => {
    const stream = session.request({ ':path': path });
    const [headers] = await once(stream, 'response');
    assert.equal(headers[':status'], 200, path);
    return JSON.parse(await text(stream));
  }));
  assert.deepEqual(first, ping);
  assert.equal(second.data.length, 8);
  const missing = session.request({ ':path': '/nope' });
  const [headers] = await once(missing, 'response');
  assert.equal(headers[':status'], 404);
  missing.resume();
  const { requests } = await (await ask('/debug/runtime')).json();
  assert.equal(requests, 4);
});

async function started(t, schemas, timed = false, http2 = false) {
  const settings = readSettings({ LISTEN: '127.0.0.1:0', FILES_DIR: FILES });
  const requests = new RequestCounter(timed);
  const app = await buildApp({
    settings,
    schemas,
    http2,
    services: new Services(settings),
    accessLog: await openAccessLog('/dev/null'),
    readRuntime: runtimeReader(requests),
    times: requests.times,
  });
  await app.ready();
  requests.watch(app.server);
  await listen(app.server, settings.listen);
  t.after(() => app.close());
  const origin = `http://127.0.0.1:${app.server.address().port}`;
  return Object.assign((path, options) => fetch(origin + path, options), { origin });
}
