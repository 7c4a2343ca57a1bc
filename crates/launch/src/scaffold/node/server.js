// A target in Node.js with the routes that every target has: /ping, /json/{n}
// and /health. Only node:http; add your framework where it says.
import { createServer } from 'node:http';

const TAGS = ['alpha', 'beta', 'gamma'];

const ok = (data) => ({ code: 0, msg: 'ok', data });
const fail = (code, msg) => ({ code, msg, data: {} });

function record(id) {
  const name = `user-${String(id).padStart(6, '0')}`;
  return {
    id,
    name,
    email: `${name}@example.com`,
    age: 18 + ((7 * id) % 50),
    active: id % 2 === 0,
    score: 1.5 * id,
    tags: [0, 1, 2].map((step) => TAGS[(id + step) % 3]),
  };
}

// Plain decimal numbers from 1 to 1000: no sign, no leading 0.
function count(text) {
  const n = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
  return n <= 1000 ? n : 0;
}

function answer(response, status, value) {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

// This is where a framework's router would stand.
function route(request, response) {
  const path = request.url.split('?', 1)[0];
  if (request.method !== 'GET') return answer(response, 404, fail(404, 'no such route'));
  if (path === '/ping') return answer(response, 200, ok({}));
  if (path === '/health') return answer(response, 200, { status: 'ok' });
  if (path.startsWith('/json/')) {
    const n = count(path.slice('/json/'.length));
    if (n === 0) return answer(response, 400, fail(400, 'n is a whole number from 1 to 1000'));
    return answer(response, 200, ok(Array.from({ length: 8 * n }, (_, at) => record(at + 1))));
  }
  return answer(response, 404, fail(404, 'no such route'));
}

const listen = process.env.LISTEN ?? '127.0.0.1:8080';
const colon = listen.lastIndexOf(':');
const server = createServer(route);
server.listen(Number(listen.slice(colon + 1)), listen.slice(0, colon));

// Requests in flight are answered; connections that only wait are closed.
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
