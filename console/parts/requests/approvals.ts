import type { paths } from '../../../clients/typescript/src/index.js';

export type ApprovalList = paths['/api/v1/agent-approvals/']['get']['responses'][200]['content']['application/json'];
export type Approval = ApprovalList['items'][number];
export type ApprovalFilter = 'pending' | 'decided' | 'approved' | 'rejected' | 'expired';
export type Verdict = 'approve' | 'reject';

type Decided = Pick<Approval, 'status' | 'decided_by'>;

/** Tells the person `userId` how a request ended; empty while the request is pending. */
export function outcomeSentence({ status, decided_by: by }: Decided, userId: number | undefined): string {
  if (status === 'pending') return '';
  if (status === 'expired') return 'Nobody decided before it expired or its run ended. The tool is not called.';
  const word = status === 'approved' ? 'approved' : 'rejected';
  if (by === null) return `This was ${word}.`;
  return by.id === userId ? `You ${word} this.` : `${by.name} ${word} this.`;
}

/**
 * Explains why a decision does not count (inner 409); `detail` is the service's sentence. Returns undefined if the
 * request ended as the person `userId` wanted, by an earlier decision of that person.
 */
export function tooLateSentence(
  request: Decided,
  wanted: Verdict,
  userId: number | undefined,
  detail: string,
): string | undefined {
  const mine = wanted === 'approve' ? 'approval' : 'rejection';
  const { status, decided_by: by } = request;
  const isAsWanted = status === (wanted === 'approve' ? 'approved' : 'rejected');
  if (isAsWanted && by !== null && by.id === userId) return undefined;
  if (status === 'pending') return `Your ${mine} does not count. ${detail}`;
  if (status === 'expired') return `Your ${mine} came too late. The request has expired, or its run has ended.`;
  const who = by === null ? 'somebody' : by.id === userId ? 'you' : by.name;
  return `Your ${mine} does not count: ${who} ${status} this before.`;
}

type Counted = Pick<Approval, 'decisions' | 'arguments_hash' | 'required'>;

/** Returns the number of people who approved the current arguments. */
export function approvalsOf({ decisions, arguments_hash: hash }: Omit<Counted, 'required'>): number {
  return decisions.filter(({ decision, arguments_hash: of }) => decision === 'approved' && of === hash).length;
}

/** Returns the sentence after an approval when more are required. */
export function countedSentence(request: Counted): string {
  const missing = request.required - approvalsOf(request);
  return `Your approval counts. ${missing} more ${missing === 1 ? 'person' : 'people'} must approve.`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Returns the remaining time in its two largest units: `2 days 3 hours left`. */
export function remainingText(untilMs: number, nowMs: number): string {
  const ms = untilMs - nowMs;
  if (ms <= 0) return 'expired';
  if (ms < MINUTE_MS) return 'less than a minute left';
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  const parts = [count(days, 'day'), count(hours, 'hour'), days === 0 ? count(minutes, 'minute') : ''];
  return `${parts.filter(Boolean).join(' ')} left`;
}

function count(number: number, unit: string): string {
  if (number === 0) return '';
  return number === 1 ? `1 ${unit}` : `${number} ${unit}s`;
}

// The inbox must not move while somebody reads it. New requests are hidden until the person asks for them, and requests
// decided by others stay in their place.

type Shown = readonly Approval[];

/** Returns the listed requests that are not shown and newer than the oldest shown one: inserting them moves others. */
export function freshOf(shown: Shown, listed: Shown): Approval[] {
  return split(shown, listed).fresh;
}

/** Appends the listed requests older than the shown ones, which moves nothing. If nothing is shown, returns all. */
export function withOlder(shown: Shown, listed: Shown): Shown {
  const { older } = split(shown, listed);
  return older.length === 0 ? shown : [...shown, ...older];
}

/**
 * Returns ids of requests that are shown as pending and no longer listed: they were decided, have expired, or newer
 * requests have moved them behind the listed pages.
 */
export function missingOf(shown: Shown, listed: Shown): string[] {
  const ids = new Set(listed.map(({ request_id }) => request_id));
  return shown
    .filter(({ request_id, status }) => status === 'pending' && !ids.has(request_id))
    .map(({ request_id }) => request_id);
}

/** Replaces the shown requests by their newer versions. */
export function withChanges(shown: Shown, changed: Shown): Shown {
  const byId = new Map(changed.map((request) => [request.request_id, request]));
  return shown.map((request) => byId.get(request.request_id) ?? request);
}

/** Splits unshown requests by age. Lists are sorted newest first. */
function split(shown: Shown, listed: Shown): { fresh: Approval[]; older: Approval[] } {
  const ids = new Set(shown.map(({ request_id }) => request_id));
  const oldest = shown.at(-1)?.created_at;
  const others = listed.filter(({ request_id }) => !ids.has(request_id));
  const isOlder = ({ created_at }: Approval): boolean => oldest === undefined || created_at <= oldest;
  return { fresh: others.filter((request) => !isOlder(request)), older: others.filter(isOlder) };
}
