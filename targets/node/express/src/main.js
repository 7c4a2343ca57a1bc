// Express as a target: reads the environment, opens the services, serves.

import { listen, main, openAccessLog, runtimeReader, Services } from '@prony/target-common';

import { buildServer } from './app.js';

await main(async (settings) => {
  const services = new Services(settings);
  const accessLog = await openAccessLog(settings.accessLog);
  const server = buildServer({ settings, services, accessLog, readRuntime: runtimeReader() });
  await listen(server, settings.listen);
  return {
    server,
    async close() {
      await new Promise((resolve) => { server.close(resolve); });
      await services.close();
      await accessLog.flush();
    },
  };
});
