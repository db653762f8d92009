import type { InlineDefinition } from './node-definition.js';
import { ofValue } from './rendered-value.js';

export const outputNode = {
  kind: 'output',
  type: 'output-node',
  nodeType: 'OutputNodeInput',
  title: 'Output',
  description: 'Makes a value, which is what the run puts out if no other output came first.',
  category: 'Data',
  example: { value: { text: '{{ input.text }}' } },
  ...ofValue,
} as const satisfies InlineDefinition;
