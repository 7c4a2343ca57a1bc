// One port for HTTP/1.1 and, without TLS, HTTP/2: a connection that begins with
// the preface of HTTP/2 speaks it (prior knowledge, RFC 9113 section 3.3).
//
// Absent: upgrade from HTTP/1.1, which RFC 9113 has taken out.

import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n');

/**
 * A server of HTTP/1.1 that hands connections of HTTP/2 to one beside it. Requests of both go to the handler and are
 * `request` events of the server; its closeIdleConnections ends sessions of HTTP/2 when their requests are answered.
 * @param {import('node:http').ServerOptions} options those of HTTP/1.1
 * @param {import('node:http').RequestListener} handler
 * @returns {import('node:http').Server}
 */
export function bothVersions(options, handler) {
  const server = createServer(options, handler);
  const http2 = createHttp2Server((request, response) => { server.emit('request', request, response); });
  const sessions = new Set();
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  const [takeHttp1] = server.listeners('connection');
  server.removeListener('connection', takeHttp1);
  server.on('connection', (socket) => {
    const giveUp = () => socket.destroy();
    socket.once('error', giveUp);
    socket.once('readable', () => {
      const head = socket.read();
      // It was closed before it said anything.
      if (head === null) return;
      socket.removeListener('error', giveUp);
      socket.unshift(head);
      if (begins(head)) http2.emit('connection', socket);
      else takeHttp1.call(server, socket);
    });
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    closeIdle();
    for (const session of sessions) session.close();
  };
  return server;
}

/** Whether the first bytes are those of HTTP/2; four tell it from every method. */
function begins(head) {
  const length = Math.min(head.length, PREFACE.length);
  return length >= 4 && head.subarray(0, length).equals(PREFACE.subarray(0, length));
}
