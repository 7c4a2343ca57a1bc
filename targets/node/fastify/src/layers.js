// The layers as Fastify hooks, so that a route takes only those it names.

import { traceparent } from '@prony/target-common';

/** @returns hooks log (onResponse), token and trace (onRequest) */
export function layers(accessLog, subjectOf) {
  return {
    log(request, reply, done) {
      const path = request.url.split('?', 1)[0];
      accessLog.answered(request.method, path, reply.statusCode, reply.elapsedTime);
      done();
    },
    token(request, reply, done) {
      request.subject = subjectOf(request.headers.authorization);
      done();
    },
    trace(request, reply, done) {
      reply.header('traceparent', traceparent(request.headers.traceparent));
      done();
    },
  };
}
