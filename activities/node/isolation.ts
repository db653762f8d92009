// Nodes whose workers died run apart from each other, so that the next death tells which of them is the cause.
// docs/adr/0030-deaths-of-workers.md gives the reasons.
import { Context } from '@temporalio/activity';
import { readDeaths, type Deaths } from '../../db/nodes/node-attempts-repository.js';
import { beginHeld, type NodeClaim } from '../../db/nodes/node-results-repository.js';
import type { NodeKey } from '../../graph/plan.js';
import { handedBack, NodeFailure } from './failures.js';
import type { NodeBeginning, NodeDeps, NodeStep } from './node-step.js';

/** So many such nodes run on a worker at once. */
const TOGETHER = 4;
/** With so many deaths a node runs without any other such node. */
const ALONE_FROM = 4;
/** A node whose shares of deaths reach this is given up. Shares are sums of fractions. */
const GIVEN_UP_AT = 3 - 1e-6;
/** The other nodes of the worker have been claimed again by then, so that the last share is known. */
const SHARES_KNOWN_MS = 8_000;
/** A node that waits longer for its turn leaves its slot to others. */
const WAIT_MS = 1_000;

/** How a node runs that workers have died with at least twice. */
export function toTreatment({ count, shares }: Pick<Deaths, 'count' | 'shares'>): 'together' | 'alone' | 'given up' {
  if (shares >= GIVEN_UP_AT) return 'given up';
  return count >= ALONE_FROM ? 'alone' : 'together';
}

interface Waiting {
  isAlone: boolean;
  admit: () => void;
}

/** The nodes that run apart on this worker. */
export class Isolation {
  readonly #line = new Set<Waiting>();
  #running = 0;
  #isOneAlone = false;

  /** Whether the node may begin, within `ms` and before `signal` is aborted. The caller must then call `release`. */
  take(isAlone: boolean, ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#mayBegin(isAlone)) {
      this.#begin(isAlone);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const endWait = (mayBegin: boolean): void => {
        this.#line.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        if (mayBegin) this.#begin(isAlone);
        resolve(mayBegin);
      };
      const waiting: Waiting = { isAlone, admit: () => endWait(true) };
      const leave = (): void => endWait(false);
      const timer = setTimeout(leave, ms);
      signal.addEventListener('abort', leave, { once: true });
      this.#line.add(waiting);
    });
  }

  release(): void {
    this.#running -= 1;
    this.#isOneAlone = false;
    for (const waiting of this.#line) if (this.#mayBegin(waiting.isAlone)) waiting.admit();
  }

  #mayBegin(isAlone: boolean): boolean {
    return isAlone ? this.#running === 0 : this.#running < TOGETHER && !this.#isOneAlone;
  }

  #begin(isAlone: boolean): void {
    this.#running += 1;
    this.#isOneAlone = isAlone;
  }
}

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
