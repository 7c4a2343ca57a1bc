// Starts a target and stops it with grace: in this process, or in cluster
// workers under a process that only supervises.
//
// TERM and INT stop accepting, let requests in flight end, and close the
// services; what is open after the grace is cut off and the exit status is 1.
// A second signal ends the process at once. A worker that ends before it
// listens ends them all, since the next one would fail in the same way; one
// that ends later is replaced.

import cluster from 'node:cluster';
import { once } from 'node:events';

import { relay } from './fleet.js';
import { readSettings } from './settings.js';

// The contract gives 5 s from the signal to the free port.
const GRACE_MS = 4_500;
// Time for a request that was on its way in a new connection to arrive.
const SILENT_MS = 300;
const SWEEP_MS = 50;
const SIGNALS = ['SIGTERM', 'SIGINT'];

/**
 * @typedef {object} Running
 * @property {import('node:http').Server} server listens already
 * @property {() => Promise<void>} close stops accepting; resolves when requests in flight are answered and services closed
 */

/**
 * Runs a target until it is asked to stop; ends the process.
 * @param {(settings: ReturnType<typeof readSettings>) => Promise<Running>} start
 */
export async function main(start) {
  try {
    const settings = readSettings(process.env);
    if (settings.clusterWorkers > 1 && cluster.isPrimary) await supervise(settings.clusterWorkers);
    else await serve(start, settings);
  } catch (error) {
    fail(explained(error));
  }
}

async function serve(start, settings) {
  const running = await start(settings);
  const { address, family, port } = running.server.address();
  console.error(`listening on ${family === 'IPv6' ? `[${address}]` : address}:${port}`);
  const sockets = new Set();
  running.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  onStopSignal(() => stop(running, sockets));
}

async function stop({ server, close }, sockets) {
  const since = performance.now();
  // Node waits for connections that turn idle only now, and for those that never
  // sent a byte, although nothing is in flight there.
  setInterval(() => {
    server.closeIdleConnections();
    if (performance.now() - since < SILENT_MS) return;
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }, SWEEP_MS);
  const timer = setTimeout(() => {
    server.closeAllConnections();
    fail(`connections still open ${GRACE_MS} ms after the stop signal were cut off`);
  }, GRACE_MS);
  await close();
  clearTimeout(timer);
  process.exit(0);
}

async function supervise(count) {
  let stopping = false;
  let failed = 0;
  onStopSignal(() => {
    stopping = true;
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
  });
  cluster.on('exit', (worker, code, signal) => {
    if (code !== 0) failed ||= code ?? 1;
    if (!stopping && !worker.listened) {
      stopping = true;
      failed ||= 1;
      console.error(`error: a worker ended (${signal ?? `status ${code}`}) before it listened; its message is above`);
      for (const other of Object.values(cluster.workers)) other.process.kill('SIGTERM');
    }
    if (!stopping) cluster.fork();
    else if (Object.keys(cluster.workers).length === 0) process.exit(failed ? 1 : 0);
  });
  relay();
  cluster.on('listening', (worker) => { worker.listened = true; });
  for (let k = 0; k < count; k += 1) cluster.fork();
}

function onStopSignal(act) {
  let asked = false;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // Ctrl-C reaches workers twice: from the terminal and from their supervisor.
      if (asked && signal === 'SIGINT' && cluster.isWorker) return;
      if (asked) fail('ended at once by a second signal');
      asked = true;
      act();
    });
  }
}

/** Binds the address; its error says what to do. */
export async function listen(server, { host, port }) {
  server.listen(port, host);
  await once(server, 'listening');
}

function explained(error) {
  if (!['listen', 'bind', 'getaddrinfo'].includes(error?.syscall)) return error?.message ?? String(error);
  if (error.code === 'EADDRINUSE') {
    return `${error.address}:${error.port} is taken: stop the process that holds it, or set LISTEN to a free host:port`;
  }
  return `cannot listen: set LISTEN to a host:port of this machine (${error.message})`;
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
