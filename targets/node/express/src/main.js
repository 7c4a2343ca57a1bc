// Express as a target: reads the environment, opens the services, serves.

import { RequestCounter, listen, main, openAccessLog, runtimeReader, Services } from '@prony/target-common';

import { buildServer } from './app.js';

await main(async (settings) => {
  const services = new Services(settings);
  const accessLog = await openAccessLog(settings.accessLog);
  const requests = new RequestCounter(settings.requestTimes);
  const server = buildServer({
    settings,
    services,
    accessLog,
    times: requests.times,
    readRuntime: runtimeReader(requests, () => services.users.pool()),
  });
  requests.watch(server);
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
