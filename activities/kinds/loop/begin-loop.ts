import type { LoopFacts } from '../../../contract/activities.js';
import { startIterations, storeItems } from '../../../db/nodes/iterations-repository.js';
import {
  countReusedItems,
  findReusedInIterations,
  findReusedIterations,
} from '../../../db/nodes/reused-results-repository.js';
import type { Db } from '../../../db/core/client.js';
import { writeJson } from '../../../graph/json-text.js';
import { forEachNode, itemsOf } from '../../../graph/nodes/for_each.js';
import { loopNode } from '../../../graph/nodes/loop.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import { toReusedNodes } from '../../node/load-run.js';
import { PARSED_FACTOR } from '../../node/payload-weight.js';
import type { NodeStep, NodeTask } from '../../node/node-step.js';
import { judgeReusedRound } from './judge-round.js';
import type { LoopDeps } from './loop-deps.js';

/**
 * The facts of a loop that has already ended: no iteration starts, and the activity that ends
 * the loop finds the recorded end.
 */
const ENDED: LoopFacts = { count: 0, concurrency: 1, survivesFailures: false, isConditional: false };

const frame = { isClaimed: true, factsOf: () => ENDED };

/** The items are sealed, because their variables may contain secrets. */
export function createForEachStep({ db, secretBox, contexts }: LoopDeps): NodeStep<LoopFacts> {
  async function storeRendered(task: NodeTask): Promise<number> {
    const { data } = task.node;
    const items = itemsOf(data, await contexts.loadValues(task, data['items']));
    const texts = items.map((item) => writeJson(item));
    await task.memory.resize(task.memory.bytes + PARSED_FACTOR * texts.reduce((sum, text) => sum + text.length, 0));
    const sealed = texts.map((text, index) =>
      secretBox.seal(text, 'loop-item', task.runId, task.path, task.nodeId, index),
    );
    // Items that an earlier attempt has stored stay, even if they differ from `items`.
    if (await storeItems(db, task, sealed)) contexts.rememberItems(task, texts);
    return items.length;
  }
  return {
    ...frame,
    async run(task) {
      const { data } = task.node;
      const { concurrency, on_item_error: onItemError } = forEachNode.schema.parse(data);
      const count = (task.run.isResumed ? await countReusedItems(db, task) : undefined) ?? (await storeRendered(task));
      const { kept = [], ...more } = await findReused(db, task);
      const only = onlyIterationOf(task);
      const indexes = only === undefined ? firstOf(count, kept, concurrency) : [only].filter((index) => index < count);
      await startIterations(db, task, { total: only === undefined ? count : indexes.length, indexes });
      const facts = { count, concurrency, survivesFailures: onItemError !== 'fail', isConditional: false };
      return { facts: { ...facts, ...(kept.length > 0 && { kept }), ...more } };
    },
  };
}

/**
 * Returns the part of the loop that the run reuses from an earlier run: whole iterations,
 * and nodes of other iterations.
 */
async function findReused(db: Db, loop: NodeTask): Promise<Pick<LoopFacts, 'begun' | 'kept'>> {
  if (!loop.run.isResumed) return {};
  const kept = await findReusedIterations(db, loop);
  const left = await findReusedInIterations(db, loop);
  if (left.size === 0) return kept.length === 0 ? {} : { kept };
  const body = loop.run.planOf(iterationPath(loop.path, loop.nodeId, 0));
  return { kept, begun: [...left].map(([index, ends]) => [index, toReusedNodes(ends, body)]) };
}

/** Returns the only iteration that a test run executes, or undefined if the run executes all of them. */
function onlyIterationOf({ run, path, nodeId }: NodeTask): number | undefined {
  const { ids, only } = run.planOf(path);
  return only?.[ids.indexOf(nodeId)];
}

/** Returns the indexes of the first `most` iterations that are not reused. */
function firstOf(count: number, kept: number[], most: number): number[] {
  const isReused = new Set(kept);
  const first: number[] = [];
  for (let index = 0; index < count && first.length < most; index++) if (!isReused.has(index)) first.push(index);
  return first;
}

export function createLoopStep(deps: LoopDeps): NodeStep<LoopFacts> {
  const { db } = deps;
  return {
    ...frame,
    async run(task) {
      const { max_rounds: count } = loopNode.schema.parse(task.node.data);
      const facts = { count, concurrency: 1, survivesFailures: false, isConditional: true };
      const { kept = [], ...more } = await findReused(db, task);
      const only = onlyIterationOf(task);
      const last = only === undefined ? kept.at(-1) : undefined;
      // The earlier run may have stopped between the end of its last round and the end of the loop.
      const isOver = last !== undefined && (await judgeReusedRound(deps, task, last));
      const first = only === undefined ? firstOf(count, kept, 1) : [only];
      const indexes = isOver ? [] : first;
      await startIterations(db, task, { total: 0, indexes });
      return { facts: { ...facts, ...(last !== undefined && { kept }), ...more, ...(isOver && { isOver }) } };
    },
  };
}
