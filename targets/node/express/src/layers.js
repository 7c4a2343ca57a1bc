// The layers as Express middleware, so that a route takes only those it names.

import { traceparent } from '@prony/target-common';

/** @returns middleware log, token and trace */
export function layers(accessLog, subjectOf) {
  return {
    log(req, res, next) {
      const since = performance.now();
      const path = req.originalUrl.split('?', 1)[0];
      res.once('finish', () => accessLog.answered(req.method, path, res.statusCode, performance.now() - since));
      next();
    },
    token(req, res, next) {
      res.locals.subject = subjectOf(req.get('authorization'));
      next();
    },
    trace(req, res, next) {
      res.set('traceparent', traceparent(req.get('traceparent')));
      next();
    },
  };
}
