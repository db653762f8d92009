import { z } from 'zod';
import type { NodeDefinition } from './node-definition.js';

const optionSchema = z.looseObject({
  title: z.string().nullish(),
  value: z.unknown(),
  is_default: z.boolean().nullish(),
});

/**
 * A field of the input of a run, or of a human task. Only `id` is required. The other properties are for the form that
 * asks a person for the value. `completeInput` also uses them to fill in defaults and to check values, and `is_secret`
 * decides which values are stored encrypted.
 */
export const inputFieldSchema = z.looseObject({
  id: z.string().min(1).describe('Nodes read the value as the variable {{ input.<id> }}'),
  title: z.string().nullish(),
  type: z.string().nullish().describe('How the value is entered: text, number, select and others'),
  input_requirements: z.boolean().nullish().describe('The field must have a value'),
  placeholder: z.string().nullish(),
  tooltip: z.string().nullish(),
  default_value: z.unknown().optional(),
  is_secret: z.boolean().nullish().describe('The value is a credential, which is stored encrypted and never shown'),
  options: z.array(optionSchema).nullish(),
});

export function inputFieldsSchema<Field extends z.ZodType<{ id: string }>>(field: Field) {
  return z.array(field).superRefine((fields, context) => {
    const seen = new Set<string>();
    for (const [index, { id }] of fields.entries()) {
      if (seen.has(id)) context.addIssue({ code: 'custom', path: [index, 'id'], message: 'Field id should be unique' });
      seen.add(id);
    }
  });
}

const schema = z.looseObject({ input_fields: inputFieldsSchema(inputFieldSchema).nullish() });

export const triggerNode = {
  kind: 'trigger',
  type: 'trigger-node',
  nodeType: 'TriggerNode',
  title: 'Trigger',
  description: 'Starts the workflow and hands its input to the nodes that follow.',
  category: 'Start',
  example: { input_fields: [{ id: 'text', title: 'Text', type: 'text', input_requirements: true }] },
  templateFields: [],
  schema,
  outputSchema: z.looseObject({ content: z.string().describe('The input as JSON text; its fields stand beside it') }),
} as const satisfies NodeDefinition;
