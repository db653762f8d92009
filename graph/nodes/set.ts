import type { InlineDefinition } from './node-definition.js';
import { ofValue } from './rendered-value.js';

export const setNode = {
  kind: 'set',
  type: 'set-node',
  nodeType: 'SetNodeInput',
  title: 'Set value',
  description: 'Makes a value out of variables, for the nodes that follow.',
  category: 'Data',
  example: { value: { greeting: 'Hello {{ input.text }}' } },
  ...ofValue,
} as const satisfies InlineDefinition;
