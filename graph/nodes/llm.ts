import { z } from 'zod';
import { responseFormatField } from '../response-format.js';
import type { NodeDefinition } from './node-definition.js';
import { placementFields } from './placement.js';
import { messagesField, modelFields, SECONDS_FORMAT } from './shared-fields.js';

// The schema is loose, because unknown settings are sent to the provider as chat-completion parameters.
const settingsSchema = z.looseObject({
  ...modelFields,
  max_tokens: z.int().min(1).nullish().describe('How many tokens the answer may have'),
  top_p: z
    .number()
    .min(0)
    .max(1)
    .nullish()
    .describe('The model chooses only among the likeliest tokens that make up this share'),
  response_format: responseFormatField,
  timeout: z
    .number()
    .min(1)
    .max(600)
    .default(300)
    .describe('How long one attempt may take')
    .meta({ format: SECONDS_FORMAT }),
  ...placementFields,
});

const schema = z.looseObject({ messages: messagesField, settings: settingsSchema });

export type LlmNodeData = z.infer<typeof schema>;

const outputSchema = z.looseObject({
  content: z.string(),
  model: z.string().optional(),
  usage: z
    .looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() })
    .partial()
    .optional(),
  finish_reason: z.string().nullish(),
  json: z.unknown().optional().describe('The answer as JSON, where response_format asks for it'),
});

export const llmNode = {
  kind: 'llm',
  type: 'basic-node',
  nodeType: 'LLMNodeInput',
  title: 'LLM request',
  description: 'Sends messages to a language model and gives its answer.',
  category: 'AI',
  example: { messages: [{ role: 'user', message: 'Summarize: {{ input.text }}' }], settings: { model_name: 'MODEL' } },
  templateFields: ['messages', 'settings'],
  templatePlaces: { 'messages.*.message': 'text', 'messages.*.files': 'json', settings: 'json' },
  schema,
  outputSchema,
} as const satisfies NodeDefinition;
