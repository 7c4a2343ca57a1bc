// The methods of the contract. Records are built for each call, because that
// work belongs to the request.

import { createHash } from 'node:crypto';

import { status } from '@grpc/grpc-js';
import { records } from '@prony/target-common';

const COUNT_MAX = 1000;

/** The methods, which count their calls together. */
export function methods() {
  let calls = 0;
  const counted = (answer) => (call, done) => {
    calls += 1;
    return answer(call, done);
  };
  return {
    ping: counted((_, done) => done(null, { code: 0, msg: 'ok' })),
    records: counted(({ request }, done) => {
      if (isCount(request.n)) done(null, { code: 0, msg: 'ok', data: records(request.n) });
      else done(badCount(request.n));
    }),
    upload: counted(({ request }, done) => {
      const sum = new Sum();
      sum.add(request);
      done(null, sum.reply());
    }),
    count: (_, done) => done(null, { calls }),
    watch: counted(async (call) => {
      const { n } = call.request;
      if (!isCount(n)) return call.emit('error', badCount(n));
      for (const record of records(n)) {
        if (call.cancelled) return call.end();
        if (!call.write(record)) await new Promise((resolve) => { call.once('drain', resolve).once('cancelled', resolve); });
      }
      return call.end();
    }),
    fill: counted((call, done) => {
      const sum = new Sum();
      call.on('data', (request) => sum.add(request));
      call.on('end', () => done(null, sum.reply()));
    }),
    echo: counted((call) => {
      call.on('data', (request) => {
        if (call.write(request)) return;
        call.pause();
        call.once('drain', () => call.resume());
      });
      call.on('end', () => call.end());
    }),
  };
}

function isCount(n) {
  return n >= 1 && n <= COUNT_MAX;
}

function badCount(n) {
  const details = `n is ${n}, must be from 1 to ${COUNT_MAX}`;
  return Object.assign(new Error(details), { code: status.INVALID_ARGUMENT, details });
}

/** Length and checksum of payloads. */
class Sum {
  #hash = createHash('sha256');

  #bytes = 0;

  add({ payload }) {
    this.#bytes += payload.length;
    this.#hash.update(payload);
  }

  reply() {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}
