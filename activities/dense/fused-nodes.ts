// One activity does a node, or several side by side, and those that follow, where the run workflow has nothing to decide in
// between; and the last one tells the end of the run (docs/adr/0017-fused-nodes.md). Each node is recorded before the next
// one begins, as if it had an activity of its own.
//
// When the process dies, the activity is repeated: what is recorded is found, and a run whose end was told is told it once
// more, to no effect. Whatever is out of the ordinary stops the row, and the run workflow goes on from there as it would
// have anyway: what went wrong in our own parts, say, goes wrong again in an activity that begins with the node and tells it.
import { activityInfo, ApplicationFailure, Context } from '@temporalio/activity';
import { startDeadline } from '../../outgoing/pausable-deadline.js';
import { untilAborted } from '../../outgoing/until-aborted.js';
import type { FinishRunInput } from '../node/finish-run.js';
import type { Branch, NodeKind } from '../../graph/plan.js';
import { finalFailure, isFinal, retryDelayOf, type DoneNodes } from '../node/failures.js';
import { doBeside, type Undone } from './nodes-beside.js';
import type { RunContexts } from '../node/run-context.js';
import { inTurn, type NodeFacts, type NodeRef, type NodeTurn } from '../node/run-node.js';
import type { Slots } from './slots.js';
import type { ActivityTracer } from '../worker/trace-activity.js';
import { startWindow } from './two-clocks.js';

/** What to do after a node. */
export interface FollowingNodes {
  /** Ids, in their order. */
  followers?: string[];
  /** After a condition, which is the last of them, or the node itself: what follows each of its answers. */
  forks?: [whenTrue: FollowingNodes, whenFalse: FollowingNodes];
}

/** From the run workflow: what to begin with, and what to do after it. */
export interface FusedRef extends NodeRef, FollowingNodes {
  /** Ids of nodes to do side by side with the first one. What follows, follows all of them. */
  beside?: string[];
  /** Nothing else of the run is left: its success is reported with this number (`ExecutionUpdate.sequence`). */
  endSequence?: number;
}

/** Of the last node that was done, or tried, where there were several. With `goOnAfterMs` it is the one after those that are done. */
export interface FusedFacts extends NodeFacts, Partial<Pick<DoneNodes, 'done' | 'branches'>> {
  /** Of the nodes side by side, 0 being the first one. The others are done, and nothing after them has begun. */
  undone?: Undone[];
  /** The end of the run has been reported. */
  isEnded?: boolean;
}

/** How a node of a kind is done; the name is its activity's, had it one of its own. */
export type NodeWorks = Record<
  Exclude<NodeKind, 'agent'>,
  { name: string; run: (turn: NodeTurn) => Promise<NodeFacts> }
>;

interface FusedNodesDeps {
  contexts: Pick<RunContexts, 'load'>;
  nodes: NodeWorks;
  /** Of all normal activities, and of all local ones: each takes one, and one more for each node beside its first. */
  slots: Record<'normal' | 'local', Slots>;
  report: (end: FinishRunInput) => Promise<void>;
  trace: ActivityTracer;
}

/** No node begins later than this after the first one has ended: cancels wait for an open workflow task. */
const ROW_MS = 1_000;
/** Then the run workflow reports the end. */
const REPORT_MS = 2_000;

/** The activity. */
export function createFusedNodes({ contexts, nodes, slots, report, trace }: FusedNodesDeps) {
  async function doNode(turn: NodeTurn): Promise<NodeFacts> {
    const node = (await contexts.load(turn.runId)).node(turn.nodeId);
    if (node === undefined || node.kind === 'agent') throw finalFailure('internal_error');
    const { name, run } = nodes[node.kind];
    return trace(name, turn, () => run(turn));
  }

  async function begin(ref: FusedRef, all: DoneNodes, ownSlots: Slots): Promise<FusedFacts> {
    const { runId, path, nodeId, isFirst, beside } = ref;
    if (beside === undefined) return doNode(ref);
    const turns = [nodeId, ...beside].map((id) => ({ runId, path, nodeId: id, isFirst: isFirst === true }));
    const undone = await doBeside(turns, { doNode, slots: ownSlots }, all);
    return undone.length === 0 ? {} : { undone };
  }

  async function goOn(ref: FusedRef, facts: NodeFacts, all: DoneNodes): Promise<FusedFacts> {
    const { runId, path, endSequence } = ref;
    const { isLocal, attempt } = activityInfo();
    // A normal activity that was tried before may have got as far as any of them.
    const isFirst = ref.isFirst === true && (isLocal || attempt === 1);
    const mayGoOn = openRow();
    let last = facts;
    for (const row = rowOf(ref); ; all.done++) {
      if (last.branch !== undefined) all.branches.push(last.branch);
      const nodeId = row(last.branch);
      if (nodeId === undefined) break;
      if (!mayGoOn()) return { ...last, ...all };
      const next = await tryNext({ runId, path, nodeId, isFirst }, all);
      if (next === undefined) return { ...last, ...all };
      if (next.goOnAfterMs !== undefined) return { ...all, goOnAfterMs: next.goOnAfterMs };
      last = next;
    }
    const isEnded = endSequence !== undefined && mayGoOn() && (await isReported({ runId, sequence: endSequence }));
    return { ...last, ...(all.done === 1 ? {} : all), ...(isEnded ? { isEnded } : {}) };
  }

  /** Throws what has ended the node. Undefined where it was stopped, or something of ours went wrong. */
  async function tryNext(ref: NodeRef, done: DoneNodes): Promise<NodeFacts | undefined> {
    try {
      return await doNode(ref);
    } catch (error) {
      if (error instanceof ApplicationFailure && isFinal(error)) {
        throw finalFailure(error.type ?? 'internal_error', done);
      }
      const goOnAfterMs = retryDelayOf(error);
      return goOnAfterMs === undefined ? undefined : { goOnAfterMs };
    }
  }

  async function isReported(end: Pick<FinishRunInput, 'runId' | 'sequence'>): Promise<boolean> {
    const limit = startDeadline(REPORT_MS);
    try {
      const reported = trace('finishRun', end, () => report({ ...end, status: 'succeed' }));
      await untilAborted(reported, limit.signal);
      return true;
    } catch {
      return false;
    } finally {
      limit.clear();
    }
  }

  return (ref: FusedRef): Promise<FusedFacts> => {
    const done: DoneNodes = { done: 0, branches: [] };
    const { isLocal } = activityInfo();
    const ownSlots = slots[isLocal ? 'local' : 'normal'];
    const all = async (): Promise<FusedFacts> => {
      ownSlots.hold();
      try {
        const facts = await begin(ref, done, ownSlots);
        if (facts.goOnAfterMs !== undefined || facts.undone !== undefined) return facts;
        done.done = 1;
        return await goOn(ref, facts, done);
      } finally {
        ownSlots.release();
      }
    };
    return isLocal ? all() : inTurn(ref, all, () => done);
  };
}

/** One id after the other, by the answer of the node before where that is a condition; then undefined. */
function rowOf(all: FollowingNodes): (branch: Branch | undefined) => string | undefined {
  let [row, at]: [FollowingNodes, number] = [all, 0];
  return (branch) => {
    const next = row.followers?.[at++];
    if (next !== undefined || branch === undefined || branch === 0) return next;
    [row, at] = [row.forks?.[branch - 1] ?? {}, 1];
    return row.followers?.[0];
  };
}

/**
 * Whether another node may begin: neither the run nor the worker is to stop, and the row is young. Of one that stood still
 * others may have the run by now.
 */
function openRow(): () => boolean {
  const { cancellationSignal } = Context.current();
  const isYoung = startWindow(ROW_MS);
  return () => !cancellationSignal.aborted && isYoung();
}
