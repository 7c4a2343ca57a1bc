// Brings together what the processes of one target report on themselves.
//
// Without cluster workers that is this process alone. With them, a worker asks
// their supervisor, which asks every worker and hands the answers back; who does
// not answer in time is left out, so that one blocked worker does not silence
// the others. Nothing is sent unless somebody asks.

import cluster from 'node:cluster';

const GATHER_MS = 300;
const ASK = 'prony:ask';
const TELL = 'prony:tell';
const ALL = 'prony:all';

/**
 * In the supervisor: passes questions and answers on. Called once.
 */
export function relay() {
  let last = 0;
  const open = new Map();
  const finish = (id) => {
    const question = open.get(id);
    if (!question) return;
    open.delete(id);
    clearTimeout(question.timer);
    send(question.asker, { type: ALL, id: question.id, told: question.told });
  };
  cluster.on('message', (worker, message) => {
    if (message?.type === ASK) {
      last += 1;
      const id = last;
      const asked = Object.values(cluster.workers).filter((other) => other.isConnected());
      open.set(id, {
        asker: worker, id: message.id, told: [], left: asked.length, timer: setTimeout(finish, GATHER_MS, id),
      });
      for (const other of asked) send(other, { type: ASK, id, freshWindow: message.freshWindow });
    } else if (message?.type === TELL) {
      const question = open.get(message.id);
      if (!question) return;
      question.told.push(message.own);
      question.left -= 1;
      if (question.left === 0) finish(message.id);
    }
  });
}

/**
 * In a process that serves: the function that gathers from all of them.
 * @param {(freshWindow: boolean) => object} tell what this process reports on itself
 * @returns {(freshWindow: boolean) => Promise<object[]>}
 */
export function gatherer(tell) {
  if (!cluster.isWorker) return async (freshWindow) => [tell(freshWindow)];
  let last = 0;
  const waiting = new Map();
  process.on('message', (message) => {
    if (message?.type === ASK) {
      send(process, { type: TELL, id: message.id, own: tell(message.freshWindow) });
    } else if (message?.type === ALL) {
      waiting.get(message.id)?.(message.told);
    }
  });
  return (freshWindow) => new Promise((resolve) => {
    last += 1;
    const id = last;
    // The supervisor has its own limit; this one is for a supervisor that is gone.
    const timer = setTimeout(() => done([]), 2 * GATHER_MS);
    const done = (told) => {
      clearTimeout(timer);
      waiting.delete(id);
      resolve(told);
    };
    waiting.set(id, done);
    if (!send(process, { type: ASK, id, freshWindow })) done([]);
  });
}

// The other side may end at any moment; what it misses then is nobody's loss.
function send(other, message) {
  const isThere = other === process ? process.connected : other.isConnected();
  if (isThere) other.send(message, () => {});
  return isThere;
}
