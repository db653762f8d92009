import type { EndIterationFacts, EndIterationsRef, IterationEnd } from '../../../contract/activities.js';
import {
  findIterationFailure,
  recordIterationFailure,
  recordIterations,
  type EndedIteration,
} from '../../../db/nodes/iterations-repository.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import { writeJson } from '../../../graph/json-text.js';
import { NodeError } from '../../../graph/node-error.js';
import { outputOfIteration } from '../../../graph/nodes/body-output.js';
import type { NodeOutput } from '../../../graph/template.js';
import { RECORDING_FACTOR } from '../../node/payload-weight.js';
import { toErrorMessage } from '../../node/record-node.js';
import { REPEATABLE } from '../../node/run-node.js';
import type { NodeStep, NodeTask } from '../../node/node-step.js';
import { toResultText } from '../../node/result-text.js';
import { judgeRound } from './judge-round.js';
import type { LoopDeps } from './loop-deps.js';

/** In characters. Larger outputs are recorded one by one, so that only one is in memory. */
const LARGE_OUTPUT = 32 * 1024;

/** Makes the outputs of iterations whose nodes have ended, and asks whether a conditional loop is over. */
export function createEndIterationsStep(deps: LoopDeps, ref: EndIterationsRef): NodeStep<EndIterationFacts[]> {
  const { db, secretBox, contexts } = deps;

  async function evaluate(task: NodeTask, index: number): Promise<{ output: NodeOutput; isOver: boolean }> {
    const { data, lastNode, id, kind } = task.node;
    const inIteration = { ...task, path: iterationPath(task.path, id, index) };
    const ofLast = lastNode === undefined ? '' : `{{ ${lastNode}.result }}`;
    const templates = [data['output'] ?? ofLast, kind === 'loop' ? data['until'] : undefined];
    const scope = await contexts.loadScope(inIteration, templates);
    const value = outputOfIteration(data['output'], scope, lastNode);
    const content = typeof value === 'string' ? value : writeJson(value);
    await task.memory.resize(task.memory.bytes + RECORDING_FACTOR * content.length);
    const isOver = kind === 'loop' && judgeRound(task, scope, index, value);
    return { output: { content, value }, isOver };
  }

  async function fail(task: NodeTask, end: IterationEnd, failure: Failure): Promise<EndIterationFacts> {
    const message = toErrorMessage(failure, task.run.masker);
    await recordIterationFailure(db, ref, { ...end, failure: { code: failure.code, message } });
    return { failure: failure.code };
  }

  async function endOne(task: NodeTask, end: IterationEnd, ended: EndedIteration[]): Promise<EndIterationFacts> {
    const { index, failure: code, next } = end;
    if (code !== undefined) {
      const found = await findIterationFailure(db, task, index);
      return fail(task, end, { message: `The iteration failed: ${code}.`, ...found, code });
    }
    try {
      const { output, isOver } = await evaluate(task, index);
      const iteration = { ...ref, path: iterationPath(ref.path, ref.nodeId, index) };
      const { result, resultEnc } = toResultText({ output }, iteration, { masker: task.run.masker, secretBox });
      ended.push({ index, result, resultEnc, next: isOver ? undefined : next });
      if (result.length > LARGE_OUTPUT) await recordIterations(db, ref, ended.splice(0));
      return isOver ? { isOver } : {};
    } catch (error) {
      if (error instanceof NodeError) return fail(task, end, error);
      throw error;
    }
  }

  return {
    name: 'iterations',
    ...REPEATABLE,
    settled: () => ref.ends.map(() => ({})),
    async perform(task) {
      const ended: EndedIteration[] = [];
      const facts: EndIterationFacts[] = [];
      for (const end of ref.ends) facts.push(await endOne(task, end, ended));
      if (ended.length > 0) await recordIterations(db, ref, ended);
      return facts;
    },
  };
}

interface Failure {
  code: string;
  message: string;
}
