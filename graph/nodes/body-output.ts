// What the kinds have in common that repeat a part of the drawing: the output of one iteration.
import { z } from 'zod';
import { parseModestJson } from '../json-text.js';
import { toValueOutput } from '../rendered-value.js';
import type { Scope } from '../template.js';

/** `output`: any JSON; its strings may hold variables. */
export const bodyOutputField = z
  .unknown()
  .optional()
  .describe(
    'Any JSON with variables, filled in after each iteration; the content of the last node of the body by default',
  );

/**
 * Returns the output of an iteration whose nodes have ended: `template` with its variables filled in, or without one the
 * content of the node `lastNode`, parsed where it is JSON, and null where that node has put nothing out. Throws a
 * `NodeError`.
 */
export function outputOfIteration(template: unknown, scope: Scope, lastNode: string | undefined): unknown {
  if (template !== undefined) return toValueOutput(template, scope).value;
  const output = lastNode === undefined ? undefined : scope.results.get(lastNode);
  return output === undefined ? null : parseOrText(output.content);
}

function parseOrText(text: string): unknown {
  try {
    return parseModestJson(text);
  } catch {
    return text;
  }
}
