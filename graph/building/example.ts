// An example of each kind, as the changes that draw such a node between a trigger and an output.
import type { JsonObject } from '../json.js';
import { traitsOf, type NodeKind } from '../kinds.js';
import { nodeDefinitions } from '../nodes/registry.js';
import { BODY_HANDLE } from '../plan.js';
import type { NodeDefinition } from '../nodes/node-definition.js';
import type { Change } from './changes-schema.js';
import { exitNamesOf, ORDINARY_EXIT } from './node-links.js';

interface Known {
  /** The model that the example names. */
  model: string;
  /** The workflow that the example of the kind `workflow` runs; undefined if no project with a workflow is named. */
  workflowId: number | undefined;
}

/** Returns undefined for a kind without an example, and for the kind `workflow` without a `workflowId`. */
export function exampleOf(kind: NodeKind, { model, workflowId }: Known): Change[] | undefined {
  const { example, type }: NodeDefinition = nodeDefinitions[kind];
  if (example === undefined || (kind === 'workflow' && workflowId === undefined)) return undefined;
  const start: Change = {
    add: { id: 'start', kind: nodeDefinitions.trigger.type, data: nodeDefinitions.trigger.example },
  };
  if (kind === 'trigger') return [start];
  const data = filledIn(example, { model, workflowId });
  const body = traitsOf(kind).runs === 'body' ? traitsOf(kind).handles[BODY_HANDLE - 1]!.edge : undefined;
  const exits = exitNamesOf(kind, data).filter((exit) => exit !== body);
  const changes: Change[] = [start, { add: { id: 'example', kind: type, label: 'Example', data, after: 'start' } }];
  if (body !== undefined) {
    const each = { id: 'each', kind: nodeDefinitions.set.type, data: { value: '{{ example.index }}' } };
    changes.push({ add: { ...each, after: { node: 'example', exit: body } } });
  }
  if (kind === 'output') return changes;
  const [exit = ORDINARY_EXIT] = exits;
  const result = { value: '{{ example.result.content }}' };
  changes.push({
    add: { id: 'result', kind: nodeDefinitions.output.type, data: result, after: { node: 'example', exit } },
  });
  return changes;
}

function filledIn(example: JsonObject, { model, workflowId }: Known): JsonObject {
  const settings = example['settings'] as JsonObject | undefined;
  return {
    ...example,
    ...(settings !== undefined && { settings: { ...settings, model_name: model } }),
    ...(example['workflow_id'] === 0 && { workflow_id: workflowId }),
  };
}
