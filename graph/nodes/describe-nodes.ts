// What `get_nodes` answers: the node kinds, for editors that know none of them by name.
import { z } from 'zod';
import { withTitles } from './field-titles.js';
import type { NodeDefinition } from './node-definition.js';
import { nodeDefinitions } from './registry.js';

export interface NodeDescription {
  node_type: string;
  type: string;
  title: string;
  description: string;
  version: string;
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
    version: definition.version,
    schema: withTitles(z.toJSONSchema(definition.schema, { io: 'input' })),
    output_schema: withTitles(z.toJSONSchema(definition.outputSchema, { io: 'output' })),
  }));
}
