import { z } from 'zod';
import type { KindThatRuns, NodeKind } from '../kinds.js';
import { agentNode } from './agent.js';
import { conditionNode } from './condition.js';
import { httpNode } from './http.js';
import { llmNode } from './llm.js';
import { mcpNode } from './mcp.js';
import type { InlineDefinition, NodeDefinition } from './node-definition.js';
import { triggerNode } from './trigger.js';

/** The trigger's output is the input of the run, which has secrets of its own: `activities/kinds/trigger.ts`. */
export type EvaluatedKind = Exclude<KindThatRuns<'inline'>, 'trigger'>;

/** Every node kind. A kind that is missing here is a compile error, and so is an inline one that is not evaluated. */
export const nodeDefinitions = {
  trigger: triggerNode,
  condition: conditionNode,
  llm: llmNode,
  http: httpNode,
  agent: agentNode,
  mcp: mcpNode,
} as const satisfies Record<NodeKind, NodeDefinition> & Record<EvaluatedKind, InlineDefinition>;

const kindsByType = new Map<string, NodeKind>(Object.values(nodeDefinitions).map(({ type, kind }) => [type, kind]));

/** The kind that a drawing's `type` word means. */
export function kindOfType(type: string): NodeKind | undefined {
  return kindsByType.get(type);
}

export interface NodeDescription {
  node_type: string;
  type: string;
  title: string;
  description: string;
  version: string;
  schema: object;
  output_schema: object;
}

/** The body of `get_nodes`: both schemas are JSON Schema 2020-12, made from what validates. */
export function describeNodes(): NodeDescription[] {
  return Object.values<NodeDefinition>(nodeDefinitions).map((definition) => ({
    node_type: definition.nodeType,
    type: definition.type,
    title: definition.title,
    description: definition.description,
    version: definition.version,
    schema: z.toJSONSchema(definition.schema, { io: 'input' }),
    output_schema: z.toJSONSchema(definition.outputSchema, { io: 'output' }),
  }));
}
