// A worker that stood still for longer than a heartbeat time-out (a frozen machine) wakes up with several tries of one
// node: those that Temporal gave up meanwhile, and the one that counts. Side by side, each would take the others' calls
// on the wire for those of a dead worker.
import { untilAborted } from '../../outgoing/until-aborted.js';

/** The last try of each activity in this process; settles when it and all before it are over. Never rejects. */
const lastTries = new Map<string, Promise<unknown>>();

/** Runs `work` once the earlier tries of this activity that still run in this process are over. Rejects when cancelled before. */
export async function runInTurn<T>(key: string, cancelled: AbortSignal, work: () => Promise<T>): Promise<T> {
  const earlier = lastTries.get(key);
  const turn = earlier === undefined ? work() : untilAborted(earlier, cancelled).then(work);
  // A try that is cancelled while it waits leaves the line; the next one still waits for those before it.
  const all = Promise.allSettled([earlier, turn]);
  lastTries.set(key, all);
  void all.then(() => lastTries.get(key) === all && lastTries.delete(key));
  return turn;
}
