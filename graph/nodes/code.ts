import { z } from 'zod';
import type { NodeDefinition } from './node-definition.js';
import { placementFields } from './placement.js';
import { SECONDS_FORMAT } from './shared-fields.js';

const MAX_CODE_CHARACTERS = 262_144;

const settingsSchema = z.looseObject({
  timeout: z
    .number()
    .min(0.1)
    .max(30)
    .default(5)
    .describe('How long the code may run')
    .meta({ format: SECONDS_FORMAT }),
  ...placementFields,
});

const schema = z.looseObject({
  code: z
    .string()
    .min(1)
    .max(MAX_CODE_CHARACTERS)
    .describe(
      'The body of a JavaScript function of `inputs` that returns JSON. Variables are not filled in here: give them to the code as inputs',
    )
    // Tells code editors the language.
    .meta({ contentMediaType: 'text/javascript' }),
  inputs: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      'The code reads them as `inputs.NAME`. The values may hold variables; a value that is one variable keeps its JSON type',
    )
    // Editors show names with values instead of one JSON text.
    .meta({ format: 'record' }),
  settings: settingsSchema.prefault({}),
});

export type CodeNodeData = z.infer<typeof schema>;

const outputSchema = z.looseObject({
  content: z.string().describe('The text that the code returned, or the JSON as text'),
  value: z.unknown().describe('What the code returned'),
  logs: z.array(z.string()).describe('What the code wrote to the console, one item for each call'),
});

export const codeNode = {
  kind: 'code',
  type: 'code-node',
  nodeType: 'CodeNodeInput',
  title: 'Code',
  description: 'Runs JavaScript in a sandbox and gives what it returns.',
  category: 'Logic',
  example: { code: 'return inputs.text.toUpperCase();', inputs: { text: '{{ input.text }}' } },
  templateFields: ['inputs'],
  templatePlaces: { inputs: 'json' },
  // If variables were filled in, an untrusted value could become code.
  literalFields: ['code'],
  schema,
  outputSchema,
} as const satisfies NodeDefinition;
