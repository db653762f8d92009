import { z } from 'zod';
import { isObject, type JsonObject } from '../json.js';
import { filesField, timeoutField, listOfHandles } from './shared-fields.js';
import type { NodeDefinition } from './node-definition.js';
import { inputFieldSchema, inputFieldsSchema } from './trigger.js';

const MAX_ACTIONS = 10;
const MAX_PEOPLE = 20;
const MAX_USER_ID = 2_147_483_647;

const DEFAULT_ACTION = { id: 'done', label: 'Done' } as const;

const actionSchema = z
  .looseObject({
    id: z.string().min(1).max(100).describe('Links and results name the action by it'),
    label: z.string().max(200).optional(),
  })
  .meta({ title: 'Action' });

const assigneesSchema = z.looseObject({
  roles: z.array(z.enum(['owner', 'admin', 'editor', 'viewer'])).nullish(),
  users: z.array(z.int().min(0).max(MAX_USER_ID)).max(1_000).nullish().describe('The ids of members of the project'),
});

/** Overrides the descriptions, which are about a run's input: later nodes read the fields of a task from its result. */
const taskFieldSchema = inputFieldSchema.extend({
  id: z.string().min(1).describe('Later nodes read the value as `values.<id>` of the result'),
  type: z
    .string()
    .nullish()
    .describe('What the person enters')
    .meta({ examples: ['text', 'textarea', 'number', 'checkbox', 'select', 'json', 'file', 'files'] }),
});

const schema = z.looseObject({
  message: z.string().min(1).describe('The question, as Markdown. It may hold variables'),
  files: filesField('Files that the task shows'),
  fields: inputFieldsSchema(taskFieldSchema).nullish().describe('What the person enters'),
  actions: listOfHandles(actionSchema, MAX_ACTIONS)
    .nullish()
    .describe(
      'The buttons of the task. The node goes on by the one that people press. Without actions there is one button Done',
    ),
  assignees: assigneesSchema
    .nullish()
    .describe('Who may answer: members with one of the roles, and these users. Empty: all who may run the workflow'),
  exclude_starter: z.boolean().nullish().describe('The person who started the run may not answer'),
  required: z
    .int()
    .min(1)
    .max(MAX_PEOPLE)
    .nullish()
    .describe('How many people must choose the same action. Empty: one'),
  timeout: timeoutField('How long the task waits for an answer. Empty: 3 days'),
});

export type HumanNodeData = z.infer<typeof schema>;

export const humanNode = {
  kind: 'human',
  type: 'human-node',
  nodeType: 'HumanNodeInput',
  title: 'Human task',
  description: 'Asks people for an answer, and goes on by the action that they choose.',
  category: 'Logic',
  example: {
    message: 'May this be sent? {{ input.text }}',
    actions: [
      { id: 'yes', label: 'Send' },
      { id: 'no', label: 'Stop' },
    ],
  },
  templateFields: ['message', 'files'],
  templatePlaces: { message: 'text', files: 'json' },
  literalFields: ['fields', 'actions'],
  schema,
  outputSchema: z.looseObject({
    content: z.string().describe('The id of the action'),
    action: z.string(),
    values: z.looseObject({}).describe('What the person entered, by the ids of the fields; secret ones as ********'),
    comment: z.string(),
    answered_by: z.array(z.int()).describe('Ids of the users who chose the action'),
  }),
} as const satisfies NodeDefinition;

export function asksForSecrets({ fields }: JsonObject): boolean {
  return Array.isArray(fields) && fields.some((field) => isObject(field) && field['is_secret'] === true);
}

export function actionsOf({ actions }: HumanNodeData): { id: string; label: string }[] {
  return (actions ?? [DEFAULT_ACTION]).map(({ id, label }) => ({ id, label: label ?? id }));
}
