// The second step of every node that waits: it ends the wait if PostgreSQL finds that the wait is over. The step may be
// repeated.
import type { EndWaitFacts, EndWaitRef, WaitFacts, WaitReason } from '../../contract/activities.js';
import { traitsOf, kindsThatRun } from '../../graph/kinds.js';
import { handlesOf, type NodeOutcome, type NodeStep, type NodeTask } from '../node/node-step.js';
import { endTask } from './human.js';
import { endChild } from './sub-workflow.js';
import type { WaitDeps } from './wait-deps.js';
import { endCallback, endTime } from './wait.js';

type End = (deps: WaitDeps, task: NodeTask, wait: WaitFacts) => Promise<NodeOutcome | undefined>;

/** Each function returns undefined if its wait is not over yet. */
const ENDS: Record<Exclude<WaitReason, 'connection'>, End> = {
  time: (deps, _task, wait) => endTime(deps, wait),
  callback: endCallback,
  human: endTask,
  child: endChild,
};

const TIMEOUT_CODES = new Set(kindsThatRun('wait').map((kind) => traitsOf(kind).timeoutCode));

/** Needs no claim, because the recorded end of a wait does not change, so every attempt finds the same end. */
export function createEndWaitStep(deps: WaitDeps, ref: EndWaitRef): NodeStep<EndWaitFacts> {
  return {
    isClaimed: false,
    factsOf: handlesOf,
    survives: (code) => ref.hasTimeoutLink && TIMEOUT_CODES.has(code),
    async run(task) {
      const outcome = await ENDS[ref.wait.for as keyof typeof ENDS](deps, task, ref.wait);
      return outcome ?? { facts: { isWaiting: true } };
    },
  };
}
