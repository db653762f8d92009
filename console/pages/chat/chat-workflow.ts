// The workflow of a chat, as the parts of the page need it.
import { nodesOf, startOf, typeOf, type Drawing, type NodeKinds } from '../../drawing/drawing.js';
import { asObject, ownValue } from '../../ui/json.js';
import { runFields, type RunField } from '../../parts/run-input/run-input.js';

export interface ChatWorkflow {
  id: number;
  title: string;
  projectId: number;
  /** Whether the person may write. */
  mayWrite: boolean;
  /** The fields of its trigger that the conversation itself does not give. */
  fields: readonly RunField[];
  /** The ids of the nodes that call tools. */
  agents: readonly string[];
}

/** The conversation gives these fields to each run by itself. */
const OWN_FIELDS: readonly string[] = ['message', 'messages', 'conversation_id', 'files'];

export function readDrawing(drawing: Drawing, kinds: NodeKinds): Pick<ChatWorkflow, 'fields' | 'agents'> {
  const agents = [...nodesOf(drawing)].filter(([, node]) => hasSteps(kinds, typeOf(node))).map(([id]) => id);
  const fields = startOf(drawing) === undefined ? [] : runFields(drawing, kinds);
  return { fields: fields.filter(({ id }) => !OWN_FIELDS.includes(id)), agents };
}

/** Agents are the nodes whose results tell their steps and what these have used. */
function hasSteps(kinds: NodeKinds, type: string): boolean {
  const properties = asObject(asObject(kinds.get(type)?.output_schema)['properties']);
  return ownValue(properties, 'steps') !== undefined && ownValue(properties, 'usage') !== undefined;
}
