import type { EndIterationFacts, EndIterationRef } from '../../../contract/activities.js';
import { findIterationFailure, recordIterationEnd } from '../../../db/nodes/iterations-repository.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import { judge, type Condition } from '../../../graph/judge.js';
import { writeJson } from '../../../graph/json-text.js';
import { NodeError } from '../../../graph/node-error.js';
import { outputOfIteration } from '../../../graph/nodes/body-output.js';
import type { NodeOutput, Scope } from '../../../graph/template.js';
import { RECORDING_FACTOR } from '../../node/payload-weight.js';
import { toErrorMessage } from '../../node/record-node.js';
import { REPEATABLE } from '../../node/run-node.js';
import type { NodeStep, NodeTask } from '../../node/node-step.js';
import { toResultText } from '../../node/result-text.js';
import type { LoopDeps } from './loop-deps.js';

/** Makes the output of an iteration whose nodes have ended, and asks whether a conditional loop is over. */
export function createEndIterationStep(deps: LoopDeps, ref: EndIterationRef): NodeStep<EndIterationFacts> {
  const { db, secretBox, contexts } = deps;

  async function evaluate(task: NodeTask): Promise<{ output: NodeOutput; isOver: boolean }> {
    const { data, lastNode, id, kind } = task.node;
    const inIteration = { ...task, path: iterationPath(task.path, id, ref.index) };
    const ofLast = lastNode === undefined ? '' : `{{ ${lastNode}.result }}`;
    const templates = [data['output'] ?? ofLast, kind === 'loop' ? data['until'] : undefined];
    const scope = await contexts.loadScope(inIteration, templates);
    const value = outputOfIteration(data['output'], scope, lastNode);
    const content = typeof value === 'string' ? value : writeJson(value);
    await task.memory.resize(task.memory.bytes + RECORDING_FACTOR * content.length);
    const isOver = kind === 'loop' && judge(data['until'] as Condition, afterRound(scope, id, ref.index, value));
    return { output: { content, value }, isOver };
  }

  async function fail(task: NodeTask, failure: { code: string; message: string }): Promise<EndIterationFacts> {
    const message = toErrorMessage(failure, task.run.masker);
    const nothing = { result: null, resultEnc: null };
    await recordIterationEnd(db, { ...ref, ...nothing, failure: { code: failure.code, message }, next: ref.next });
    return { failure: failure.code };
  }

  return {
    name: `end ${ref.index}`,
    ...REPEATABLE,
    settled: () => ({}),
    async perform(task) {
      if (ref.failure !== undefined) {
        const found = await findIterationFailure(db, task, ref.index);
        return fail(task, { message: `The iteration failed: ${ref.failure}.`, ...found, code: ref.failure });
      }
      try {
        const { output, isOver } = await evaluate(task);
        const { result, resultEnc } = toResultText({ output }, task.run.masker, secretBox);
        const next = isOver ? undefined : ref.next;
        await recordIterationEnd(db, { ...ref, result, resultEnc, failure: null, next });
        return isOver ? { isOver } : {};
      } catch (error) {
        if (error instanceof NodeError) return fail(task, error);
        throw error;
      }
    },
  };
}

/** Between two rounds, the round before is the one that has just ended. */
function afterRound(scope: Scope, loopId: string, index: number, last: unknown): Scope {
  return { ...scope, loops: new Map([...(scope.loops ?? []), [loopId, { index, last }]]) };
}
