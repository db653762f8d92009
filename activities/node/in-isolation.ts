import { Context } from '@temporalio/activity';
import { readDeaths } from '../../db/nodes/node-attempts-repository.js';
import { beginHeld, type NodeClaim } from '../../db/nodes/node-results-repository.js';
import type { NodeKey } from '../../graph/plan.js';
import { handedBack, NodeFailure } from './failures.js';
import { toTreatment } from './isolation.js';
import type { NodeBeginning, NodeDeps, NodeStep } from './node-step.js';

/** The other nodes of the worker have been claimed again by then, so that the last share is known. */
const SHARES_KNOWN_MS = 8_000;
/** A node that waits longer for its turn leaves its slot to others. */
const WAIT_MS = 1_000;

/**
 * Executes a node that is held, when it is its turn. `attempt` is given what throws the end of a node that is given up, or
 * whose run ends. Throws `handedBack` where it is not its turn yet.
 */
export async function inIsolation<Facts>(
  { db, isolation, logger, workerId }: Pick<NodeDeps, 'db' | 'isolation' | 'logger' | 'workerId'>,
  key: NodeKey,
  { claim, step, givenUp }: { claim: NodeClaim; step: NodeStep<Facts> } & Pick<NodeBeginning, 'givenUp'>,
  attempt: (instead?: () => never) => Promise<Facts>,
): Promise<Facts> {
  const deaths = await readDeaths(db, key, step.name ?? null);
  const treatment = toTreatment(deaths);
  if (treatment === 'given up') {
    if (deaths.sinceMs < SHARES_KNOWN_MS) throw handedBack();
    return attempt(() => {
      throw new NodeFailure(
        'worker_lost',
        `The node was given up: its worker died ${deaths.count} times while it ran.`,
      );
    });
  }
  const { cancellationSignal } = Context.current();
  const stop = givenUp === undefined ? cancellationSignal : AbortSignal.any([cancellationSignal, givenUp]);
  if (!(await isolation.take(treatment === 'alone', WAIT_MS, stop))) {
    logger.info(
      { run_id: key.runId, node_id: key.nodeId, deaths: deaths.count },
      'node waits for its turn after deaths of workers',
    );
    const isEnding = givenUp?.aborted || Context.current().cancellationDetails?.cancelRequested;
    if (!isEnding) throw handedBack();
    // The attempt records that its node was cancelled.
    return attempt(() => {
      throw stop.reason;
    });
  }
  try {
    if (!(await beginHeld(db, key, { attempts: claim.attempts, worker: workerId }))) throw handedBack();
    return await attempt();
  } finally {
    isolation.release();
  }
}
