// How inputs of the contract are read and refused, and what its records are.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { digest } from '../src/bytes.js';
import { parseCount, parseId, parseKey, parseLayers, parseName, parseQueries, records } from '../src/contract.js';

const refused = (status) => (error) => error.statusCode === status;

test('numbers are plain decimals within their limits', () => {
  const cases = [
    [parseCount, ['1', '1000'], ['0', '1001', '+1', '01', '1.0', '1e2', ' 1', '', 'x', undefined, ['1', '2']]],
    [parseQueries, ['1', '20'], ['0', '21', '-1', '', ['1', '2']]],
    [parseLayers, ['0', '3'], ['4', '00', '-0', 'x']],
    [parseId, ['0', '7', '100000'], ['x', '', '-7', '07', '7x', undefined]],
  ];
  for (const [parse, good, bad] of cases) {
    for (const text of good) assert.equal(parse(text), Number(text), `${parse.name}(${text})`);
    for (const text of bad) assert.throws(() => parse(text), refused(400), `${parse.name}(${text})`);
  }
  assert.equal(parseId('9'.repeat(40)), Infinity);
});

test('keys and names', () => {
  assert.equal(parseKey('aZ0_-'), 'aZ0_-');
  for (const text of ['', 'a b', 'ä', 'a'.repeat(65), 'a\n']) assert.throws(() => parseKey(text), refused(400), text);
  assert.equal(parseName('user-000007'), 'user-000007');
  for (const text of [undefined, '', ['a', 'b']]) assert.throws(() => parseName(text), refused(400));
});

test('records are those of the contract', () => {
  assert.equal(records(3).length, 24);
  assert.deepEqual(records(1)[6], {
    id: 7, name: 'user-000007', email: 'user-000007@example.com', age: 67, active: false, score: 10.5,
    tags: ['beta', 'gamma', 'alpha'],
  });
});

test('an empty body has a checksum too', () => {
  assert.deepEqual(digest(Buffer.alloc(0)), {
    bytes: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  });
});

test('the proto file is that of the service', (t) => {
  const own = readFileSync(new URL('../proto/records.proto', import.meta.url), 'utf8');
  let service;
  try {
    service = readFileSync(new URL('../../../../services/grpc/proto/records.proto', import.meta.url), 'utf8');
  } catch (error) {
    t.skip(`not in the repository: ${error.message}`);
    return;
  }
  assert.equal(own, service, 'copy services/grpc/proto/records.proto to targets/node/common/proto');
});
