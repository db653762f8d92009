import type { KindThatRuns, NodeKind } from '../kinds.js';
import { agentNode } from './agent.js';
import { codeNode } from './code.js';
import { conditionNode } from './condition.js';
import { httpNode } from './http.js';
import { llmNode } from './llm.js';
import { mcpNode } from './mcp.js';
import type { InlineDefinition, NodeDefinition } from './node-definition.js';
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
  code: codeNode,
} as const satisfies Record<NodeKind, NodeDefinition> & Record<EvaluatedKind, InlineDefinition>;

const kindsByType = new Map<string, NodeKind>(Object.values(nodeDefinitions).map(({ type, kind }) => [type, kind]));

/** Returns the kind for the `type` of a drawn node. */
export function kindOfType(type: string): NodeKind | undefined {
  return kindsByType.get(type);
}
