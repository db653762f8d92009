// Dense execution: one activity executes a node, or several concurrent ones, and the nodes that follow, as long as the
// run workflow has nothing to decide in between. Each node is claimed and recorded as if it had an activity of its own.
//
// When the process dies, Temporal retries the activity, which finds the nodes that were recorded. An internal error
// stops the chain. The error will recur in the node's own activity, which reports it.
import { activityInfo, ApplicationFailure, Context } from '@temporalio/activity';
import type { NodeFacts } from '../../contract/nodes.js';
import type { ChainFacts, ChainProgress, ChainRef, FollowingNodes } from '../../contract/dense.js';
import type { Handle, NodeKey } from '../../graph/plan.js';
import { finalFailure, isFinal, retryDelayOf } from '../node/failures.js';
import { reportWithLastNode, type ReportRunEnd } from '../node/report-end.js';
import { withHeartbeat } from '../node/run-node.js';
import { executeConcurrently } from './concurrent-nodes.js';
import type { ExecuteNode } from './execute-node.js';
import type { Slots } from './slots.js';
import { startWindow } from './two-clocks.js';

interface NodeChainDeps {
  executeNode: ExecuteNode;
  /** The slots of all normal activities, and those of all local ones. Each node holds one while it is executed. */
  slots: Record<'normal' | 'local', Slots>;
  report: ReportRunEnd;
}

/** No node begins later than this after the first one has ended, because a cancel waits for an open workflow task. */
const CHAIN_MS = 1_000;

/** Creates the activity `nodeChain`. */
export function createNodeChain({ executeNode, slots, report }: NodeChainDeps) {
  async function begin(ref: ChainRef, progress: ChainProgress, ownSlots: Slots): Promise<ChainFacts> {
    const { runId, path, nodeId, concurrent } = ref;
    if (concurrent === undefined) return executeNode({ runId, path, nodeId });
    const keys = [nodeId, ...concurrent].map((id) => ({ runId, path, nodeId: id }));
    const continuations = await executeConcurrently(keys, { executeNode, slots: ownSlots }, progress);
    return continuations.length === 0 ? {} : { continuations };
  }

  async function executeFollowing(ref: ChainRef, first: NodeFacts, progress: ChainProgress): Promise<ChainFacts> {
    const { runId, path, endSequence } = ref;
    const mayContinue = openChain();
    let last = first;
    for (const nextAfter = followersOf(ref); ; progress.done++) {
      if (last.handle !== undefined) progress.handles.push(last.handle);
      const nodeId = nextAfter(last.handle);
      if (nodeId === undefined) break;
      if (!mayContinue()) return { ...last, ...progress };
      const next = await attemptNext({ runId, path, nodeId }, progress);
      if (next === undefined) return { ...last, ...progress };
      if (next.continueAfterMs !== undefined) return { ...progress, continueAfterMs: next.continueAfterMs };
      last = next;
    }
    const end = endSequence !== undefined && mayContinue() ? await reportWithLastNode(report, runId) : {};
    return { ...last, ...(progress.done === 1 ? {} : progress), ...end };
  }

  /** Throws the failure that has ended the node. Undefined when the node was stopped or an internal error occurred. */
  async function attemptNext(key: NodeKey, progress: ChainProgress): Promise<ChainFacts | undefined> {
    try {
      // The node was ready when the one before it had ended, which is now.
      return await executeNode(key, { readyAtMs: Date.now() });
    } catch (error) {
      if (error instanceof ApplicationFailure && isFinal(error)) {
        throw finalFailure(error.type ?? 'internal_error', progress);
      }
      const continueAfterMs = retryDelayOf(error);
      return continueAfterMs === undefined ? undefined : { continueAfterMs };
    }
  }

  return (ref: ChainRef): Promise<ChainFacts> => {
    const progress: ChainProgress = { done: 0, handles: [] };
    const { isLocal } = activityInfo();
    const ownSlots = slots[isLocal ? 'local' : 'normal'];
    const execute = async (): Promise<ChainFacts> => {
      await ownSlots.take(Context.current().cancellationSignal);
      try {
        const facts = await begin(ref, progress, ownSlots);
        if (facts.continueAfterMs !== undefined || facts.continuations !== undefined) return facts;
        progress.done = 1;
        return await executeFollowing(ref, facts, progress);
      } finally {
        ownSlots.release();
      }
    };
    return isLocal ? execute() : withHeartbeat(ref, execute, () => progress);
  };
}

/**
 * Returns a function that gives the id of the next node, or undefined after the last one. The handle by which a
 * condition was left selects the fork.
 */
function followersOf(all: FollowingNodes): (handle: Handle | undefined) => string | undefined {
  let [following, at]: [FollowingNodes, number] = [all, 0];
  return (handle) => {
    const next = following.followers?.[at++];
    if (next !== undefined || handle === undefined || handle === 0) return next;
    [following, at] = [following.forks?.[handle - 1] ?? {}, 1];
    return following.followers?.[0];
  };
}

/**
 * Returns whether another node may begin: neither the run nor the worker is stopping, and the chain began recently.
 * After a long pause of the process, another worker may be executing the run.
 */
function openChain(): () => boolean {
  const { cancellationSignal } = Context.current();
  const isYoung = startWindow(CHAIN_MS);
  return () => !cancellationSignal.aborted && isYoung();
}
