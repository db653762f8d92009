import type { LoopFacts } from '../../../contract/activities.js';
import { beginIterations, storeItems } from '../../../db/nodes/iterations-repository.js';
import { writeJson } from '../../../graph/json-text.js';
import { forEachNode, itemsOf } from '../../../graph/nodes/for_each.js';
import { loopNode } from '../../../graph/nodes/loop.js';
import type { NodeKey } from '../../../graph/plan.js';
import { PARSED_FACTOR } from '../../node/payload-weight.js';
import type { NodeStep, NodeTask } from '../../node/node-step.js';
import type { LoopDeps } from './loop-deps.js';

/** A begun loop begins once more with nothing: what follows finds how it has ended. */
const ENDED: LoopFacts = { count: 0, concurrency: 1, survivesFailures: false, isConditional: false };

/** Attempts are not counted: the step only reads and writes, and may be repeated. */
const frame = { maxAttempts: Number.POSITIVE_INFINITY, firstDelayMs: 500, attemptOf: () => 1, settled: () => ENDED };

/** Stores the items, sealed, because the variables that they come from may hold secrets. */
export function createForEachStep({ db, secretBox, contexts }: LoopDeps): NodeStep<LoopFacts> {
  return {
    ...frame,
    async perform(task) {
      const { data } = task.node;
      const items = itemsOf(data, await contexts.loadScope(task, data['items']));
      const texts = items.map((item) => writeJson(item));
      await task.memory.resize(task.memory.bytes + PARSED_FACTOR * texts.reduce((sum, text) => sum + text.length, 0));
      await storeItems(
        db,
        task,
        texts.map((text) => secretBox.seal(text, 'loop-item')),
      );
      const { concurrency, on_item_error: onItemError } = forEachNode.schema.parse(data);
      const facts = {
        count: items.length,
        concurrency,
        survivesFailures: onItemError !== 'fail',
        isConditional: false,
      };
      await begin(task, facts, items.length);
      return facts;
    },
  };

  function begin(task: NodeTask, { count, concurrency }: LoopFacts, total: number): Promise<void> {
    const indexes = Array.from({ length: Math.min(count, concurrency) }, (_, index) => index);
    return beginIterations(db, task satisfies NodeKey, { total, indexes });
  }
}

export function createLoopStep({ db }: LoopDeps): NodeStep<LoopFacts> {
  return {
    ...frame,
    async perform(task) {
      const { max_rounds: count } = loopNode.schema.parse(task.node.data);
      await beginIterations(db, task, { total: 0, indexes: [0] });
      return { count, concurrency: 1, survivesFailures: false, isConditional: true };
    },
  };
}
