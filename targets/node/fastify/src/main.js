// Fastify as a target: reads the environment, opens the services, serves.

import { boolean, listen, main, openAccessLog, runtimeReader, Services } from '@prony/target-common';

import { buildApp } from './app.js';

await main(async (settings) => {
  const services = new Services(settings);
  const accessLog = await openAccessLog(settings.accessLog);
  const app = await buildApp({
    settings,
    services,
    accessLog,
    readRuntime: runtimeReader(),
    schemas: boolean(process.env, 'SCHEMA_SERIALIZATION', true),
  });
  await app.ready();
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
