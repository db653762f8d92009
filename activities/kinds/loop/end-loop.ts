import type { EndLoopRef, NodeFacts } from '../../../contract/activities.js';
import {
  closeIterations,
  findIteration,
  findIterations,
  measureIterations,
  type StoredIteration,
} from '../../../db/nodes/iterations-repository.js';
import { openResult } from '../../../db/nodes/open-result.js';
import { indexOfPath } from '../../../graph/iteration-path.js';
import { parseJson, writeJson } from '../../../graph/json-text.js';
import { forEachNode } from '../../../graph/nodes/for_each.js';
import { loopNode } from '../../../graph/nodes/loop.js';
import type { NodeOutput } from '../../../graph/template.js';
import { NodeFailure } from '../../node/failures.js';
import { handlesOf, type NodeStep, type NodeTask } from '../../node/node-step.js';
import { RECORDING_FACTOR } from '../../node/payload-weight.js';
import type { LoopDeps } from './loop-deps.js';

/**
 * Limits all outputs and errors of a `for_each` loop together as JSON text. The body of an HTTP answer has the same
 * limit.
 */
const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
/**
 * Iterations that are larger together are not read. The factor allows for each output being stored twice: as JSON, and
 * as an escaped text.
 */
const MAX_STORED_BYTES = 4 * MAX_OUTPUT_BYTES;

/** Ends a loop whose iterations have ended, or were stopped by the failure of one of them. */
export function createEndLoopStep({ db, secretBox }: LoopDeps, ref: EndLoopRef): NodeStep<NodeFacts> {
  function valueOf(iteration: StoredIteration): unknown {
    const text = openResult(iteration, { ...ref, path: iteration.path }, secretBox);
    return text === null ? null : ((parseJson(text) as NodeOutput)['value'] ?? null);
  }

  async function fail(task: NodeTask, { code, index }: NonNullable<EndLoopRef['failure']>): Promise<never> {
    await closeIterations(db, task);
    const found = await findIteration(db, task, index);
    const why = found?.errorMessage ?? `The node failed: ${code}.`;
    throw new NodeFailure(code, `Iteration ${index}: ${why}`);
  }

  async function collect(task: NodeTask): Promise<NodeOutput> {
    const bytes = await measureIterations(db, task);
    if (bytes > MAX_STORED_BYTES) throw tooLarge();
    await task.memory.resize(RECORDING_FACTOR * 2 * bytes);
    const { on_item_error: onItemError } = forEachNode.schema.parse(task.node.data);
    const iterations = (await findIterations(db, task))
      .map((iteration) => ({ ...iteration, index: indexOfPath(iteration.path) }))
      .toSorted((a, b) => a.index - b.index);
    const failed = iterations.filter(({ status }) => status === 'failed');
    const kept = onItemError === 'skip' ? iterations.filter(({ status }) => status !== 'failed') : iterations;
    const items = kept.map(valueOf);
    const errors = failed.map(({ index, errorCode, errorMessage }) => ({
      index,
      code: errorCode ?? 'failed',
      message: errorMessage ?? '',
    }));
    const content = writeJson(items);
    if (Buffer.byteLength(content) + Buffer.byteLength(writeJson(errors)) > MAX_OUTPUT_BYTES) throw tooLarge();
    return { content, items, count: iterations.length, errors };
  }

  async function lastRound(task: NodeTask, rounds: number): Promise<NodeOutput> {
    const { on_limit: onLimit } = loopNode.schema.parse(task.node.data);
    if (ref.isOver !== true && onLimit === 'fail') {
      throw new NodeFailure('too_many_rounds', `The condition did not hold after ${rounds} rounds (max_rounds).`);
    }
    const last = await findIteration(db, task, rounds - 1);
    const value = last === undefined ? null : valueOf(last);
    const content = typeof value === 'string' ? value : writeJson(value);
    await task.memory.resize(RECORDING_FACTOR * 2 * content.length);
    return { content, value, rounds };
  }

  return {
    name: 'end',
    isClaimed: true,
    factsOf: handlesOf,
    async run(task) {
      if (ref.failure !== undefined) return fail(task, ref.failure);
      return { output: task.node.kind === 'loop' ? await lastRound(task, ref.rounds ?? 0) : await collect(task) };
    },
  };
}

function tooLarge(): NodeFailure {
  const message = `The outputs and errors have more than ${MAX_OUTPUT_BYTES} bytes as JSON text.`;
  return new NodeFailure('output_too_large', message);
}
