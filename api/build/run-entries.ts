// Reads runs for the tools: the state of each node, and the beginning of its result.
import { z } from 'zod';
import { cutText } from '../../graph/cut-text.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { amountSchema } from '../projects/project-view.js';
import type { InnerAnswer } from '../dispatch/inner-call.js';
import { PART_BYTES, readCut, sizeOf } from './cut-answer.js';
import { ToolError, type ToolContext } from './tool.js';

/** The limit on the result of a node in a list of nodes. */
const RESULT_BYTES = 2 * 1024;
const MOST_CHARACTERS = 500;

const entrySchema = z.object({
  id: z.string(),
  status: z.string(),
  mocked: z.literal(true).optional(),
  reused: z.literal(true).optional(),
  handled: z.literal(true).optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  waiting: z.object({ for: z.string(), until: z.string().optional(), pool: z.string().optional() }).optional(),
  result: z.unknown().optional(),
  is_cut: z.literal(true).optional().describe('`result` is the beginning of its JSON text: read_run reads on'),
});

type ShownEntry = z.infer<typeof entrySchema>;

export const runFields = {
  run_id: z.string(),
  status: z.string().describe('in queue, in progress, succeed or failed'),
  cost: amountSchema,
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  nodes: z.array(entrySchema),
  next_offset: z.int().optional().describe('More nodes: read_run with this offset'),
};

interface Polled {
  status: string;
  /** The entries of the nodes, by node id. Results may be `LazyJson`, which is not read yet. */
  entries: Record<string, JsonObject>;
  answer: InnerAnswer;
}

/**
 * Returns 'unchanged' if the answer is a 304. Throws `ToolError` for a run that does not exist or whose results have
 * expired, and `ApiError` for one that the caller may not see.
 */
export async function pollRun(
  { calls }: ToolContext,
  runId: string,
  headers: Record<string, string> = {},
): Promise<Polled | 'unchanged'> {
  const answer = await calls.call('GET /api/v1/workflows/workflow_result/', { query: { id: runId }, headers });
  if (answer.status === 304) return 'unchanged';
  // The answer to a poll that has waited may be a buffer, because it is serialized once for all who wait for the run.
  const body = Buffer.isBuffer(answer.body) ? await calls.read(answer) : answer.body;
  const { status, data } = (body as { data: { status: string; data: Record<string, JsonObject> | null } }).data;
  if (data === null && status === 'not found')
    throw new ToolError('There is no such run, or its results have expired.');
  return { status, entries: data ?? {}, answer };
}

interface RunFacts {
  workflowId: number;
  cost: Record<string, string>;
  error: { code: string; message: string } | null;
}

export async function findRunFacts({ calls }: ToolContext, runId: string): Promise<RunFacts> {
  const { body } = await calls.call('GET /api/v1/runs/:run_id/', { params: { run_id: runId } });
  const { workflow, cost, error } = body as { workflow: { id: number } } & Pick<RunFacts, 'cost' | 'error'>;
  return { workflowId: workflow.id, cost, error: error && shortError(error) };
}

/** Shows the nodes from number `offset` on, as many as fit into an answer. */
export async function showRun(context: ToolContext, runId: string, { status, entries, answer }: Polled, offset = 0) {
  const { cost, error } = await findRunFacts(context, runId);
  const all = Object.values(entries);
  const nodes: ShownEntry[] = [];
  let left = PART_BYTES;
  for (const entry of all.slice(offset)) {
    const shown = await showEntry(entry, answer);
    left -= sizeOf(shown) + 1;
    if (left < 0) break;
    nodes.push(shown);
  }
  const end = offset + nodes.length;
  return { run_id: runId, status, cost, error, nodes, ...(end < all.length && { next_offset: end }) };
}

async function showEntry(entry: JsonObject, { memory }: InnerAnswer): Promise<ShownEntry> {
  const { id, status, mocked, reused, handled, error, waiting, result } = entry;
  const cut = result === undefined ? undefined : await readCut(result, memory, RESULT_BYTES);
  return {
    id: String(id),
    status: String(status),
    ...(mocked === true && { mocked }),
    ...(reused === true && { reused }),
    ...(handled === true && { handled }),
    ...(isObject(error) && { error: shortError(error) }),
    ...(isObject(waiting) && { waiting: showWaiting(waiting) }),
    ...(cut && { result: cut.value, ...(cut.isCut && { is_cut: true as const }) }),
  };
}

/** Only a wait for a time or with a time limit has `until`, and only a wait for a worker has `pool`. */
function showWaiting({ for: what, until, pool }: JsonObject): ShownEntry['waiting'] {
  return {
    for: String(what),
    ...(typeof until === 'string' && { until }),
    ...(typeof pool === 'string' && { pool }),
  };
}

function shortError({ code, message }: JsonObject): { code: string; message: string } {
  return { code: String(code), message: cutText(String(message), MOST_CHARACTERS) };
}
