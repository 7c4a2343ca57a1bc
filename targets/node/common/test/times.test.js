// Durations fall into their buckets, which add up.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Times } from '../src/times.js';

test('durations fall into their buckets', () => {
  const times = new Times();
  for (const seconds of [0, 1e-5, 1.1e-5, 3600]) times.observe(seconds);
  const text = times.text();
  for (const line of ['_bucket{le="0.00001"} 2', '_bucket{le="0.00002"} 3', '_bucket{le="+Inf"} 4', '_count 4']) {
    assert.ok(text.includes(`http_request_duration_seconds${line}\n`), `${line} in\n${text}`);
  }
});
