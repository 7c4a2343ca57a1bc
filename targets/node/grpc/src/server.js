// The server with the contract, the standard health service and reflection.

import { fileURLToPath } from 'node:url';

import { Server, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';

import { methods } from './methods.js';

// A copy of targets/proto/contract.proto; a test holds the two together.
export const PROTO = fileURLToPath(new URL('../proto/contract.proto', import.meta.url));

/**
 * @param {object} knobs
 * @param {number} knobs.streamsMax calls of a connection at a time
 */
export function buildServer({ streamsMax }) {
  const definition = loadSync(PROTO, { defaults: true, longs: Number });
  const { Contract } = loadPackageDefinition(definition).prony.contract.v1;
  const server = new Server({ 'grpc.max_concurrent_streams': streamsMax });
  server.addService(Contract.service, methods());
  new HealthImplementation({ '': 'SERVING' }).addToServer(server);
  new ReflectionService(definition).addToServer(server);
  return server;
}
