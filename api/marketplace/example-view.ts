import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import type { HistoryRun } from '../../db/runs/history-repository.js';
import type { JsonObject } from '../../graph/json.js';
import { createMasker } from '../../graph/mask.js';
import { replaceCredentials } from '../../graph/public-drawing.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
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

/** The form in a list, where the key of a value that is too large is absent. */
export const listedExampleSchema = exampleSchema.extend({
  input_data: z.unknown().optional().describe('Absent where it is too large for a list; the single read has it'),
  data: drawingSchema
    .optional()
    .describe('Absent where it is too large for a list, and the contents of result with it'),
  truncated: z.literal(true).optional().describe('data or input_data is left out'),
});

/**
 * The specification's "Example run". It is public, so in addition to the secrets, which are masked in storage, the
 * credential headers of every node are masked, and their values wherever else they occur.
 */
export function toExample(run: HistoryRun, currencies: Currencies): Record<string, unknown> {
  const { document, input } = run;
  return {
    id: run.id,
    created_at: run.created_at.toISOString(),
    cost: toAmount(run.cost_usd, currencies),
    ...(document === null ? { result: withoutContents(run) } : maskedContents(run, document)),
    ...(document === null || input === null ? { truncated: true } : {}),
  };
}

function maskedContents(run: HistoryRun, document: string): Record<string, RawJson> {
  const { drawing, literals } = replaceCredentials(JSON.parse(document) as JsonObject, MASK);
  const masker = createMasker(literals);
  const result = masker.json(parseJson(toJsonText(toNodeMap(run.nodes, run.node_errors))) as NodeMap);
  dropCutTails(result, literals);
  const { input } = run;
  const given = input === null || masker.isEmpty ? input : writeJson(masker.json(parseJson(input)));
  return {
    result: new RawJson(writeJson(result)),
    data: new RawJson(JSON.stringify(masker.json(drawing))),
    ...(given === null ? {} : { input_data: new RawJson(given) }),
  };
}

/** Without the drawing it is unknown which values in the nodes' results must be masked. */
function withoutContents({ nodes }: HistoryRun): NodeMap {
  return Object.fromEntries(nodes.map(({ id, status }) => [id, { id, status, truncated: true }]));
}

type NodeMap = Record<string, { truncated?: boolean; result?: { content?: unknown } }>;

/**
 * A list cuts long contents before they are masked, so a part of a credential could remain at the end of a cut text.
 */
function dropCutTails(result: NodeMap, literals: string[]): void {
  // One encoded character takes up to 7: `\\\\u002f` in JSON within JSON.
  const tail = 7 * Math.max(0, ...literals.map((literal) => literal.length));
  if (tail === 0) return;
  for (const { truncated, result: shown } of Object.values(result)) {
    if (truncated === true && typeof shown?.content === 'string') shown.content = shown.content.slice(0, -tail);
  }
}
