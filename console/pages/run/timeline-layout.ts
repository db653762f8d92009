// Computes the parts of a node's row in the timeline. Times are in milliseconds since the start of the run.
import type { NodeEntry } from '../../live/live-run.js';
import { wordOf, type StatusWord } from '../../live/node-status.js';

export interface Span {
  fromMs: number;
  /** Null while in progress. */
  toMs: number | null;
}

export interface AttemptSpan extends Span {
  number: number;
  word: StatusWord;
  /** Parts of the attempt spent waiting, for example for a decision, a time or another run. */
  waits: readonly Span[];
}

interface TimelineRowView {
  /** Time between the node becoming ready and its first attempt. */
  queue: Span | undefined;
  attempts: readonly AttemptSpan[];
  /** Times from the end of an attempt until the next one begins. */
  pauses: readonly Span[];
}

/** The parts of a node's detail that the timeline uses. */
export interface AttemptFacts {
  queued_ms: number | null;
  /** The kind of the node's wait. After the end of the node, set only if the node did nothing but wait. */
  waited_for?: string;
  attempts: readonly AttemptFact[];
}

interface AttemptFact {
  number: number;
  started_at: string;
  finished_at: string | null;
  status: 'in progress' | 'succeed' | 'failed';
  error: { code: string; message: string } | null;
}

interface WaitFacts {
  status: string;
  created_at: string;
  decided_at: string | null;
  expires_at: string;
}

interface RowFacts {
  /** Start of the run in milliseconds since 1970. */
  originMs: number;
  entry: NodeEntry;
  isWaiting: boolean;
  /** Undefined until loaded; until then, the node is drawn as one attempt. */
  detail: AttemptFacts | undefined;
  requests: readonly WaitFacts[];
}

export function layOutRow({ originMs, entry, isWaiting, detail, requests }: RowFacts): TimelineRowView {
  const since = (at: string): number => Math.max(0, Date.parse(at) - originMs);
  const waits = requests.map((request) => ({ fromMs: since(request.created_at), toMs: waitEnd(request, since) }));
  const facts = attemptsOf(entry, detail);
  const attempts = facts.map(({ number, started_at: startedAt, finished_at: finishedAt, status, error }, index) => {
    const span = { fromMs: since(startedAt), toMs: finishedAt === null ? null : since(finishedAt) };
    const attempt = { id: entry.id, status, ...(error === null ? {} : { error }) };
    const isOpen = finishedAt === null;
    // `entry.waiting` and `waited_for` describe the last attempt; the earlier ones have failed.
    const isLast = index === facts.length - 1;
    const isWait = isLast && (isOpen ? entry.waiting !== undefined : hasWaited(entry, detail));
    const word = wordOf(attempt, isOpen && (isWaiting || isWait));
    return { number, word, ...span, waits: isWait ? [span] : joined(waits.flatMap((wait) => within(wait, span))) };
  });
  const first = attempts[0];
  const queuedMs = detail?.queued_ms ?? 0;
  const queue =
    first === undefined || queuedMs <= 0
      ? undefined
      : { fromMs: Math.max(0, first.fromMs - queuedMs), toMs: first.fromMs };
  return { queue, attempts, pauses: pausesOf(attempts, entry.status === 'in progress') };
}

/** Returns round tick values from 0, with at most `most` steps within the span. */
export function ticksOf(spanMs: number, most = 6): number[] {
  const least = Math.max(1, spanMs) / most;
  const step = STEPS_MS.find((each) => each >= least) ?? Math.ceil(least / DAY_MS) * DAY_MS;
  return Array.from({ length: Math.floor(spanMs / step) + 1 }, (_, index) => index * step);
}

/**
 * Returns the length in milliseconds of the axis of an open run that has lasted `ms`. The length grows in steps, so
 * that between steps only the bars in progress move.
 */
export function axisOf(ms: number): number {
  const least = Math.max(LEAST_AXIS_MS, ms * HEADROOM_FACTOR);
  return LEAST_AXIS_MS * STEP_FACTOR ** Math.ceil(Math.log(least / LEAST_AXIS_MS) / Math.log(STEP_FACTOR) - 1e-9);
}

const LEAST_AXIS_MS = 2_000;
/** Each step is this many times as long as the one before. */
const STEP_FACTOR = 1.5;
/** The axis is at least this many times as long as the run, so that bars in progress do not touch its end. */
const HEADROOM_FACTOR = 1.05;

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS_MS = [
  [1, [1, 2, 5, 10, 20, 50, 100, 200, 500]],
  [SECOND_MS, [1, 2, 5, 10, 15, 30]],
  [MINUTE_MS, [1, 2, 5, 10, 15, 30]],
  [HOUR_MS, [1, 2, 4, 6, 12, 24]],
].flatMap(([unit, counts]) => (counts as number[]).map((count) => count * (unit as number)));

/**
 * `detail` may be older than `entry`, which has the outcome of the last attempt. If the last attempt in `detail` ended
 * differently from the node, a later attempt is added. Only the end of that attempt is known, so it begins where the
 * previous attempt ended.
 */
function attemptsOf(entry: NodeEntry, detail: AttemptFacts | undefined): readonly AttemptFact[] {
  const { started_at: startedAt, finished_at: finishedAt, error } = entry;
  const known = detail?.attempts ?? [];
  const status: AttemptFact['status'] =
    entry.status === 'succeed' || entry.status === 'failed' ? entry.status : 'in progress';
  const end = { status, finished_at: finishedAt ?? null, error: error ?? null };
  const last = known.at(-1);
  if (last === undefined) {
    return startedAt === null || startedAt === undefined ? [] : [{ number: 1, started_at: startedAt, ...end }];
  }
  if (status === 'in progress') return known;
  if (last.status === 'in progress') return [...known.slice(0, -1), { ...last, ...end }];
  if (last.status === status || last.finished_at === null) return known;
  return [...known, { number: last.number + 1, started_at: last.finished_at, ...end }];
}

function waitEnd({ status, decided_at: decidedAt, expires_at: expiresAt }: WaitFacts, since: (at: string) => number) {
  if (status === 'pending') return null;
  return since(decidedAt ?? expiresAt);
}

/** Returns the part of a wait within the attempt, or an empty list. */
function within(wait: Span, attempt: Span): Span[] {
  const fromMs = Math.max(wait.fromMs, attempt.fromMs);
  const ends = [wait.toMs, attempt.toMs].filter((end) => end !== null);
  const toMs = ends.length === 0 ? null : Math.min(...ends);
  return toMs === null || toMs > fromMs ? [{ fromMs, toMs }] : [];
}

/**
 * Joins waits that overlap, such as those for two approvals of one turn, because `fromMs` is the React key of a wait in
 * timeline.tsx.
 */
function joined(waits: readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const { fromMs, toMs } of waits.toSorted((one, other) => one.fromMs - other.fromMs)) {
    const last = spans.at(-1);
    if (last === undefined || (last.toMs !== null && last.toMs < fromMs)) spans.push({ fromMs, toMs });
    else if (last.toMs !== null) last.toMs = toMs === null ? null : Math.max(last.toMs, toMs);
  }
  return spans;
}

/**
 * True if the node has ended and did nothing but wait. A detail from before the end does not tell, because `waited_for`
 * was then also set for a wait for a sign-in or a worker, and for one of an agent's tool call.
 */
function hasWaited(entry: NodeEntry, detail: AttemptFacts | undefined): boolean {
  if (entry.status === 'in progress') return false;
  return detail?.waited_for !== undefined && detail.attempts.at(-1)?.finished_at !== null;
}

/** Returns the times between two attempts and, while the node is in progress, the time after its last ended attempt. */
function pausesOf(attempts: readonly AttemptSpan[], isOpen: boolean): Span[] {
  return attempts.flatMap(({ toMs }, index): Span[] => {
    const next = attempts[index + 1];
    if (toMs === null) return [];
    if (next === undefined) return isOpen ? [{ fromMs: toMs, toMs: null }] : [];
    return next.fromMs > toMs ? [{ fromMs: toMs, toMs: next.fromMs }] : [];
  });
}
