import { z } from 'zod';
import { toValueOutput } from '../rendered-value.js';
import type { InlineDefinition } from './node-definition.js';
import { valueField, valueOutputSchema } from './value-field.js';

export const setNode = {
  kind: 'set',
  type: 'set-node',
  nodeType: 'SetNodeInput',
  title: 'Set value',
  description: 'Makes a value out of variables, for the nodes that follow.',
  category: 'Data',
  version: '1.0.0',
  templateFields: ['value'],
  templatePlaces: { value: 'json' },
  schema: z.looseObject({ value: valueField }),
  outputSchema: valueOutputSchema,
  evaluate: (data, scope) => ({ output: toValueOutput(data['value'], scope) }),
} as const satisfies InlineDefinition;
