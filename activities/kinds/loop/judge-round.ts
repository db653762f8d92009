// Decides if a conditional loop is over after one of its rounds.
import { findIteration } from '../../../db/nodes/iterations-repository.js';
import { openResult } from '../../../db/nodes/open-result.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import type { Condition } from '../../../graph/condition-schema.js';
import { parseJson } from '../../../graph/json-text.js';
import type { NodeOutput, VariableValues } from '../../../graph/template.js';
import type { NodeTask } from '../../node/node-step.js';
import type { LoopDeps } from './loop-deps.js';

/** `values` are the variables of the round with this index, and `value` is its output. */
export async function judgeRound(
  { judge }: Pick<LoopDeps, 'judge'>,
  task: NodeTask,
  { values, index, value }: { values: VariableValues; index: number; value: unknown },
): Promise<boolean> {
  const { id, data } = task.node;
  const held = await judge(task)([data['until'] as Condition], afterRound(values, id, index, value), 'first');
  return held.length > 0;
}

/** Evaluates the condition after a round that the run reuses from an earlier run. */
export async function judgeReusedRound(deps: LoopDeps, task: NodeTask, index: number): Promise<boolean> {
  const { id, data } = task.node;
  const round = await findIteration(deps.db, task, index);
  const text = round === undefined ? null : openResult(round, { ...task, path: round.path }, deps.secretBox);
  const value = text === null ? null : (parseJson(text) as NodeOutput)['value'];
  const values = await deps.contexts.loadValues({ ...task, path: iterationPath(task.path, id, index) }, [
    data['until'],
  ]);
  return judgeRound(deps, task, { values, index, value });
}

/** Between two rounds, `last` is the output of the round that has just ended. */
function afterRound(values: VariableValues, loopId: string, index: number, last: unknown): VariableValues {
  return { ...values, loops: new Map([...(values.loops ?? []), [loopId, { index, last }]]) };
}
