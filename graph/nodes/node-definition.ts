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
  /**
   * Whether the call that the node makes may be made again, at no cost, when nobody knows how the last one ended. `data`
   * as drawn, defaults not filled in. Absent: never.
   */
  isRepeatable?: (data: Record<string, unknown>) => boolean;
  /** Checks a node's data and fills in defaults; unknown keys survive. */
  schema: z.ZodType<Record<string, unknown>>;
  /** The node's result. */
  outputSchema: z.ZodType<Record<string, unknown>>;
}

/** The drawer's own word, `settings.retry_unsafe`. */
export function allowsRepeats(data: Record<string, unknown>): boolean {
  const settings = data['settings'] as { retry_unsafe?: unknown } | null | undefined;
  return settings?.retry_unsafe === true;
}
