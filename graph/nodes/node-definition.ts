// The static definition of a node kind: schema, result schema and places of variables.
import type { z } from 'zod';
import type { Judge } from '../judge.js';
import type { NodeKind } from '../kinds.js';
import type { Handle } from '../plan.js';
import type { NodeOutput, VariableValues } from '../template.js';

/** Each kind is one such object, listed in `registry.ts`. */
export interface NodeDefinition {
  /** The kind, which is also the name of its file. */
  kind: NodeKind;
  /** The `type` of a node in a drawing. */
  type: string;
  /** The `node_type` in the answer of `get_nodes`. */
  nodeType: string;
  title: string;
  description: string;
  /** The heading under which editors offer the kind. */
  category: string;
  /**
   * Example data for assistants, which passes the check. `MODEL` and a `workflow_id` of 0 stand for a model and a
   * workflow of the project. The node has the id `example` and follows a trigger with the field `text`.
   */
  example?: Record<string, unknown>;
  /** Keys of the node's data whose strings may contain variables. */
  templateFields: readonly string[];
  /**
   * The exact places of variables inside the `templateFields`. Maps each path (`*` stands for all items or keys) to
   * `text` if it stays text, or `json` if it may become any JSON. If absent, every string of the `templateFields` may
   * contain variables, and stays text.
   */
  templatePlaces?: Readonly<Record<string, 'text' | 'json'>>;
  /** The keys of a loop's data in which variables are filled in within each iteration. */
  iterationFields?: readonly string[];
  /** The paths of the conditions in the node's data; `*` stands for all items of a list. */
  conditionPlaces?: readonly string[];
  /** Keys of the node's data in which variables are never filled in, although users might expect it. */
  literalFields?: readonly string[];
  /**
   * The variables of a loop that the nodes of its body can read, such as `{{ LOOP.item }}`. If absent, the kind has no
   * body.
   */
  bodyVariables?: readonly ('item' | 'index' | 'last')[];
  /** Checks a node's data and fills in defaults. Unknown keys stay. */
  schema: z.ZodObject;
  outputSchema: z.ZodType<Record<string, unknown>>;
}

export interface Evaluation {
  output: NodeOutput;
  /** The named handle by which the node is left. Absent for its ordinary links. */
  handle?: Handle;
  alsoHandles?: Handle[];
}

/** The definition of an inline kind other than the trigger: `evaluate` reads the variables and decides. */
export interface InlineDefinition extends NodeDefinition {
  /**
   * A pure function. `data` is as drawn, and valid. Evaluate conditions with `judge`, because a pattern may take long.
   * Throws a `NodeError` that fails the node.
   */
  evaluate: (data: Record<string, unknown>, values: VariableValues, judge: Judge) => Evaluation | Promise<Evaluation>;
}
