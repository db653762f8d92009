import { evaluateCondition } from '../../graph/condition.js';
import { conditionNode } from '../../graph/nodes/condition.js';
import { renderText } from '../../graph/template.js';
import type { RunContexts } from '../node/run-context.js';
import type { NodeKindRunner } from '../node/run-node.js';

/** The condition node: compares its two sides and says which branch is taken. */
export function createConditionRunner(contexts: RunContexts): NodeKindRunner {
  return {
    kind: 'condition',
    maxAttempts: 1,
    firstDelayMs: 0,
    async execute(task) {
      const { condition } = conditionNode.schema.parse(task.node.data);
      const scope = await contexts.loadScope(task, condition);
      const isTrue = evaluateCondition(
        renderText(condition.left, scope),
        condition.operator,
        renderText(condition.right, scope),
      );
      return { output: { content: String(isTrue) }, branch: isTrue ? 1 : 2 };
    },
  };
}
