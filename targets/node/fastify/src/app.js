// The routes of the contract in Fastify. Handlers return data; Fastify encodes
// it, through compiled response schemas where they are switched on.
//
// Absent: a request log outside the log layer, unless LOGGER=true asks for it.

import fastifyStatic from '@fastify/static';
import {
  FILES, Refusal, TIMEOUTS, UPLOAD_BYTES_MAX, bothVersions, digest, failure, ok, parseCount, parseId, parseKey,
  parseLayers, parseName, parseQueries, records, statusOf, tokenChecker,
} from '@prony/target-common';
import Fastify from 'fastify';

import { layers } from './layers.js';
import { schemas as responseSchemas } from './schemas.js';

/**
 * @param {object} parts settings, services, accessLog, readRuntime, whether schemas encode the answers, whether HTTP/2 is taken too, and times where requests are timed
 */
export async function buildApp({ settings, services, accessLog, readRuntime, schemas, http2, times }) {
  const limits = {
    headersTimeout: TIMEOUTS.headersMs,
    connectionsCheckingInterval: TIMEOUTS.checkMs,
    maxHeaderSize: TIMEOUTS.headerBytesMax,
  };
  const app = Fastify({
    logger: false,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    requestTimeout: TIMEOUTS.requestMs,
    http: limits,
    ...(http2 && {
      serverFactory: (handler) => bothVersions({
        ...limits, keepAliveTimeout: settings.keepAliveTimeoutMs, requestTimeout: TIMEOUTS.requestMs,
      }, handler),
    }),
    // A request that was on its way when the stop signal came is answered.
    return503OnClosing: false,
    // A path that cannot be decoded never reaches the error handler.
    frameworkErrors: (error, request, reply) => {
      reply.code(statusOf(error)).send(failure(statusOf(error), error.message));
    },
    forceCloseConnections: 'idle',
  });
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error);
    reply.code(status).send(failure(status, error.message));
  });
  app.setNotFoundHandler((request, reply) => {
    reply.code(404).send(failure(404, 'no such path'));
  });
  await app.register(fastifyStatic, { root: settings.filesDir, serve: false, etag: false, lastModified: false });

  const hooks = layers(accessLog, tokenChecker(settings.jwtSecret));
  if (settings.logEveryRequest) app.addHook('onResponse', hooks.log);
  const withSchema = (name) => (schemas ? { schema: responseSchemas[name] } : {});
  addAnswers(app, withSchema, readRuntime, services);
  if (times) app.get('/debug/requests', async (request, reply) => reply.type('text/plain').send(times.text()));
  addDatabase(app, withSchema, services);
  addServices(app, withSchema, services);
  addBytes(app, withSchema);
  addGuarded(app, withSchema, hooks, settings.logEveryRequest);
  return app;
}

function addAnswers(app, withSchema, readRuntime, services) {
  app.get('/ping', withSchema('ping'), async () => ok({}));
  app.get('/json/:n', withSchema('records'), async (request) => ok(records(parseCount(request.params.n))));
  app.get('/health', withSchema('health'), async () => {
    await services.reached();
    return { status: 'ok' };
  });
  app.get('/debug/runtime', async (request) => readRuntime(request.query.window === 'new'));
}

function addDatabase(app, withSchema, { users }) {
  app.get('/db/scan', withSchema('users'), async (request) => {
    return ok({ users: await users.byName(parseName(request.query.name)) });
  });
  app.get('/db/:id', withSchema('user'), async (request) => {
    const id = parseId(request.params.id);
    const { queries } = request.query;
    if (queries === undefined) return ok(await users.byId(id));
    return ok({ users: await users.sequence(id, parseQueries(queries)) });
  });
}

function addServices(app, withSchema, { users, cache, backend }) {
  app.get('/cache/:key', withSchema('cache'), async (request) => ok(await cache.lookUp(parseKey(request.params.key))));
  app.get('/grpc/:n', withSchema('records'), async (request) => ok(await backend.list(parseCount(request.params.n))));
  app.get('/mixed', withSchema('mixed'), async (request) => {
    const id = parseId(request.query.id ?? '1');
    const user = await users.byId(id);
    return ok({ user, cached: await cache.lookUp(`mixed-${id}`), records: records(1) });
  });
}

function addBytes(app, withSchema) {
  app.get('/file/:name', (request, reply) => {
    const { name } = request.params;
    if (!FILES.has(name)) throw new Refusal(404, 'no such file');
    return reply.type('application/octet-stream').sendFile(name);
  });
  // Whatever the type says, the body is bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: UPLOAD_BYTES_MAX }, (request, body, done) => done(null, body));
  app.post('/upload', { ...withSchema('upload'), bodyLimit: UPLOAD_BYTES_MAX }, async (request) => {
    return ok(digest(request.body ?? Buffer.alloc(0)));
  });
}

function addGuarded(app, withSchema, hooks, alreadyLogged) {
  app.decorateRequest('subject', '');
  app.get('/auth', { ...withSchema('auth'), onRequest: hooks.token }, async (request) => ok({ sub: request.subject }));

  const log = alreadyLogged ? {} : { onResponse: hooks.log };
  const behind = [
    {},
    { ...log },
    { ...log, onRequest: hooks.token },
    { ...log, onRequest: [hooks.token, hooks.trace] },
  ];
  behind.forEach((layer, k) => {
    app.get(`/middleware/${k}`, { ...withSchema('middleware'), ...layer }, async () => ok({ layers: k }));
  });
  app.get('/middleware/:k', withSchema('middleware'), async (request) => ok({ layers: parseLayers(request.params.k) }));
}
