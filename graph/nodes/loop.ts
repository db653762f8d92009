import { z } from 'zod';
import { conditionSchema } from '../condition-schema.js';
import { bodyOutputField } from './rendered-value.js';
import type { NodeDefinition } from './node-definition.js';

export const loopNode = {
  kind: 'loop',
  type: 'loop-node',
  nodeType: 'LoopNodeInput',
  title: 'Loop',
  description: 'Runs its body again and again, until a condition holds after a round.',
  category: 'Logic',
  example: { until: { left: '{{ example.index }}', operator: '==', right: '2' }, max_rounds: 5 },
  // Variables are filled in within each round, where `{{ LOOP.last }}` and the nodes of the body can be read.
  templateFields: [],
  iterationFields: ['until', 'output'],
  conditionPlaces: ['until'],
  bodyVariables: ['index', 'last'],
  schema: z.looseObject({
    until: conditionSchema.describe('It is tested after each round. The loop ends when it holds'),
    max_rounds: z.int().min(1).max(1_000).default(10).describe('After so many rounds the loop ends in any case'),
    on_limit: z
      .enum(['fail', 'continue'])
      .default('fail')
      .describe('What follows if the condition still does not hold after the last round')
      .meta({ labels: { fail: 'The node fails', continue: 'The node goes on' } }),
    output: bodyOutputField,
  }),
  outputSchema: z.looseObject({
    content: z.string().describe('The output of the last round, as JSON text where it is no text'),
    value: z.unknown().describe('The output of the last round'),
    rounds: z.int().describe('The number of rounds'),
  }),
} as const satisfies NodeDefinition;
