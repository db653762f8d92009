// A worker that stood still for longer than the heartbeat time-out may resume with several attempts of one activity:
// those that Temporal has given up, and the current one. If they ran concurrently, each would treat the others' calls
// in flight as calls of a dead worker.
import { untilAborted } from '../../outgoing/until-aborted.js';

/** Keyed by activity: a promise that settles when all its attempts in this process have ended, and never rejects. */
const attempts = new Map<string, Promise<unknown>>();

/** Rejects if it is cancelled before the earlier attempts of the activity in this process have ended. */
export async function afterEarlierAttempts<T>(
  activity: string,
  cancelled: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const earlier = attempts.get(activity);
  const own = earlier === undefined ? work() : untilAborted(earlier, cancelled).then(work);
  // If this attempt is cancelled while it waits, the next one still waits for all earlier ones.
  const all = Promise.allSettled([earlier, own]);
  attempts.set(activity, all);
  void all.then(() => attempts.get(activity) === all && attempts.delete(activity));
  return own;
}
