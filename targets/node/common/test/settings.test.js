// What the environment sets, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Services } from '../src/services.js';
import { readSettings } from '../src/settings.js';

test('defaults', () => {
  const settings = readSettings({});
  assert.deepEqual(settings.listen, { host: '127.0.0.1', port: 8080 });
  assert.equal(settings.clusterWorkers, 1);
  assert.equal(settings.keepAliveTimeoutMs, 120_000);
  assert.equal(settings.database, undefined);
});

test('values', () => {
  const settings = readSettings({ LISTEN: '[::1]:0', KEEPALIVE_TIMEOUT: '2m', LOGGER: 'true', CLUSTER_WORKERS: '4' });
  assert.deepEqual(settings.listen, { host: '::1', port: 0 });
  assert.equal(settings.keepAliveTimeoutMs, 120_000);
  assert.equal(settings.logEveryRequest, true);
  assert.equal(settings.clusterWorkers, 4);
});

test('a wrong value names its variable', () => {
  const wrong = {
    LISTEN: 'nowhere', KEEPALIVE_TIMEOUT: '5 weeks', LOGGER: 'yes', REQUEST_TIMES: '1', CLUSTER_WORKERS: '0',
  };
  for (const [name, value] of Object.entries(wrong)) {
    assert.throws(() => readSettings({ [name]: value }), new RegExp(name), name);
  }
  assert.throws(() => readSettings({ GRPC_HOST: 'a', GRPC_PORT: '1' }), /GRPC_CA_FILE/);
});

test('without addresses the target is ready, and what needs a service is 503', async () => {
  const services = new Services(readSettings({}));
  await services.reached();
  const missing = (error) => error.statusCode === 503;
  await assert.rejects(services.users.byId(1), missing);
  await assert.rejects(services.cache.lookUp('a'), missing);
  assert.throws(() => services.backend.list(1), missing);
});

test('a database that is not there is 503 and not ready', async () => {
  // Port 1 of loopback is refused at once.
  const services = new Services(readSettings({ MARIADB_HOST: '127.0.0.1', MARIADB_PORT: '1' }));
  try {
    await assert.rejects(services.reached(), (error) => error.statusCode === 503);
  } finally {
    await services.close();
  }
});
