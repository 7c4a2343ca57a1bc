// @grpc/grpc-js as a target: reads the environment, serves, ends with grace.
// Deliberately absent: TLS, cluster workers, and any log per call.

import { ServerCredentials } from '@grpc/grpc-js';
import { SettingError, integer, readSettings } from '@prony/target-common';

import { buildServer } from './server.js';

// The contract gives 5 s from the signal to the free port.
const GRACE_MS = 4_500;

try {
  const { host, port } = readSettings(process.env).listen;
  const streamsMax = integer(process.env, 'STREAMS_MAX', 1000, 1, 1_000_000);
  const server = buildServer({ streamsMax });
  server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
    if (error) fail(`cannot listen: set LISTEN to a free host:port of this machine (${error.message})`);
    console.error(`listening on ${host}:${bound}`);
  });
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => {
      setTimeout(() => fail(`calls still open ${GRACE_MS} ms after the stop signal were cut off`), GRACE_MS);
      server.tryShutdown(() => process.exit(0));
    });
  }
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  fail(error.message);
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
