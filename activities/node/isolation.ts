// Nodes whose workers died at least twice run apart from most others, so that the next death shows which node is the
// cause. docs/adr/0030-deaths-of-workers.md gives the reasons.
import { Context } from '@temporalio/activity';
import type { Database } from '../../db/core/client.js';
import { readDeaths, type Deaths } from '../../db/nodes/node-attempts-repository.js';
import { startIsolated, type NodeClaim } from '../../db/nodes/node-results-repository.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Logger } from '../../telemetry/logger.js';
import { handedBack, NodeFailure } from './failures.js';

/** The maximum number of isolated nodes that run on a worker at the same time. */
const TOGETHER = 4;
/** A node with at least this many deaths runs without any other isolated node. */
const ALONE_FROM = 4;
/**
 * A node is given up when the sum of its shares of deaths reaches this. Its share of one death is 1, divided by the
 * number of nodes that were lost with the worker and may be the cause (`readDeaths`). The epsilon absorbs rounding
 * errors.
 */
const GIVEN_UP_AT = 3 - 1e-6;
/**
 * The time until the other nodes of a dead worker have been claimed again, so that each node's share of the death is
 * known.
 */
const SHARES_KNOWN_MS = 8_000;
/** A node that waits longer for its admission goes back to the task queue, so that its slot is free for others. */
const WAIT_MS = 1_000;

export function toTreatment({ count, shares }: Pick<Deaths, 'count' | 'shares'>): 'together' | 'alone' | 'given up' {
  if (shares >= GIVEN_UP_AT) return 'given up';
  return count >= ALONE_FROM ? 'alone' : 'together';
}

interface IsolationDeps {
  db: Database;
  isolation: Isolation;
  logger: Logger;
  workerId: string;
}

interface Held {
  claim: NodeClaim;
  step: string | undefined;
  walkFailed: AbortSignal | undefined;
}

interface Admission {
  /** If defined, the attempt ends with this error instead of running. */
  error?: unknown;
  release: () => void;
}

/**
 * Admits a node whose workers have died. Throws `handedBack` if it is not admitted within `WAIT_MS`, if it would be
 * given up but the shares of its deaths are not known yet, or if another process has started it or its run has ended. A
 * node that is given up, or that is cancelled while it waits, is admitted with the error that its attempt must record.
 */
export async function admitHeld(
  { db, isolation, logger, workerId }: IsolationDeps,
  key: NodeKey,
  { claim, step, walkFailed }: Held,
): Promise<Admission> {
  const deaths = await readDeaths(db, key, step ?? null);
  const treatment = toTreatment(deaths);
  if (treatment === 'given up') {
    if (deaths.sinceMs < SHARES_KNOWN_MS) throw handedBack();
    const message = `The node was given up: its worker died ${deaths.count} times while it ran.`;
    return { error: new NodeFailure('worker_lost', message), release: () => undefined };
  }
  const { cancellationSignal } = Context.current();
  const stop = walkFailed === undefined ? cancellationSignal : AbortSignal.any([cancellationSignal, walkFailed]);
  if (!(await isolation.acquire(treatment === 'alone', WAIT_MS, stop))) {
    const facts = { run_id: key.runId, node_id: key.nodeId, deaths: deaths.count };
    logger.info(facts, 'node waits for its turn after deaths of workers');
    const isEnding = walkFailed?.aborted || Context.current().cancellationDetails?.cancelRequested;
    if (!isEnding) throw handedBack();
    return { error: stop.reason as unknown, release: () => undefined };
  }
  const release = (): void => isolation.release();
  try {
    if (!(await startIsolated(db, key, { attempts: claim.attempts, worker: workerId }))) throw handedBack();
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

interface Waiting {
  isAlone: boolean;
  admit: () => void;
}

/** Limits the isolated nodes that run on this worker at the same time. */
export class Isolation {
  readonly #queue = new Set<Waiting>();
  #running = 0;
  #isOneAlone = false;

  /**
   * Returns true if the node may run; the caller must then call `release`. Returns false after
   * `ms`, or when `signal` is aborted.
   */
  acquire(isAlone: boolean, ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#mayStart(isAlone)) {
      this.#start(isAlone);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const endWait = (mayStart: boolean): void => {
        this.#queue.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        if (mayStart) this.#start(isAlone);
        resolve(mayStart);
      };
      const waiting: Waiting = { isAlone, admit: () => endWait(true) };
      const leave = (): void => endWait(false);
      const timer = setTimeout(leave, ms);
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.add(waiting);
    });
  }

  release(): void {
    this.#running -= 1;
    this.#isOneAlone = false;
    for (const waiting of this.#queue) if (this.#mayStart(waiting.isAlone)) waiting.admit();
  }

  #mayStart(isAlone: boolean): boolean {
    return isAlone ? this.#running === 0 : this.#running < TOGETHER && !this.#isOneAlone;
  }

  #start(isAlone: boolean): void {
    this.#running += 1;
    this.#isOneAlone = isAlone;
  }
}
