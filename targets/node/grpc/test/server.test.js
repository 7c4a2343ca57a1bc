// Each method as the contract says, over a real connection on loopback.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { ServerCredentials, credentials, loadPackageDefinition, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

import { PROTO, buildServer } from '../src/server.js';

const SHA256_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
let server;
let client;

before(async () => {
  server = buildServer({ streamsMax: 100 });
  const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
  const { Contract } = loadPackageDefinition(loadSync(PROTO, { defaults: true, longs: Number })).prony.contract.v1;
  client = new Contract(`127.0.0.1:${port}`, credentials.createInsecure());
});

after(() => {
  client.close();
  server.forceShutdown();
});

const call = (method, request) => promisify(client[method].bind(client))(request);

test('the file is that of all targets', () => {
  assert.equal(readFileSync(PROTO, 'utf8'), readFileSync(new URL('../../../proto/contract.proto', import.meta.url), 'utf8'));
});

test('methods with one message each way answer as the contract says', async () => {
  assert.deepEqual(await call('ping', {}), { code: 0, msg: 'ok' });
  const { data } = await call('records', { n: 3 });
  assert.equal(data.length, 24);
  assert.deepEqual(data[23], {
    id: 24, name: 'user-000024', email: 'user-000024@example.com', age: 36, active: true, score: 36, tags: ['alpha', 'beta', 'gamma'],
  });
  for (const n of [0, -1, 1001]) {
    await assert.rejects(call('records', { n }), { code: status.INVALID_ARGUMENT });
  }
  assert.deepEqual(await call('upload', { payload: Buffer.from('abc') }), { bytes: 3, sha256: SHA256_OF_ABC });
  assert.deepEqual(await call('count', {}), { calls: 6 });
});

test('streams answer as the contract says', async () => {
  const watched = await client.watch({ n: 2 }).toArray();
  assert.deepEqual(watched.map(({ id }) => id), Array.from({ length: 16 }, (_, k) => k + 1));
  const filled = new Promise((resolve, reject) => {
    const fill = client.fill((error, reply) => (error ? reject(error) : resolve(reply)));
    for (const part of ['a', 'bc']) fill.write({ payload: Buffer.from(part) });
    fill.end();
  });
  assert.deepEqual(await filled, { bytes: 3, sha256: SHA256_OF_ABC });
  const echo = client.echo();
  echo.end({ payload: Buffer.from('x') });
  assert.deepEqual((await echo.toArray()).map(({ payload }) => payload.toString()), ['x']);
  await assert.rejects(client.watch({ n: 0 }).toArray(), { code: status.INVALID_ARGUMENT });
});
