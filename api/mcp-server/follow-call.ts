// Follows a run that a client waits for. All waiting readers in this process share one loop (api/live/), so a call
// reads events by a statement of its own only if the loop does not keep them any more.
import { mayRun } from '../../acceptance/roles.js';
import type { Reader } from '../../db/watches/run-watches-repository.js';
import type { McpServerDeps } from './deps.js';
import { openFeed } from '../streams/run-feed.js';
import { waitForEnd } from '../live/wait-for-run.js';

type FollowDeps = Pick<McpServerDeps, 'db' | 'runHub' | 'sharedReads'>;

export interface FollowedCall {
  runId: string;
  reader: Reader;
  withNodes: boolean;
  /** The interval at which `alive` is reported, after checking that the caller may still run the workflow. */
  aliveEveryMs: number;
  signal: AbortSignal;
}

/**
 * - `node`: a node outside loops has ended.
 * - `alive`: about `aliveEveryMs` have passed since the start or the last `alive`, and the run goes on.
 * - `lost`: the caller may not run the workflow any more, or the results of the run have expired.
 */
type CallNews = { kind: 'node'; nodeId: string } | { kind: 'alive' | 'ended' | 'lost' };

/** Ends after `ended` and `lost`, and without either if the caller hangs up or the process stops. */
export async function* followCall(deps: FollowDeps, call: FollowedCall): AsyncGenerator<CallNews> {
  const { reader, runId, signal } = call;
  const news = call.withNodes ? nodesOf(deps, call) : endOf(deps, call);
  for await (const each of news) {
    if (each.kind !== 'node' && !signal.aborted) {
      const role = await deps.sharedReads.roleOf({ ...reader, runId });
      if (!mayRun(role)) {
        yield { kind: 'lost' };
        return;
      }
    }
    yield each;
    if (each.kind === 'ended') return;
  }
}

async function* endOf(
  { runHub }: FollowDeps,
  { runId, reader, aliveEveryMs, signal }: FollowedCall,
): AsyncGenerator<CallNews> {
  const place = { runId, userId: reader.userId };
  while (!signal.aborted && !runHub.isStopping) {
    const options = { waitMs: aliveEveryMs, signal };
    if (await waitForEnd(runHub, place, options)) yield { kind: 'ended' };
    else if (!signal.aborted && !runHub.isStopping) yield { kind: 'alive' };
  }
}

async function* nodesOf(
  deps: FollowDeps,
  { runId, reader, aliveEveryMs, signal }: FollowedCall,
): AsyncGenerator<CallNews> {
  const { db, runHub } = deps;
  const feed = openFeed(db, runHub, { runId, userId: reader.userId }, signal);
  let place = 0;
  let aliveAtMs = performance.now() + aliveEveryMs;
  try {
    while (!signal.aborted && !runHub.isStopping) {
      const events = await feed.after(place);
      for (const { version, kind, path, subject, status } of events) {
        place = version;
        if (kind === 'node' && path === '' && status !== 'in progress') yield { kind: 'node', nodeId: subject };
        if (kind === 'run' && status !== 'In Progress') yield { kind: 'ended' };
      }
      if (events.length > 0) continue;
      if (performance.now() >= aliveAtMs) {
        aliveAtMs = performance.now() + aliveEveryMs;
        yield { kind: 'alive' };
      }
      await feed.untilNews(Math.max(0, aliveAtMs - performance.now()));
    }
  } finally {
    feed.end();
  }
}
