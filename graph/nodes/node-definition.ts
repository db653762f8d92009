import type { z } from 'zod';
import type { NodeKind } from '../kinds.js';
import type { Handle } from '../plan.js';
import type { NodeOutput, Scope } from '../template.js';

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
  /**
   * Whether dense execution may attempt the call inside the workflow task, where it may be cut short and then made again.
   * `data` as drawn, defaults not filled in. Absent: never.
   */
  mayRunLocally?: (data: Record<string, unknown>) => boolean;
  /** Checks a node's data and fills in defaults; unknown keys survive. */
  schema: z.ZodType<Record<string, unknown>>;
  /** The node's result. */
  outputSchema: z.ZodType<Record<string, unknown>>;
}

/** What a node of an inline kind comes to. */
export interface Evaluation {
  output: NodeOutput;
  /** By which named handle the node is left; its ordinary links where it is absent. */
  handle?: Handle;
}

/** A kind that runs inline reads its variables and decides, all of it here. */
export interface InlineDefinition extends NodeDefinition {
  /** Pure. `data` as drawn, but valid. Throws a `NodeError` that fails the node. */
  evaluate: (data: Record<string, unknown>, scope: Scope) => Evaluation;
}
