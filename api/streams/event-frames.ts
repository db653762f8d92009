// Formats the events of a run as server-sent events.
import type { Database } from '../../db/core/client.js';
import { readResultPieces } from '../../db/nodes/result-pieces.js';
import { PIECE_BYTES } from '../../db/core/text-pieces.js';
import { readOutputPieces } from '../../db/nodes/run-output.js';
import type { RunEvent } from '../../db/runs/run-events-repository.js';
import type { StoredRunStatus } from '../../db/core/tables.js';
import type { WaitView } from '../waits/wait-view.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import { holdsLazyJson, lazyText, RawJson, toJsonPieces, toJsonText, type LazyJson } from '../http/json-text.js';
import { toAnswerMemory } from '../http/send-answer.js';
import type { DeltaEvent } from './run-feed.js';
import { toExecutionStatus, toNodeEntry } from '../runs/node-map.js';
import { TEXT_COPIES } from '../../memory/json-copies.js';

/**
 * Makes a client reconnect two seconds after a lost connection. The first event follows without an empty line in
 * between.
 */
export const FIRST_LINE = 'retry: 2000\n';

export interface FrameSource {
  db: Database;
  memory: ByteBudget;
  tenant: string;
  runId: string;
  signal: AbortSignal;
  /** Ends the stream of a reader that does not read a piece while other requests wait for the memory of that piece. */
  cut: () => void;
  waits: WaitView;
}

export function isEnd({ kind, status }: RunEvent): boolean {
  return kind === 'run' && status !== 'In Progress';
}

/** Yields the frame of an event in pieces. A large result is fetched while the reader receives it. */
export async function* framesOf(source: FrameSource, event: RunEvent): AsyncGenerator<string> {
  const value = toValue(source, event);
  if (value === undefined) return;
  const head = `event: ${event.kind}\nid: ${event.version}\ndata: `;
  if (!holdsLazyJson(value)) {
    yield `${head}${onOneLine(toJsonText(value))}\n\n`;
    return;
  }
  yield head;
  yield* linesOf(source, value);
  yield '\n\n';
}

/** The frame has no `id`, because no stream resumes after a delta. */
export function frameOfDelta({ delta }: DeltaEvent): string {
  return `event: delta\ndata: ${JSON.stringify(delta)}\n\n`;
}

/**
 * Returns undefined for an event that is not sent: one without content, unless it is about the run. Many events of
 * iterations have no content, because a later event of their loop has the loop's counts.
 */
function toValue(
  source: FrameSource,
  { content, kind, version, status, apartBytes, path, subject }: RunEvent,
): unknown {
  const { db, runId, waits } = source;
  const lazily = (pieces: () => AsyncGenerator<string>): LazyJson =>
    lazyText(pieces, Math.min(TEXT_COPIES * (apartBytes ?? 0), PIECE_BYTES));
  if (kind === 'run') {
    const facts = { status: toExecutionStatus(status as StoredRunStatus, true), version };
    if (content === undefined || !('output' in content)) return facts;
    const { output } = content;
    return { ...facts, output: output === null ? lazily(() => readOutputPieces(db, runId)) : new RawJson(output) };
  }
  if (content === undefined || 'output' in content) return undefined;
  if ('object' in content) return content.object;
  const readApart = (): LazyJson => lazily(() => readResultPieces(db, { runId, path, nodeId: subject }));
  const { id, ...entry } = toNodeEntry(content.node, { readApart, waits });
  return { id, path: content.path, ...entry };
}

async function* linesOf({ memory, tenant, signal, cut }: FrameSource, value: unknown): AsyncGenerator<string> {
  const lease = memory.lease(tenant, signal);
  try {
    for await (const piece of toJsonPieces(value, toAnswerMemory(lease))) {
      const endLoan = lease.lend(cut);
      yield onOneLine(piece);
      endLoan();
    }
  } finally {
    lease.end();
  }
}

/**
 * Replaces line breaks, which would end the data of a frame. JSON text contains them only between tokens, where a blank
 * means the same.
 */
function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, ' ') : text;
}
