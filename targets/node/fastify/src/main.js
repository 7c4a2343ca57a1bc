// Fastify as a target: reads the environment, opens the services, serves.

import { RequestCounter, boolean, listen, main, openAccessLog, runtimeReader, Services } from '@prony/target-common';

import { buildApp } from './app.js';

await main(async (settings) => {
  const services = new Services(settings);
  const accessLog = await openAccessLog(settings.accessLog);
  const requests = new RequestCounter(settings.requestTimes);
  const app = await buildApp({
    settings,
    services,
    accessLog,
    times: requests.times,
    readRuntime: runtimeReader(requests, () => services.users.pool()),
    schemas: boolean(process.env, 'SCHEMA_SERIALIZATION', true),
    http2: boolean(process.env, 'HTTP2', false),
  });
  await app.ready();
  requests.watch(app.server);
  await listen(app.server, settings.listen);
  return {
    server: app.server,
    async close() {
      await app.close();
      await services.close();
      await accessLog.flush();
    },
  };
});
