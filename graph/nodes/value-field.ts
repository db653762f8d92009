// What the kinds have in common whose data says their result: a `value`, any JSON with variables.
import { z } from 'zod';
import { toValueOutput } from '../rendered-value.js';
import type { InlineDefinition } from './node-definition.js';

const valueField = z
  .unknown()
  .refine((value) => value !== undefined, { error: 'Field required' })
  .describe('Any JSON; strings in it may hold variables, and one that is exactly a variable keeps its type');

export const ofValue = {
  templateFields: ['value'],
  templatePlaces: { value: 'json' },
  schema: z.looseObject({ value: valueField }),
  outputSchema: z.looseObject({
    content: z.string().describe('The value, as JSON text where it is no text'),
    value: z.unknown().describe('The value with its variables filled in'),
  }),
  evaluate: (data, scope) => ({ output: toValueOutput(data['value'], scope) }),
} as const satisfies Partial<InlineDefinition>;
