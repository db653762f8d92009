import { z } from 'zod';
import { traitsOf, type KindThatRuns, type NodeKind } from '../kinds.js';
import { agentNode } from './agent.js';
import { conditionNode } from './condition.js';
import { httpNode } from './http.js';
import { llmNode } from './llm.js';
import { mcpNode } from './mcp.js';
import type { InlineDefinition, NodeDefinition } from './node-definition.js';
import { withTitles } from './titles.js';
import { triggerNode } from './trigger.js';

/**
 * The trigger is not evaluated here. Its output is the input of the run, which has its own secrets
 * (`activities/kinds/trigger.ts`).
 */
export type EvaluatedKind = Exclude<KindThatRuns<'inline'>, 'trigger'>;

/** Every node kind. A missing kind is a compile error, and so is an inline kind without `evaluate`. */
export const nodeDefinitions = {
  trigger: triggerNode,
  condition: conditionNode,
  llm: llmNode,
  http: httpNode,
  agent: agentNode,
  mcp: mcpNode,
} as const satisfies Record<NodeKind, NodeDefinition> & Record<EvaluatedKind, InlineDefinition>;

const kindsByType = new Map<string, NodeKind>(Object.values(nodeDefinitions).map(({ type, kind }) => [type, kind]));

/** Returns the kind for the `type` of a drawn node. */
export function kindOfType(type: string): NodeKind | undefined {
  return kindsByType.get(type);
}

export interface NodeDescription {
  node_type: string;
  type: string;
  title: string;
  description: string;
  category: string;
  version: string;
  /**
   * The handles by which a node is left: `id` is the `sourceHandle` of the drawn edge, and `field` is the field of the
   * node's data that holds the target. Empty where the node is left by its `next_nodes`.
   */
  handles: { id: string; label: string; field: string }[];
  schema: object;
  output_schema: object;
}

/** Returns the body of `get_nodes`. Both schemas are JSON Schema 2020-12, generated from the schemas that validate. */
export function describeNodes(): NodeDescription[] {
  return Object.values<NodeDefinition>(nodeDefinitions).map((definition) => ({
    node_type: definition.nodeType,
    type: definition.type,
    title: definition.title,
    description: definition.description,
    category: definition.category,
    version: definition.version,
    handles: traitsOf(definition.kind).handles.map(({ edge, label, field }) => ({ id: edge, label, field })),
    schema: withTitles(z.toJSONSchema(definition.schema, { io: 'input' })),
    output_schema: withTitles(z.toJSONSchema(definition.outputSchema, { io: 'output' })),
  }));
}
