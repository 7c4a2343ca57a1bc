// The routes of the contract in Express: res.json encodes, rejected promises
// reach the error handler by themselves (Express 5).
//
// Absent: a request log outside the log layer, unless LOGGER=true asks for it.

import { createServer } from 'node:http';

import {
  FILES, Refusal, TIMEOUTS, UPLOAD_BYTES_MAX, digest, failure, ok, parseCount, parseId, parseKey,
  parseLayers, parseName, parseQueries, records, statusOf, tokenChecker,
} from '@prony/target-common';
import express from 'express';

import { layers } from './layers.js';

/**
 * @param {object} parts settings, services, accessLog, readRuntime, and times where requests are timed
 * @returns {import('node:http').Server} not yet listening
 */
export function buildServer({ settings, services, accessLog, readRuntime, times }) {
  const app = express();
  app.disable('x-powered-by');
  // A checksum of every answer that nothing here asks for.
  app.disable('etag');

  const middleware = layers(accessLog, tokenChecker(settings.jwtSecret));
  if (settings.logEveryRequest) app.use(middleware.log);
  addAnswers(app, readRuntime, services);
  if (times) app.get('/debug/requests', (req, res) => { res.type('text/plain').send(times.text()); });
  addDatabase(app, services);
  addServices(app, services);
  addBytes(app, settings.filesDir);
  addGuarded(app, middleware, settings.logEveryRequest);
  addErrors(app);
  return createServer({
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    headersTimeout: TIMEOUTS.headersMs,
    requestTimeout: TIMEOUTS.requestMs,
    connectionsCheckingInterval: TIMEOUTS.checkMs,
    maxHeaderSize: TIMEOUTS.headerBytesMax,
  }, app);
}

function addAnswers(app, readRuntime, services) {
  app.get('/ping', (req, res) => { res.json(ok({})); });
  app.get('/json/:n', (req, res) => { res.json(ok(records(parseCount(req.params.n)))); });
  app.get('/health', async (req, res) => {
    await services.reached();
    res.json({ status: 'ok' });
  });
  app.get('/debug/runtime', async (req, res) => { res.json(await readRuntime(req.query.window === 'new')); });
}

function addDatabase(app, { users }) {
  app.get('/db/scan', async (req, res) => {
    res.json(ok({ users: await users.byName(parseName(req.query.name)) }));
  });
  app.get('/db/:id', async (req, res) => {
    const id = parseId(req.params.id);
    const { queries } = req.query;
    if (queries === undefined) res.json(ok(await users.byId(id)));
    else res.json(ok({ users: await users.sequence(id, parseQueries(queries)) }));
  });
}

function addServices(app, { users, cache, backend }) {
  app.get('/cache/:key', async (req, res) => { res.json(ok(await cache.lookUp(parseKey(req.params.key)))); });
  app.get('/grpc/:n', async (req, res) => { res.json(ok(await backend.list(parseCount(req.params.n)))); });
  app.get('/mixed', async (req, res) => {
    const id = parseId(req.query.id ?? '1');
    const user = await users.byId(id);
    res.json(ok({ user, cached: await cache.lookUp(`mixed-${id}`), records: records(1) }));
  });
}

function addBytes(app, root) {
  app.get('/file/:name', (req, res, next) => {
    const { name } = req.params;
    if (!FILES.has(name)) throw new Refusal(404, 'no such file');
    res.type('application/octet-stream');
    res.sendFile(name, { root, etag: false, lastModified: false }, (error) => { if (error) next(error); });
  });
  // Whatever the type says, the body is bytes.
  const whole = express.raw({ type: () => true, limit: UPLOAD_BYTES_MAX });
  app.post('/upload', whole, (req, res) => {
    // Without a body the parser leaves none.
    res.json(ok(digest(Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0))));
  });
}

function addGuarded(app, { log, token, trace }, alreadyLogged) {
  app.get('/auth', token, (req, res) => { res.json(ok({ sub: res.locals.subject })); });
  const first = alreadyLogged ? [] : [log];
  const behind = [[], first, [...first, token], [...first, token, trace]];
  behind.forEach((chain, k) => {
    app.get(`/middleware/${k}`, ...chain, (req, res) => { res.json(ok({ layers: k })); });
  });
  app.get('/middleware/:k', (req, res) => { res.json(ok({ layers: parseLayers(req.params.k) })); });
}

function addErrors(app) {
  app.use((req, res) => { res.status(404).json(failure(404, 'no such path')); });
  // Four parameters make it the error handler.
  app.use((error, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const status = statusOf(error);
    res.removeHeader('content-type');
    res.status(status).json(failure(status, error.message));
  });
}
