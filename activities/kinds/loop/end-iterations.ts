import type { EndIterationFacts, EndIterationsRef, IterationEnd } from '../../../contract/activities.js';
import {
  findIterationFailure,
  recordIterationFailure,
  recordIterations,
  type EndedIteration,
} from '../../../db/nodes/iterations-repository.js';
import { isQuotaExceeded } from '../../../db/projects/stored-bytes-repository.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import { writeJson } from '../../../graph/json-text.js';
import { NodeError } from '../../../graph/node-error.js';
import { outputOfIteration } from '../../../graph/nodes/rendered-value.js';
import type { NodeOutput } from '../../../graph/template.js';
import { quotaFailure } from '../../node/failures.js';
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
    const isOver = kind === 'loop' && (await judgeRound(deps, task, { scope, index, value }));
    return { output: { content, value }, isOver };
  }

  async function fail(
    task: NodeTask,
    end: Pick<EndedIteration, 'index'> & { next?: number | undefined },
    failure: Failure,
  ): Promise<EndIterationFacts> {
    const message = toErrorMessage(failure, task.run.masker);
    const { index, next } = end;
    const told = { code: failure.code, message };
    await recordIterationFailure(db, ref, { index, failure: told, ...(next !== undefined && { next }) });
    return { failure: failure.code };
  }

  /** Together where they fit into what the project may store, else one by one. What does not fit fails its iteration. */
  async function record(task: NodeTask, ended: EndedIteration[], facts: FactsByIndex): Promise<void> {
    try {
      await recordIterations(db, ref, ended);
    } catch (error) {
      if (!isQuotaExceeded(error)) throw error;
      const [one, ...others] = ended;
      if (others.length > 0) for (const each of ended) await record(task, [each], facts);
      else if (one !== undefined) facts.set(one.index, await fail(task, one, quotaFailure()));
    }
  }

  async function endOne(task: NodeTask, end: IterationEnd, ended: EndedIteration[], facts: FactsByIndex) {
    const { index, failure: code, next } = end;
    if (code !== undefined) {
      const found = await findIterationFailure(db, task, index);
      facts.set(index, await fail(task, end, { message: `The iteration failed: ${code}.`, ...found, code }));
      return;
    }
    try {
      const { output, isOver } = await evaluate(task, index);
      const iteration = { ...ref, path: iterationPath(ref.path, ref.nodeId, index) };
      const { result, resultEnc } = toResultText({ output }, iteration, { masker: task.run.masker, secretBox });
      ended.push({ index, result, resultEnc, next: isOver ? undefined : next });
      facts.set(index, isOver ? { isOver } : {});
      if (result.length > LARGE_OUTPUT) await record(task, ended.splice(0), facts);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      facts.set(index, await fail(task, end, error));
    }
  }

  return {
    name: 'iterations',
    ...REPEATABLE,
    settled: () => ref.ends.map(() => ({})),
    async perform(task) {
      const ended: EndedIteration[] = [];
      const facts: FactsByIndex = new Map();
      for (const end of ref.ends) await endOne(task, end, ended, facts);
      if (ended.length > 0) await record(task, ended, facts);
      return ref.ends.map(({ index }) => facts.get(index)!);
    },
  };
}

type FactsByIndex = Map<number, EndIterationFacts>;

interface Failure {
  code: string;
  message: string;
}
