import { z } from 'zod';
import { evaluateCondition, OPERATORS } from '../condition.js';
import { renderText } from '../template.js';
import type { InlineDefinition } from './node-definition.js';

const sideSchema = z
  .union([z.string(), z.number(), z.boolean()], {
    error: ({ input }) => (input === undefined ? undefined : 'Input should be a valid string, number or boolean'),
  })
  .transform(String)
  .describe('May hold variables');

const schema = z.looseObject({
  condition: z.looseObject({ left: sideSchema, operator: z.enum(OPERATORS), right: sideSchema }),
});

export type ConditionNodeData = z.infer<typeof schema>;

export const conditionNode = {
  kind: 'condition',
  type: 'if-else-node',
  nodeType: 'ConditionNode',
  title: 'Condition',
  description: 'Compares two values and goes on with the true or the false branch.',
  category: 'Logic',
  version: '1.0.0',
  templateFields: ['condition'],
  schema,
  outputSchema: z.looseObject({ content: z.enum(['true', 'false']) }),
  evaluate(data, scope) {
    const { left, operator, right } = schema.parse(data).condition;
    const isTrue = evaluateCondition(renderText(left, scope), operator, renderText(right, scope));
    return { output: { content: String(isTrue) }, handle: isTrue ? 1 : 2 };
  },
} as const satisfies InlineDefinition;
