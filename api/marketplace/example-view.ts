import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import type { HistoryRun } from '../../db/runs/history-repository.js';
import type { JsonObject } from '../../graph/json.js';
import { createMasker } from '../../graph/mask.js';
import { replaceCredentials } from '../../graph/public-drawing.js';
import { MASK } from '../../graph/secrets.js';
import { RawJson, toJsonText } from '../http/json-text.js';
import { toNodeMap } from '../runs/node-map.js';
import { amountSchema } from '../projects/project-view.js';
import { nodeEntrySchema } from '../runs/run-envelope.js';
import { drawingSchema } from '../workflows/workflow-view.js';

export const exampleSchema = z.object({
  id: z.string(),
  created_at: z.iso.datetime(),
  cost: amountSchema,
  result: z.record(z.string(), nodeEntrySchema),
  input_data: z.unknown(),
  data: drawingSchema,
});

/**
 * The specification's "Example run". Everybody reads it, so on top of the secrets, which are masked in what is stored,
 * credential headers of every node are masked, and what stood in them wherever else it turns up.
 */
export function toExample(run: HistoryRun, currencies: Currencies): Record<string, unknown> {
  const { drawing, literals } = replaceCredentials(JSON.parse(run.document ?? '{}') as JsonObject, MASK);
  const masker = createMasker(literals);
  const result = masker.json(JSON.parse(toJsonText(toNodeMap(run.nodes, run.node_errors))) as NodeMap);
  dropCutTails(result, literals);
  // A list leaves out what is too large for it.
  const input = run.input ?? 'null';
  return {
    id: run.id,
    created_at: run.created_at.toISOString(),
    cost: toAmount(run.cost_usd, currencies),
    result: new RawJson(JSON.stringify(result)),
    input_data: new RawJson(masker.isEmpty ? input : JSON.stringify(masker.json(JSON.parse(input)))),
    data: new RawJson(JSON.stringify(masker.json(drawing))),
  };
}

type NodeMap = Record<string, { truncated?: boolean; result?: { content?: unknown } }>;

/** A list cuts long contents before they are masked: what the cut left of a credential must not stand at the end. */
function dropCutTails(result: NodeMap, literals: string[]): void {
  // Encoded, a character takes up to 7: `\\\\u002f` in JSON within JSON.
  const tail = 7 * Math.max(0, ...literals.map((literal) => literal.length));
  if (tail === 0) return;
  for (const { truncated, result: shown } of Object.values(result)) {
    if (truncated === true && typeof shown?.content === 'string') shown.content = shown.content.slice(0, -tail);
  }
}
