// The activity that nodes begin in, and what it is told: them, those that follow in it, and the end of the run, where nothing
// else is left.
import { workflowInfo } from '@temporalio/workflow';
import type { FollowingNodes, FusedFacts } from '../activities/dense/fused-nodes.js';
import type { Plan } from '../graph/plan.js';
import { runNodeOfKind, tryNodeLocally, type NodeCall, type SingleStepKind } from './activity-options.js';
import { beginsLocally, lengthOf, rowAfter, summaryOf, type Row } from './fusion.js';
import { toMarkdown, type RunGraphInput } from '../contract/run-workflow.js';

/** The trigger's activity reports the start as update 1; the end of the run is the only other report. */
export const FINISH_SEQUENCE = 2;

/** One node, or several side by side. `open`: how many of the run have not settled. */
export function begin(input: RunGraphInput, nodes: number[], open: number): Promise<FusedFacts> {
  const { plan, local = '', isFused } = input;
  const [first] = nodes as [number, ...number[]];
  const kind = plan.kinds[first] as SingleStepKind;
  const isTrigger = kind === 'trigger';
  const isLocal = (isTrigger && isFused !== true) || beginsLocally(plan, local, first);
  const isTried = isLocal && local.charAt(first) === '1';
  const isFirst = isTrigger || isTried ? isFirstTask() : isFirstExecution();
  const call = toCall(input, nodes, { open, isFirst, isLocal });
  if (isTried) return tryNodeLocally(kind, call);
  return runNodeOfKind[isLocal ? kind : (plan.kinds[namesakeOf(plan, first)] as SingleStepKind)](call);
}

/** A node that another activity has left undone. */
export function goOn(input: RunGraphInput, node: number, open: number): Promise<FusedFacts> {
  const call = toCall(input, [node], { open, isFirst: false, isLocal: false });
  return runNodeOfKind[input.plan.kinds[node] as SingleStepKind](call);
}

/** Whose activity it is to operators: a trigger's that does not begin locally is that of the node after it. */
function namesakeOf({ kinds, out }: Plan, node: number): number {
  return kinds[node] === 'trigger' ? (out[node]![0]?.[0] ?? node) : node;
}

interface CallOptions {
  open: number;
  isFirst: boolean;
  isLocal: boolean;
}

function toCall(input: RunGraphInput, nodes: number[], { open, isFirst, isLocal }: CallOptions): NodeCall {
  const { runId, plan, local = '', isFused } = input;
  const [first, ...beside] = nodes as [number, ...number[]];
  const row = isFused === true ? rowAfter(plan, local, first, isLocal, nodes.length) : { nodes: [] };
  const isRest = isFused === true && open === nodes.length + lengthOf(row);
  const node = {
    runId,
    path: '',
    nodeId: plan.ids[first]!,
    isFirst,
    ...(beside.length === 0 ? {} : { beside: beside.map((other) => plan.ids[other]!) }),
    ...toFollowing(plan, row),
    ...(isRest ? { endSequence: FINISH_SEQUENCE } : {}),
  };
  const labels = [...nodes, ...row.nodes].map((of) => toMarkdown(plan.labels[of]!));
  const summary = summaryOf(row.forks === undefined ? labels : [...labels, '…'], nodes.length);
  return { node, activityId: plan.ids[namesakeOf(plan, first)]!, summary };
}

function toFollowing(plan: Plan, { nodes, forks }: Row): FollowingNodes {
  return {
    ...(nodes.length === 0 ? {} : { followers: nodes.map((node) => plan.ids[node]!) }),
    ...(forks && { forks: [toFollowing(plan, forks[0]), toFollowing(plan, forks[1])] }),
  };
}

/** Its history has three events: no other worker has had a workflow task of this run. */
function isFirstTask(): boolean {
  return workflowInfo().historyLength <= 3;
}

/** Neither continued nor reset by an operator: what this execution has not begun was never begun. */
function isFirstExecution(): boolean {
  const { runId, firstExecutionRunId } = workflowInfo();
  return runId === firstExecutionRunId;
}
