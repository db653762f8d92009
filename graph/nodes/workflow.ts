import { z } from 'zod';
import { isObject, type JsonObject } from '../json.js';
import { createRenderer, renderValue, type VariableValues } from '../template.js';
import type { NodeDefinition } from './node-definition.js';

const MAX_ID = 2_147_483_647;

/** The `format` of a field with the id of a workflow of the same project. Editors offer the workflows. */
const WORKFLOW_ID_FORMAT = 'workflow-id';

export const workflowIdField = z
  .int()
  .min(0)
  .max(MAX_ID)
  .describe('A workflow of the same project')
  .meta({ title: 'Workflow', format: WORKFLOW_ID_FORMAT });

const schema = z.looseObject({
  workflow_id: workflowIdField,
  input: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('The input of its run. The values may hold variables; a value that is one variable keeps its JSON type'),
  wait: z
    .boolean()
    .default(true)
    .describe('The node waits for the end of the run and gives its output')
    .meta({ title: 'Wait for the end' }),
});

type WorkflowNodeData = z.infer<typeof schema>;

export const workflowNode = {
  kind: 'workflow',
  type: 'workflow-node',
  nodeType: 'WorkflowNodeInput',
  title: 'Sub-workflow',
  description: 'Runs another workflow of the project, as a run of its own.',
  category: 'Logic',
  example: { workflow_id: 0, input: { text: '{{ input.text }}' } },
  templateFields: ['input'],
  templatePlaces: { input: 'json' },
  schema,
  outputSchema: z.looseObject({
    content: z.string().describe('The output of the run as text; empty where the node does not wait'),
    output: z
      .unknown()
      .describe('The output of the run; without an output node, what its last node put out. Null where nobody waits'),
    run_id: z.string(),
    status: z.enum(['succeed', 'in progress']).describe('`in progress` where the node does not wait'),
  }),
} as const satisfies NodeDefinition;

/**
 * Returns the id of the workflow that a node or a tool of an agent runs, or undefined if the id is absent or invalid.
 */
export function calledWorkflow({ workflow_id: id }: JsonObject): number | undefined {
  return typeof id === 'number' && Number.isInteger(id) && id >= 0 && id <= MAX_ID ? id : undefined;
}

/**
 * Returns the input of the sub-workflow's run. Throws a `RenderedTooLargeError` if its variables have more than
 * `maxCharacters`.
 */
export function childInput({ input }: WorkflowNodeData, values: VariableValues, maxCharacters: number): JsonObject {
  const rendered = renderValue(input, createRenderer(values, maxCharacters));
  return isObject(rendered) ? rendered : {};
}
