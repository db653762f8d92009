import { Readable } from 'node:stream';
import type { RunEvent } from '../../db/runs/run-events-repository.js';
import type { Reader } from '../../db/watches/run-watches-repository.js';
import type { Role } from '../../db/core/tables.js';
import { createWaitView, readingRole } from '../waits/wait-view.js';
import type { StreamDeps } from './deps.js';
import { COMMENT } from '../http/event-stream.js';
import type { Caller } from '../http/route.js';
import { FIRST_LINE, frameOfDelta, framesOf, isEnd } from './event-frames.js';
import type { DeltaEvent, RunFeed } from './run-feed.js';

export type AnyFeed = RunFeed<RunEvent | DeltaEvent>;

interface StreamOptions {
  runId: string;
  reader: Reader & Pick<Caller, 'scope'>;
  role: Role | null;
  /** The stream starts after this version. */
  after: number;
  /** Called when the first byte is read; the stream ends the feed. */
  open: () => Promise<AnyFeed> | AnyFeed;
  signal: AbortSignal;
}

/**
 * Proxies close a connection only after a longer silence. At each comment, the stream also checks that the caller may
 * still see the run.
 */
const COMMENT_EVERY_MS = 15_000;
/** The stream ends after this time, so that the client reconnects and its credentials are checked again. */
export const MAX_AGE_MS = 3_600_000;

/**
 * Streams the events of a run as bytes, produced no faster than the caller reads them. A stream keeps only the version
 * of the last event that was sent, so no queue of events grows for a slow caller. The stream ends after the run's end.
 */
export function streamRun(deps: StreamDeps, options: StreamOptions, maxAgeMs = MAX_AGE_MS): Readable {
  const body: Readable = Readable.from(
    framesOfRun(deps, options, maxAgeMs, () => body.destroy()),
    { objectMode: false, highWaterMark: 1 },
  );
  return body;
}

async function* framesOfRun(
  deps: StreamDeps,
  options: StreamOptions,
  maxAgeMs: number,
  cut: () => void,
): AsyncGenerator<string> {
  const { runId, reader, signal } = options;
  const waits = createWaitView(deps, readingRole(reader, options.role));
  const source = { db: deps.db, memory: deps.memory, tenant: `user:${reader.userId}`, runId, signal, cut, waits };
  const endAtMs = performance.now() + maxAgeMs;
  let commentAtMs = performance.now() + COMMENT_EVERY_MS;
  let place = options.after;
  const feed = await options.open();
  try {
    yield FIRST_LINE;
    while (!signal.aborted && !deps.runHub.isStopping && performance.now() < endAtMs) {
      const events = await feed.after(place);
      for (const event of events) {
        if (event.kind === 'delta') {
          yield frameOfDelta(event);
          continue;
        }
        yield* framesOf(source, event);
        place = event.version;
        if (isEnd(event)) return;
      }
      if (events.length === 0 && feed.isClosed) return;
      if (performance.now() >= commentAtMs) {
        commentAtMs = performance.now() + COMMENT_EVERY_MS;
        const role = await deps.sharedReads.roleOf({ ...reader, runId });
        if (role === null) return;
        source.waits = createWaitView(deps, readingRole(reader, role));
        yield COMMENT;
      }
      if (events.length === 0) await feed.untilNews(Math.max(0, commentAtMs - performance.now()));
    }
  } finally {
    feed.end();
  }
}
