import type { Database } from '../../db/core/client.js';
import { readAnswer } from '../../db/runs/run-deltas-repository.js';
import { orderRunEvents, readRunEvents, type RunEvent } from '../../db/runs/run-events-repository.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { RunHub } from '../live/run-hub.js';
import { TextReader, type TextDelta } from './text-reader.js';
import type { RunReader } from '../live/watched-runs.js';

/**
 * A delta of a model, among the events of its run. It has no version, so a reader that reconnects gets the text again.
 */
export interface DeltaEvent {
  kind: 'delta';
  delta: TextDelta;
}

/** The events of one run for one reader, which pulls them at its own pace. */
export interface RunFeed<Event extends RunEvent | DeltaEvent = RunEvent> {
  /**
   * Returns the next page of events after `version`, and the next unsent deltas, in the order in which they are to be
   * sent. Empty if there are none yet.
   */
  after(version: number): Promise<Event[]>;
  /** Resolves when there may be more, after `atMostMs`, or when the caller hangs up or the hub stops. */
  untilNews(atMostMs: number): Promise<void>;
  /** True if the run had ended when the feed was opened, so that an empty page means the end of the feed. */
  readonly isClosed: boolean;
  end(): void;
}

/** Bounds the memory of a reader that is behind. Results of more than 16 KiB are not part of an event. */
const PAGE_EVENTS = 16;

export async function openEndedFeed(db: Database, runId: string): Promise<RunFeed> {
  await orderRunEvents(db, [runId]);
  return {
    isClosed: true,
    after: (version) => readPage(db, runId, version),
    untilNews: () => Promise.resolve(),
    end: () => undefined,
  };
}

interface DeltaOptions {
  /**
   * The version of the run when its reader came, 0 for a new run. Answers that were complete by then are not sent as
   * deltas.
   */
  since: number;
  memory: ByteBudget;
}

interface FeedOptions {
  deltas: DeltaOptions | undefined;
}

export function openFeed(db: Database, hub: RunHub, reader: RunReader, signal: AbortSignal): RunFeed;
export function openFeed(
  db: Database,
  hub: RunHub,
  reader: RunReader,
  signal: AbortSignal,
  options: FeedOptions,
): RunFeed<RunEvent | DeltaEvent>;
export function openFeed(
  db: Database,
  hub: RunHub,
  reader: RunReader,
  signal: AbortSignal,
  { deltas }: Partial<FeedOptions> = {},
): RunFeed<RunEvent | DeltaEvent> {
  const { runId } = reader;
  let hasNews = false;
  let wake: () => void = () => undefined;
  const notify = (): void => {
    hasNews = true;
    wake();
  };
  const following = hub.follow(reader, notify, deltas !== undefined);
  const texts =
    deltas &&
    new TextReader({
      texts: following.texts()!,
      notify,
      readAnswer: (node) => readAnswer(db, { ...node, runId }),
      since: deltas.since,
      lease: deltas.memory.lease(`user:${reader.userId}`, signal),
    });
  signal.addEventListener('abort', notify);
  return {
    isClosed: false,
    async after(version) {
      hasNews = false;
      const tail = following.tail();
      const events = tail === undefined ? [] : (tail.after(version) ?? (await readPage(db, runId, version)));
      return texts === undefined ? events : withDeltas(texts, events);
    },
    untilNews(atMostMs) {
      if (hasNews || signal.aborted || hub.isStopping) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, atMostMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    end() {
      signal.removeEventListener('abort', notify);
      texts?.end();
      following.end();
    },
  };
}

async function withDeltas(texts: TextReader, events: RunEvent[]): Promise<(RunEvent | DeltaEvent)[]> {
  texts.release();
  const sent: (RunEvent | DeltaEvent)[] = [];
  for (const event of events) sent.push(...(await texts.close(event)).map(toEvent), event);
  sent.push(...texts.drain().map(toEvent));
  return sent;
}

function toEvent(delta: TextDelta): DeltaEvent {
  return { kind: 'delta', delta };
}

async function readPage(db: Database, runId: string, after: number): Promise<RunEvent[]> {
  return (await readRunEvents(db, [{ runId, after }], PAGE_EVENTS)).get(runId)!;
}
