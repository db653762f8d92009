// Server-sent events: the text of each.
import type { Database } from '../../db/core/client.js';
import { PIECE_BYTES, readResultPieces } from '../../db/runs/result-pieces.js';
import { readOutputPieces } from '../../db/runs/run-output.js';
import type { RunEvent } from '../../db/runs/run-events-repository.js';
import type { StoredRunStatus } from '../../db/core/tables.js';
import type { WaitView } from '../waits/wait-view.js';
import type { ByteBudget } from '../../outgoing/byte-budget.js';
import { toExecutionStatus } from '../runs/node-map.js';

export const COMMENT = ':\n\n';

/** Says after which time a client that has lost its connection comes back. */
export const FIRST_FRAME = 'retry: 2000\n\n';

/** As the driver holds a piece, as text and as bytes; at most, for there are several pieces where a result is larger. */
const COPIES = 4;

export interface FrameSource {
  db: Database;
  memory: ByteBudget;
  /** For whom memory is taken. */
  tenant: string;
  runId: string;
  signal: AbortSignal;
  waits: WaitView;
}

export function isEnd({ kind, status }: RunEvent): boolean {
  return kind === 'run' && status !== 'In Progress';
}

/** The frame of an event in pieces; a large result is fetched while the reader takes it. */
export async function* framesOf(source: FrameSource, event: RunEvent): AsyncGenerator<string> {
  const { kind, version } = event;
  const data = kind === 'node' ? source.waits.text(event.data) : event.data;
  const head = `event: ${kind}\nid: ${version}\ndata: `;
  if (kind === 'run') {
    const status = toExecutionStatus(event.status as StoredRunStatus, true);
    const facts = head + JSON.stringify({ status, version }).slice(0, -1);
    if (event.apartBytes === null) {
      yield `${facts}${data === '' ? '' : `,"output":${onOneLine(data)}`}}\n\n`;
      return;
    }
    yield `${facts},"output":`;
    yield* piecesOf(source, readOutputPieces(source.db, source.runId), event.apartBytes);
    yield '}\n\n';
  } else if (event.apartBytes === null) {
    if (data !== '') yield `${head}${onOneLine(data)}\n\n`;
  } else {
    yield head + onOneLine(data);
    const node = { runId: source.runId, path: event.path, nodeId: event.subject };
    yield* piecesOf(source, readResultPieces(source.db, node), event.apartBytes);
    yield '}\n\n';
  }
}

async function* piecesOf(
  { memory, tenant, signal }: FrameSource,
  pieces: AsyncGenerator<string>,
  bytes: number,
): AsyncGenerator<string> {
  const lease = memory.lease(tenant, signal);
  try {
    for (;;) {
      await lease.resize(Math.min(COPIES * bytes, PIECE_BYTES));
      const { done, value } = await pieces.next();
      if (done === true) return;
      yield onOneLine(value);
      await lease.resize(0);
    }
  } finally {
    lease.end();
    await pieces.return(undefined);
  }
}

/** Line breaks in JSON text stand between its words, where a blank says the same; in a frame they would end the data. */
function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, ' ') : text;
}
