import type { EndIterationFacts, EndIterationRef } from '../../../contract/activities.js';
import { findIterationFailure, recordIterationFailure } from '../../../db/nodes/iterations-repository.js';
import { isQuotaExceeded } from '../../../db/projects/stored-bytes-repository.js';
import { mayBeCaught } from '../../../graph/caught.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import { writeJson } from '../../../graph/json-text.js';
import { NodeError } from '../../../graph/node-error.js';
import { forEachNode } from '../../../graph/nodes/for_each.js';
import { outputOfIteration } from '../../../graph/nodes/rendered-value.js';
import type { NodeOutput } from '../../../graph/template.js';
import { quotaFailure } from '../../node/failures.js';
import { RECORDING_FACTOR } from '../../node/payload-weight.js';
import { toErrorMessage } from '../../node/record.js';
import type { NodeStep, NodeTask } from '../../node/node-step.js';
import { toResultText } from '../../node/result-text.js';
import { judgeRound } from './judge-round.js';
import type { LoopDeps } from './loop-deps.js';

/**
 * Ends an iteration: evaluates and records its output, and evaluates the condition of a conditional loop; or records
 * the failure of the iteration.
 */
export function createEndIterationStep(deps: LoopDeps, ref: EndIterationRef): NodeStep<EndIterationFacts> {
  const { db, writes, secretBox, contexts } = deps;

  async function evaluate(task: NodeTask, index: number): Promise<{ output: NodeOutput; isOver: boolean }> {
    const { data, lastNode, id, kind } = task.node;
    const inIteration = { ...task, path: iterationPath(task.path, id, index) };
    const ofLast = lastNode === undefined ? '' : `{{ ${lastNode}.result }}`;
    const templates = [data['output'] ?? ofLast, kind === 'loop' ? data['until'] : undefined];
    const values = await contexts.loadValues(inIteration, templates);
    const value = outputOfIteration(data['output'], values, lastNode);
    const content = typeof value === 'string' ? value : writeJson(value);
    await task.memory.resize(task.memory.bytes + RECORDING_FACTOR * content.length);
    const isOver = kind === 'loop' && (await judgeRound(deps, task, { values, index, value }));
    return { output: { content, value }, isOver };
  }

  async function fail(task: NodeTask, failure: Failure): Promise<EndIterationFacts> {
    const message = toErrorMessage(failure, task.run.masker);
    const { index } = ref;
    const { code } = failure;
    // The loop starts no other iteration after a failure that it does not survive.
    const next = survives(task, code) ? ref.next : undefined;
    await recordIterationFailure(db, ref, { index, failure: { code, message }, ...(next !== undefined && { next }) });
    return { failure: failure.code };
  }

  async function endFailed(task: NodeTask, code: string): Promise<EndIterationFacts> {
    const found = await findIterationFailure(db, task, ref.index);
    return fail(task, { message: `The iteration failed: ${code}.`, ...found, code });
  }

  return {
    name: 'iteration',
    isClaimed: false,
    factsOf: () => ({}),
    async run(task) {
      const { index, failure: code, next } = ref;
      if (code !== undefined) return { facts: await endFailed(task, code) };
      try {
        const { output, isOver } = await evaluate(task, index);
        const iteration = { ...ref, path: iterationPath(ref.path, ref.nodeId, index) };
        const { result, resultEnc } = toResultText({ output }, iteration, { masker: task.run.masker, secretBox });
        const ended = { loop: ref, index, result, resultEnc, next: isOver ? undefined : next };
        // An earlier attempt whose answer was lost may have recorded a failure.
        const failedBefore = await writes.recordIteration(ended);
        if (failedBefore !== undefined) return { facts: { failure: failedBefore } };
        return { facts: isOver ? { isOver } : {} };
      } catch (error) {
        // An output that exceeds the project's quota fails its iteration.
        if (isQuotaExceeded(error)) return { facts: await fail(task, quotaFailure()) };
        if (error instanceof NodeError) return { facts: await fail(task, error) };
        throw error;
      }
    },
  };
}

/** True if the loop continues with its other iterations after one has failed with this code. */
function survives({ node: { kind, data } }: NodeTask, code: string): boolean {
  return kind !== 'loop' && mayBeCaught(code) && forEachNode.schema.parse(data).on_item_error !== 'fail';
}

interface Failure {
  code: string;
  message: string;
}
