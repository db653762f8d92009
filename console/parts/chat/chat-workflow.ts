// The parts of a workflow that the chat uses.
import { nodesOf, startOf, typeOf, type Drawing, type NodeKinds } from '../../drawing/drawing.js';
import { ownValue } from '../../../graph/json.js';
import { asObject } from '../../ui/json.js';
import { runFields, type RunField } from '../run-input/run-input.js';

export interface ChatWorkflow {
  id: number;
  title: string;
  projectId: number;
  mayWrite: boolean;
  /** Fields of the trigger that the conversation does not fill in. */
  fields: readonly RunField[];
  /** Ids of the nodes that call tools. */
  agents: readonly string[];
  /** True if no files go with a message. */
  takesNoFiles?: boolean;
}

/** The service fills in these fields for each run of a conversation. */
const OWN_FIELDS: readonly string[] = ['message', 'messages', 'conversation_id', 'files'];

export function readDrawing(drawing: Drawing, kinds: NodeKinds): Pick<ChatWorkflow, 'fields' | 'agents'> {
  const agents = [...nodesOf(drawing)].filter(([, node]) => hasSteps(kinds, typeOf(node))).map(([id]) => id);
  const fields = startOf(drawing) === undefined ? [] : runFields(drawing, kinds);
  return { fields: fields.filter(({ id }) => !OWN_FIELDS.includes(id)), agents };
}

/** Agents are the nodes whose results have both `steps` and `usage`. */
function hasSteps(kinds: NodeKinds, type: string): boolean {
  const properties = asObject(asObject(kinds.get(type)?.output_schema)['properties']);
  return ownValue(properties, 'steps') !== undefined && ownValue(properties, 'usage') !== undefined;
}
