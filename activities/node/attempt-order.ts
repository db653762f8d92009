// A worker that was paused for longer than the heartbeat time-out (a frozen machine) may resume with several attempts
// of one node: those that Temporal has given up, and the current one. If they ran concurrently, each would take the
// others' calls in flight for calls of a dead worker.
import { untilAborted } from '../../outgoing/until-aborted.js';

/**
 * The last attempt of each activity in this process. The promise settles when it and all earlier attempts are over. It
 * never rejects.
 */
const lastTries = new Map<string, Promise<unknown>>();

/**
 * Runs `work` once the earlier attempts of this activity in this process are over. Rejects when it is cancelled before
 * that.
 */
export async function runInTurn<T>(key: string, cancelled: AbortSignal, work: () => Promise<T>): Promise<T> {
  const earlier = lastTries.get(key);
  const turn = earlier === undefined ? work() : untilAborted(earlier, cancelled).then(work);
  // An attempt that is cancelled while it waits leaves the line. The next attempt still waits for all earlier ones.
  const all = Promise.allSettled([earlier, turn]);
  lastTries.set(key, all);
  void all.then(() => lastTries.get(key) === all && lastTries.delete(key));
  return turn;
}
