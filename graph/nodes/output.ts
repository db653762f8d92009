import { z } from 'zod';
import { toValueOutput } from '../rendered-value.js';
import type { InlineDefinition } from './node-definition.js';
import { valueField, valueOutputSchema } from './value-field.js';

export const outputNode = {
  kind: 'output',
  type: 'output-node',
  nodeType: 'OutputNodeInput',
  title: 'Output',
  description: 'Makes a value, which is what the run puts out if no other output came first.',
  category: 'Data',
  version: '1.0.0',
  templateFields: ['value'],
  templatePlaces: { value: 'json' },
  schema: z.looseObject({ value: valueField }),
  outputSchema: valueOutputSchema,
  evaluate: (data, scope) => ({ output: toValueOutput(data['value'], scope) }),
} as const satisfies InlineDefinition;
