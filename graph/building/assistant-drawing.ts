// The drawing whose runs answer in the editor's panel `Assistant` (docs/use/assistants.md, "In the editor"). The
// drawing is built in: no workflow has it. Its runs may use the tools of `/mcp/build`, because their purpose is
// `assistant`.
import type { JsonObject } from '../json.js';
import { INSTRUCTIONS } from './instructions.js';

/** The id of the node that answers. */
const ASSISTANT_NODE = 'assistant';
const START_NODE = 'message';

/**
 * The server of the tools. Nothing listens at this address: the worker calls its own service instead
 * (activities/kinds/agent).
 */
const BUILDER_URL = 'https://assistant.invalid/mcp/build';

/** Saving is left to the person: the editor may have changes that the draft lacks. */
const TOOLS = [
  'find_nodes',
  'describe_node',
  'find_workflows',
  'get_workflow',
  'edit_workflow',
  'variables',
  'test_workflow',
  'read_run',
  'list_connections',
  'ask_for_connection',
];

const MOST_MODEL_CALLS = 60;
const CALL_SECONDS = 120;

const ROLE = `You are the assistant in the editor of a workflow. The person sees its canvas beside this conversation, and your changes as you make them: each of your answers is one step that can be undone.

- You change this workflow alone: edit_workflow always with its id, and with the base that get_workflow has given. When a base is stale, the person has changed something meanwhile: read again, and keep what they have done.
- You cannot save. The person saves in the editor.
- test_workflow mocks what has side effects. When you name nodes in execute, the person is asked first; do so only when the task needs it, and say why.
- Answer in the language of the person, in a few sentences: what you have changed, what the test has shown, and what is missing.`;

const variable = (name: string): string => `{{ input.${name} }}`;

/** The same for all workflows, so that all runs share one stored graph. */
export const ASSISTANT_DRAWING: JsonObject = {
  start_node: START_NODE,
  nodes: [
    {
      id: START_NODE,
      type: 'trigger-node',
      position: { x: 0, y: 0 },
      data: {
        id: START_NODE,
        label: 'Message',
        next_nodes: [ASSISTANT_NODE],
        input_fields: ['model', 'workflow', 'instructions'].map((id) => ({
          id,
          label: id,
          type: 'text',
          input_requirements: true,
        })),
      },
    },
    {
      id: ASSISTANT_NODE,
      type: 'agent-node',
      position: { x: 400, y: 0 },
      data: {
        id: ASSISTANT_NODE,
        label: 'Assistant',
        next_nodes: [],
        messages: [
          { role: 'system', message: variable('instructions') },
          { role: 'system', message: `The id of the workflow is ${variable('workflow')}.` },
          { role: 'assistant', message: `What was said so far: ${variable('messages')}` },
          { role: 'user', message: variable('message') },
        ],
        settings: {
          model_name: variable('model'),
          max_iterations: MOST_MODEL_CALLS,
          timeout: CALL_SECONDS,
          // `ROLE` asks for a `base` with each change, so a repeated change is refused or changes nothing. A repeated
          // test is found by the key of its call.
          retry_unsafe: true,
        },
        tools: [
          {
            type: 'mcp',
            server_label: 'workflow-builder',
            endpoint_url: BUILDER_URL,
            transport: 'streamable_http',
            allowed_tools: TOOLS,
            require_approval: {
              never: { tool_names: TOOLS },
              when_given: [{ tool_name: 'test_workflow', arguments: ['execute'] }],
            },
          },
        ],
      },
    },
  ],
};

/** Returns the input fields that no message fills in. */
export function assistantInputs(workflowId: number, model: string): JsonObject {
  return { model, workflow: String(workflowId), instructions: `${ROLE}\n\n${INSTRUCTIONS}` };
}
