import type { KindThatRuns, NodeKind } from '../kinds.js';
import type { z } from 'zod';
import { agentNode } from './agent.js';
import { codeNode } from './code.js';
import { conditionNode } from './condition.js';
import { everyNodeFields } from './every-node.js';
import { forEachNode } from './for_each.js';
import { humanNode } from './human.js';
import { hasAction, httpActionSchema, httpNode } from './http.js';
import { llmNode } from './llm.js';
import { loopNode } from './loop.js';
import { mcpNode } from './mcp.js';
import type { InlineDefinition, NodeDefinition } from './node-definition.js';
import { outputNode } from './output.js';
import { setNode } from './set.js';
import { switchNode } from './switch.js';
import { triggerNode } from './trigger.js';
import { waitNode } from './wait.js';
import { workflowNode } from './workflow.js';

/**
 * The trigger is not evaluated here: its output is the input of the run, which has its own secrets
 * (`activities/kinds/trigger.ts`).
 */
export type EvaluatedKind = Exclude<KindThatRuns<'inline'>, 'trigger'>;

/** Every node kind. A missing kind, or an inline kind without `evaluate`, is a compile error. */
export const nodeDefinitions = {
  trigger: triggerNode,
  condition: conditionNode,
  llm: llmNode,
  http: httpNode,
  agent: agentNode,
  mcp: mcpNode,
  switch: switchNode,
  set: setNode,
  wait: waitNode,
  output: outputNode,
  code: codeNode,
  for_each: forEachNode,
  loop: loopNode,
  human: humanNode,
  workflow: workflowNode,
} as const satisfies Record<NodeKind, NodeDefinition> & Record<EvaluatedKind, InlineDefinition>;

const schemas = new Map<NodeKind, z.ZodObject>();

/** Returns the schema for a node's data: the kind's own fields, and those of every kind. */
export function schemaOf(kind: NodeKind): z.ZodObject {
  let schema = schemas.get(kind);
  if (schema === undefined) schemas.set(kind, (schema = nodeDefinitions[kind].schema.safeExtend(everyNodeFields)));
  return schema;
}

let actionSchema: z.ZodObject | undefined;

/** Returns the schema for this data: an HTTP node with an action has another one. */
export function schemaFor(kind: NodeKind, data: Record<string, unknown>): z.ZodObject {
  if (kind !== 'http' || !hasAction(data)) return schemaOf(kind);
  actionSchema ??= httpActionSchema.safeExtend(everyNodeFields);
  return actionSchema;
}

const kindsByType = new Map<string, NodeKind>(Object.values(nodeDefinitions).map(({ type, kind }) => [type, kind]));

/** Returns the kind for the `type` of a drawn node, or undefined if the type is unknown. */
export function kindOfType(type: string): NodeKind | undefined {
  return kindsByType.get(type);
}
