import { z } from 'zod';
import { conditionSchema } from '../condition-schema.js';
import { FIRST_LISTED_HANDLE, MAX_LISTED_HANDLES } from '../plan.js';
import type { Evaluation, InlineDefinition } from './node-definition.js';
import { listOfHandles } from './shared-fields.js';

const caseSchema = z
  .looseObject({
    id: z.string().min(1).max(100).describe('Links and results name the case by it'),
    label: z.string().optional(),
    condition: conditionSchema,
  })
  // Editors use this title for one item of the list.
  .meta({ title: 'Case' });

const schema = z.looseObject({
  cases: listOfHandles(caseSchema, MAX_LISTED_HANDLES),
  mode: z
    .enum(['first', 'all'])
    .default('first')
    .describe('`first` goes on by the first case that holds, `all` by each of them')
    .meta({ labels: { first: 'the first case that holds', all: 'all cases that hold' } }),
});

const NAMED_DEFAULT = 1;

export const switchNode = {
  kind: 'switch',
  type: 'switch-node',
  nodeType: 'SwitchNodeInput',
  title: 'Switch',
  description: 'Tests one case after the other, and goes on by the cases that hold.',
  category: 'Logic',
  example: {
    cases: [
      { id: 'urgent', label: 'Urgent', condition: { left: '{{ input.text }}', operator: 'contains', right: 'now' } },
      { id: 'short', condition: { left: '{{ input.text }}', operator: 'matches', right: '^.{0,20}$' } },
    ],
  },
  templateFields: ['cases'],
  conditionPlaces: ['cases.*.condition'],
  templatePlaces: { 'cases.*.condition': 'text' },
  schema,
  outputSchema: z.looseObject({
    content: z.string().describe('The id of the taken case, `default` where there is none; with `all` the ids as JSON'),
    cases: z.array(z.string()).describe('Ids of the cases that were taken'),
  }),
  async evaluate(data, values, judge) {
    // The data is not parsed with the schema, which would compile every literal pattern, however long that takes.
    const { cases, mode = 'first' } = data as z.input<typeof schema>;
    const conditions = cases.map(({ condition }) => condition);
    const held = await judge(conditions, values, mode);
    return mode === 'all' ? takeAll(cases, held) : takeFirst(cases, held);
  },
} as const satisfies InlineDefinition;

type Case = z.infer<typeof caseSchema>;

function takeFirst(cases: readonly Case[], [index = -1]: readonly number[]): Evaluation {
  const taken = cases[index];
  if (taken === undefined) return { output: { content: 'default', cases: [] }, handle: NAMED_DEFAULT };
  return { output: { content: taken.id, cases: [taken.id] }, handle: FIRST_LISTED_HANDLE + index };
}

function takeAll(cases: readonly Case[], held: readonly number[]): Evaluation {
  const ids = held.map((index) => cases[index]!.id);
  const output = { content: JSON.stringify(ids), cases: ids };
  const [handle = NAMED_DEFAULT, ...alsoHandles] = held.map((index) => FIRST_LISTED_HANDLE + index);
  return { output, handle, ...(alsoHandles.length > 0 && { alsoHandles }) };
}
