// What /debug/runtime reports on one process, and of several by their supervisor.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { runtimeReader } from '../src/runtime.js';

const KEYS = ['pid', 'loop_delay_ns', 'active_ms', 'idle_ms', 'gc', 'heap_used_bytes', 'heap_limit_bytes',
  'rss_bytes', 'external_bytes', 'requests', 'pool'];

test('a process reports on itself, and a blocked loop shows in the window it was blocked in', async () => {
  const pool = { max: 1, open: 0, in_use: 0, idle: 0, waiting: 0, waits: 0, wait_ns: 0 };
  const read = runtimeReader(undefined, () => pool);
  await pause(100);
  const [before] = (await read(true)).processes;
  assert.deepEqual(Object.keys(before), KEYS);
  assert.deepEqual(before.pool, pool);
  const until = performance.now() + 300;
  while (performance.now() < until);
  await pause(100);
  const [during] = (await read()).processes;
  assert.ok(during.loop_delay_ns.max >= 200e6, `${during.loop_delay_ns.max}`);
  const [still] = (await read(true)).processes;
  assert.ok(still.loop_delay_ns.max >= 200e6, 'who does not ask for it begins no new window');
  // No timer fired since: the window is empty, which is not zero.
  const [after] = (await read()).processes;
  assert.equal(after.loop_delay_ns, null);
});

test('collections are counted, major ones apart', async () => {
  const read = runtimeReader();
  let kept = [];
  let seen;
  for (let k = 0; k < 500 && !(seen?.gc.cycles > 0); k += 1) {
    kept = Array.from({ length: 200_000 }, (_, at) => ({ at, kept }));
    if (k % 2) kept = [];
    await pause(1);
    [seen] = (await read()).processes;
  }
  assert.ok(seen.gc.cycles > 0 && seen.gc.pause_ns > 0, JSON.stringify(seen.gc));
  assert.ok(seen.gc.major_cycles <= seen.gc.cycles);
});

// Two workers; each prints the pids that it gathers. One of them can be told to block.
const FLEET = `
import cluster from 'node:cluster';
import { relay, gatherer } from '${new URL('../src/fleet.js', import.meta.url)}';
if (cluster.isPrimary) {
  relay();
  let up = 0;
  cluster.fork({ BLOCKS: process.env.BLOCKED });
  cluster.fork();
  cluster.on('message', (worker, message) => {
    if (message === 'up' && (up += 1) === 2) for (const one of Object.values(cluster.workers)) one.send('go');
    if (message?.told) { console.log(JSON.stringify(message.told)); process.exit(0); }
  });
} else {
  const gather = gatherer(() => ({ pid: process.pid }));
  process.on('message', async (message) => {
    if (message !== 'go') return;
    if (process.env.BLOCKS === 'yes') { const until = Date.now() + 5000; while (Date.now() < until); return; }
    if (process.env.BLOCKS === undefined) process.send({ told: await gather(false) });
  });
  process.send('up');
}`;

for (const [blocked, count] of [['no', 2], ['yes', 1]]) {
  test(`workers gather from each other; blocked: ${blocked}`, async (t) => {
    // node:cluster starts a file again.
    const folder = mkdtempSync(join(tmpdir(), 'prony-node-test-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'fleet.mjs');
    writeFileSync(file, FLEET);
    const child = spawn(process.execPath, [file], {
      env: { ...process.env, BLOCKED: blocked }, stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (data) => { text += data; });
    await once(child, 'close');
    assert.equal(JSON.parse(text).length, count, text);
  });
}
