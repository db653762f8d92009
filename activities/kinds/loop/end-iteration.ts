import type { EndIterationFacts, EndIterationRef } from '../../../contract/activities.js';
import { findIterationFailure, recordIterationFailure } from '../../../db/nodes/iterations-repository.js';
import { isQuotaExceeded } from '../../../db/projects/stored-bytes-repository.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import { writeJson } from '../../../graph/json-text.js';
import { NodeError } from '../../../graph/node-error.js';
import { outputOfIteration } from '../../../graph/nodes/rendered-value.js';
import type { NodeOutput } from '../../../graph/template.js';
import { quotaFailure } from '../../node/failures.js';
import { RECORDING_FACTOR } from '../../node/payload-weight.js';
import { toErrorMessage } from '../../node/record.js';
import type { NodeStep, NodeTask } from '../../node/node-step.js';
import { toResultText } from '../../node/result-text.js';
import { judgeRound } from './judge-round.js';
import type { LoopDeps } from './loop-deps.js';

/** Evaluates the output of an iteration whose nodes have ended, and the condition of a conditional loop. */
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
    const { index, next } = ref;
    const reported = { code: failure.code, message };
    await recordIterationFailure(db, ref, { index, failure: reported, ...(next !== undefined && { next }) });
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

interface Failure {
  code: string;
  message: string;
}
