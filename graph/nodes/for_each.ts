import { z } from 'zod';
import { isObject } from '../json.js';
import { NodeError } from '../node-error.js';
import { renderJson, type VariableValues } from '../template.js';
import { parseContent } from '../variable.js';
import { bodyOutputField } from './rendered-value.js';
import type { NodeDefinition } from './node-definition.js';

const schema = z.looseObject({
  items: z
    .unknown()
    .refine((value) => value !== undefined && value !== null && value !== '', { error: 'Field required' })
    .describe('A variable or JSON with a list. An object is a list of `{key, value}`'),
  concurrency: z.int().min(1).max(20).default(5).describe('How many items are worked on at the same time'),
  max_items: z.int().min(1).max(10_000).default(1_000).describe('The node fails if the list has more items'),
  on_item_error: z
    .enum(['fail', 'null', 'skip'])
    .default('fail')
    .describe(
      'What follows if the body fails for an item: `fail` fails the node, `null` puts null in its place, `skip` leaves it out',
    )
    .meta({ labels: { fail: 'The node fails', null: 'Its output is null', skip: 'It is left out' } }),
  output: bodyOutputField,
});

export const forEachNode = {
  kind: 'for_each',
  type: 'for-each-node',
  nodeType: 'ForEachNodeInput',
  title: 'For each',
  description: 'Runs its body once for each item of a list, several side by side, and collects their outputs in order.',
  category: 'Logic',
  example: { items: [1, 2, 3], concurrency: 3 },
  templateFields: ['items'],
  iterationFields: ['output'],
  templatePlaces: { items: 'json' },
  bodyVariables: ['item', 'index'],
  schema,
  outputSchema: z.looseObject({
    content: z.string().describe('The outputs as JSON text'),
    items: z.array(z.unknown()).describe('The outputs, in the order of the items'),
    count: z.int().describe('The number of items that were given'),
    errors: z.array(z.looseObject({ index: z.int(), code: z.string(), message: z.string() })),
  }),
} as const satisfies NodeDefinition;

/**
 * Returns the items of the loop. Throws a `NodeError` with the code `not_a_list`, `too_many_items` or
 * `rendered_too_large`.
 */
export function itemsOf(data: Record<string, unknown>, values: VariableValues): unknown[] {
  const { items: template, max_items: most } = schema.parse(data);
  const rendered = renderJson(template, values);
  const source = typeof rendered === 'string' ? parseContent(rendered) : rendered;
  const items = isObject(source) ? Object.entries(source).map(([key, value]) => ({ key, value })) : source;
  if (!Array.isArray(items)) throw new NodeError('not_a_list', '`items` is neither a list nor an object.');
  if (items.length <= most) return items;
  throw new NodeError(
    'too_many_items',
    `There are ${items.length} items, and at most ${most} are allowed (max_items).`,
  );
}
