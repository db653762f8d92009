import { z } from 'zod';
import { toAmount } from '../../config/currencies.js';
import { readDrawing, readInputPieces, type HistoryRun } from '../../db/runs/history-repository.js';
import { openRunSecrets } from '../../db/runs/run-contents.js';
import { PIECE_BYTES } from '../../db/core/text-pieces.js';
import { cutText } from '../../graph/cut-text.js';
import type { JsonObject } from '../../graph/json.js';
import { createMasker } from '../../graph/mask.js';
import { replaceCredentials } from '../../graph/public-drawing.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import { MASK } from '../../graph/mask-text.js';
import { credentialLiteralsIn } from '../../graph/secrets.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { MarketplaceDeps } from './deps.js';
import type { Asker } from '../http/heavy-work.js';
import { LazyJson, lazyText, RawJson, toJsonText } from '../http/json-text.js';
import { readApartFrom } from '../runs/apart-results.js';
import { toNodeMap } from '../runs/node-map.js';
import { amountSchema } from '../projects/project-view.js';
import { nodeEntrySchema } from '../envelope/run-envelope.js';
import { drawingSchema } from '../workflows/workflow-view.js';
import { PARSED_COPIES, TEXT_COPIES } from '../../memory/json-copies.js';

export const exampleSchema = z.object({
  id: z.string(),
  created_at: z.iso.datetime(),
  cost: amountSchema,
  result: z.record(z.string(), nodeEntrySchema),
  input_data: z.unknown(),
  data: drawingSchema,
});

/** An example as listed: the key of a value that is too large is absent. */
export const listedExampleSchema = exampleSchema.extend({
  input_data: z.unknown().optional().describe('Absent where it is too large for a list; the single read has it'),
  data: drawingSchema
    .optional()
    .describe('Absent where it is too large for a list, and the contents of result with it'),
  truncated: z.literal(true).optional().describe('data or input_data is left out'),
});

/**
 * An example run in a list. Because it is public, the credentials in headers, addresses and actions are masked wherever
 * they occur. Other secrets are already masked in storage.
 */
export function toListedExample(
  deps: Deps,
  asker: Asker,
  run: HistoryRun,
  contentLimit: number | null = null,
): Record<string, unknown> {
  const { document, input } = run;
  const truncated = (document === null || input === null) && { truncated: true };
  if (document === null) return { ...headOf(deps, run), result: withoutContents(run), ...truncated };
  const mask = toMask(deps, asker, run, document);
  const readApart = readApartFrom(deps.db, { runId: run.id, path: '' }, run.nodes, contentLimit);
  return {
    ...headOf(deps, run),
    result: maskedResult(run, mask, readApart),
    data: mask.drawing,
    ...(input !== null && { input_data: new RawJson(mask.text(input)) }),
    ...truncated,
  };
}

/**
 * Shows the whole run. If there is no value to mask, large results and a large input are passed on in pieces. Otherwise
 * each of them is read as a whole, within the tenant's memory, and masked by `HeavyWork`, where the largest wait for
 * their turn.
 */
export async function toExample(
  deps: Deps,
  asker: Asker & { memory: ByteLease },
  run: HistoryRun,
): Promise<Record<string, unknown>> {
  const { document, documentBytes, input } = run;
  await asker.memory.resize(PARSED_COPIES * documentBytes);
  const mask = await deps.heavyWork.run(asker, documentBytes, async () =>
    toMask(deps, asker, run, document ?? (await readDrawing(deps.db, run))),
  );
  void asker.memory.resize(TEXT_COPIES * documentBytes);
  const readApart = readApartFrom(deps.db, { runId: run.id, path: '' }, run.nodes);
  return {
    ...headOf(deps, run),
    result: maskedResult(run, mask, readApart),
    input_data:
      input === null
        ? mask.later(
            lazyText(() => readInputPieces(deps.db, run.id), PIECE_BYTES),
            run.input_bytes,
            false,
          )
        : new RawJson(mask.text(input)),
    data: mask.drawing,
  };
}

type Deps = Pick<MarketplaceDeps, 'db' | 'currencies' | 'heavyWork' | 'secretBox'>;

function headOf({ currencies }: Deps, run: HistoryRun): Record<string, unknown> {
  return { id: run.id, created_at: run.created_at.toISOString(), cost: toAmount(run.cost_usd, currencies) };
}

interface Mask {
  isEmpty: boolean;
  drawing: RawJson;
  key: (text: string) => string;
  json: (value: unknown) => unknown;
  text: (json: string) => string;
  /** Masks JSON text that is read while it is sent. `isCut`: the content of the result was cut. */
  later: (text: LazyJson, sizeBytes: number, isCut: boolean) => LazyJson;
  /** Masks the entry of a node, except for a result that is read later. */
  entry: (entry: NodeEntry) => NodeEntry;
}

type NodeEntry = Record<string, unknown>;
type CutResult = { content?: unknown };

function toMask({ heavyWork, secretBox }: Deps, asker: Asker, run: HistoryRun, document: string): Mask {
  const { drawing, literals: drawn } = replaceCredentials(JSON.parse(document) as JsonObject, MASK);
  // A run may be older than the rule by which such credentials are secrets, so its results may hold them unmasked.
  const sealed = openRunSecrets(secretBox, run.secrets_enc, [run.project_id, run.id]);
  const literals = [...drawn, ...credentialLiteralsIn(sealed)];
  const masker = createMasker(literals);
  const json = (value: unknown): unknown => masker.json(value);
  const text = (plain: string): string => (masker.isEmpty ? plain : writeJson(json(parseJson(plain))));
  // A list cuts long contents before they are masked, so a part of a credential could remain at the end of a cut text.
  // One character of a credential takes up to 7 when encoded: `\\u002f` in JSON within JSON.
  const tail = 7 * Math.max(0, ...literals.map((literal) => literal.length));
  const maskResult = (plain: string, isCut: boolean): string => {
    const result = json(parseJson(plain)) as CutResult;
    if (isCut && tail > 0 && typeof result.content === 'string')
      result.content = cutText(result.content, Math.max(0, result.content.length - tail));
    return writeJson(result);
  };
  return {
    isEmpty: masker.isEmpty,
    drawing: new RawJson(JSON.stringify(json(drawing))),
    key: (id) => masker.text(id),
    json,
    text,
    later(source, sizeBytes, isCut) {
      if (masker.isEmpty) return source;
      return new LazyJson(async function* (memory) {
        const bytes = PARSED_COPIES * sizeBytes;
        await memory.take(bytes);
        const pieces: string[] = [];
        for await (const piece of source.pieces(memory)) pieces.push(piece);
        yield await heavyWork.run(asker, sizeBytes, () => maskResult(pieces.join(''), isCut));
        memory.give(bytes);
      });
    },
    entry({ result, ...entry }) {
      const masked = json(parseJson(toJsonText(entry))) as NodeEntry;
      if (!(result instanceof RawJson)) return result === undefined ? masked : { ...masked, result };
      return { ...masked, result: new RawJson(maskResult(result.text, entry['truncated'] === true)) };
    },
  };
}

function maskedResult(run: HistoryRun, mask: Mask, readApart: (nodeId: string) => LazyJson): unknown {
  const entries = toNodeMap(run.nodes, run.node_errors, { readApart });
  if (mask.isEmpty) return entries;
  if (run.node_errors !== null) return mask.json(entries);
  const masked = run.nodes.map((node): [string, NodeEntry] => {
    const entry = mask.entry(entries[node.id] as NodeEntry);
    const { result } = entry;
    if (!(result instanceof LazyJson)) return [mask.key(node.id), entry];
    return [mask.key(node.id), { ...entry, result: mask.later(result, node.apartBytes ?? 0, node.truncated) }];
  });
  return Object.fromEntries(masked);
}

/** Omits all contents, because the values to mask are unknown without the drawing. */
function withoutContents({ nodes }: HistoryRun): Record<string, unknown> {
  return Object.fromEntries(nodes.map(({ id, status }) => [id, { id, status, truncated: true }]));
}
