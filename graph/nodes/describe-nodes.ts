// The body of `get_nodes`: describes the node kinds for editors that know none of them by name, and for the tools of
// assistants (`api/build`).
import { z } from 'zod';
import { traitsOf, type KindTraits } from '../kinds.js';
import { BODY_HANDLE } from '../plan.js';
import { withTitles } from './field-titles.js';
import type { NodeDefinition } from './node-definition.js';
import { nodeDefinitions, schemaOf } from './registry.js';

interface NodeDescription {
  node_type: string;
  type: string;
  title: string;
  description: string;
  category: string;
  version: string;
  /**
   * The kind's named handles: `id` is the `sourceHandle` of the drawn edge, and `field` is the field of the node's data
   * with the target. The error handle, which every kind has, is not listed. A handle with `body` leads into the body of
   * a loop (docs/use/nodes.md, "For each, and loop"). A handle with `when` is only taken while other fields have these
   * values.
   */
  handles: DescribedHandle[];
  /** The field of the node's data whose items `{id, label?, node}` are further handles. Absent if there is none. */
  handles_from?: string;
  /** True if the list `handles_from` may be absent. A node without the list is left by its `next_nodes`. */
  is_list_optional?: true;
  /** True if the node is also left by its `next_nodes` although it has handles. */
  has_next_nodes?: true;
  /**
   * The variables of a loop that the nodes in its body can read, such as `{{ LOOP.item }}`. Absent for a kind without a
   * body.
   */
  body_variables?: string[];
  /**
   * A property with `group` belongs to every kind, and forms show it under that heading. A property with `when` applies
   * only while other fields have these values, and is then required if it has `needed`. `labels` has words for the
   * values of an `enum`. In a new node, `start` takes precedence over `default`. The schemas of conditions inside `all`
   * and `any` are in `$defs`.
   */
  schema: object;
  output_schema: object;
}

/** No kind has changed incompatibly so far. */
const VERSION = '1.0.0';

interface DescribedHandle {
  id: string;
  label: string;
  field: string;
  body?: true;
  when?: Readonly<Record<string, string>>;
}

/**
 * Returns the body of `get_nodes`. `schema` and `output_schema` are JSON Schema 2020-12, generated from the kind's
 * definition; every property has a `title`.
 */
export function describeNodes(): NodeDescription[] {
  return Object.values<NodeDefinition>(nodeDefinitions).map((definition) => ({
    ...toListedHandles(traitsOf(definition.kind)),
    ...(definition.bodyVariables && { body_variables: [...definition.bodyVariables] }),
    node_type: definition.nodeType,
    type: definition.type,
    title: definition.title,
    description: definition.description,
    category: definition.category,
    version: VERSION,
    handles: toHandles(traitsOf(definition.kind)),
    schema: withTitles(z.toJSONSchema(schemaOf(definition.kind), { io: 'input' })),
    output_schema: withTitles(z.toJSONSchema(definition.outputSchema, { io: 'output' })),
  }));
}

function toHandles({ handles, runs }: KindTraits): DescribedHandle[] {
  return handles.map(({ edge, label, field, when }, index) => ({
    id: edge,
    label,
    field,
    ...(when !== undefined && { when }),
    ...(runs === 'body' && index + 1 === BODY_HANDLE && { body: true as const }),
  }));
}

function toListedHandles({ handlesFrom, isListOptional, isLeftByNext }: KindTraits): Partial<NodeDescription> {
  return {
    ...(handlesFrom !== undefined && { handles_from: handlesFrom }),
    ...(isListOptional === true && { is_list_optional: true }),
    ...(isLeftByNext === true && { has_next_nodes: true }),
  };
}
