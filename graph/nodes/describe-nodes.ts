// What `get_nodes` answers: the node kinds, for editors that know none of them by name.
import { z } from 'zod';
import { traitsOf, type KindTraits } from '../kinds.js';
import { withTitles } from './field-titles.js';
import type { NodeDefinition } from './node-definition.js';
import { nodeDefinitions, schemaOf } from './registry.js';

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
  /** The field of the node's data whose items `{id, label?, node}` are further handles; absent where there is none. */
  handles_from?: string;
  /** Whether the node is left by its `next_nodes` although it has handles; absent where it is not. */
  has_next_nodes?: true;
  /** A property with a `group` is not the kind's own: forms show it under that heading. */
  schema: object;
  output_schema: object;
}

/**
 * Returns the body of `get_nodes`. Both schemas are JSON Schema 2020-12, generated from the schemas that validate; every
 * property has a `title`.
 */
export function describeNodes(): NodeDescription[] {
  return Object.values<NodeDefinition>(nodeDefinitions).map((definition) => ({
    ...toListedHandles(traitsOf(definition.kind)),
    node_type: definition.nodeType,
    type: definition.type,
    title: definition.title,
    description: definition.description,
    category: definition.category,
    version: definition.version,
    handles: traitsOf(definition.kind).handles.map(({ edge, label, field }) => ({ id: edge, label, field })),
    schema: withTitles(z.toJSONSchema(schemaOf(definition.kind), { io: 'input' })),
    output_schema: withTitles(z.toJSONSchema(definition.outputSchema, { io: 'output' })),
  }));
}

function toListedHandles({ handlesFrom, isLeftByNext }: KindTraits): Partial<NodeDescription> {
  return {
    ...(handlesFrom !== undefined && { handles_from: handlesFrom }),
    ...(isLeftByNext === true && { has_next_nodes: true }),
  };
}
