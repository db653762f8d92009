// What `get_nodes` answers: the node kinds, for editors that know none of them by name.
import { z } from 'zod';
import { traitsOf } from '../kinds.js';
import { withTitles } from './field-titles.js';
import type { NodeDefinition } from './node-definition.js';
import { nodeDefinitions } from './registry.js';

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

/**
 * Returns the body of `get_nodes`. Both schemas are JSON Schema 2020-12, generated from the schemas that validate; every
 * property has a `title`.
 */
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
