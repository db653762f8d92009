import type { z } from 'zod';
import type { NodeKind } from '../plan.js';

/** All that the service knows of a node kind before it runs: one object a kind, listed in `registry.ts`. */
export interface NodeDefinition {
  /** The file word. */
  kind: NodeKind;
  /** `type` in a drawing. */
  type: string;
  /** `node_type` of `get_nodes`. */
  nodeType: string;
  title: string;
  description: string;
  version: string;
  /** Keys of the node's data in whose strings variables are filled in. */
  templateFields: readonly string[];
  /** Checks a node's data and fills in defaults; unknown keys survive. */
  schema: z.ZodType<Record<string, unknown>>;
  /** The node's result. */
  outputSchema: z.ZodType<Record<string, unknown>>;
}
