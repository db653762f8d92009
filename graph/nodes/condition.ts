import { z } from 'zod';
import { conditionSchema, type Condition } from '../condition-schema.js';
import type { InlineDefinition } from './node-definition.js';

const schema = z.looseObject({ condition: conditionSchema });

export const conditionNode = {
  kind: 'condition',
  type: 'if-else-node',
  nodeType: 'ConditionNode',
  title: 'Condition',
  description: 'Tests values, and goes on by True or by False.',
  category: 'Logic',
  example: { condition: { left: '{{ input.text }}', operator: 'contains', right: 'rain' } },
  templateFields: ['condition'],
  conditionPlaces: ['condition'],
  schema,
  outputSchema: z.looseObject({ content: z.enum(['true', 'false']) }),
  async evaluate(data, values, judge) {
    const [first] = await judge([data['condition'] as Condition], values, 'first');
    const isTrue = first !== undefined;
    return { output: { content: String(isTrue) }, handle: isTrue ? 1 : 2 };
  },
} as const satisfies InlineDefinition;
