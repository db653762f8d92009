import type { Approval, Verdict } from './approval-types.js';

type Decided = Pick<Approval, 'status' | 'decided_by'>;

/** How a request has ended, for `userId`; empty while it waits. */
export function outcomeSentence({ status, decided_by: by }: Decided, userId: number | undefined): string {
  if (status === 'pending') return '';
  if (status === 'expired') return 'Nobody decided before it expired or its run ended. The tool is not called.';
  const word = status === 'approved' ? 'approved' : 'rejected';
  if (by === null) return `This was ${word}.`;
  return by.id === userId ? `You ${word} this.` : `${by.name} ${word} this.`;
}

/**
 * Why a decision did not count (inner 409): `detail` is the service's own sentence. Undefined where it did: an answer that
 * got lost on the way lets a person decide the same a second time.
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

/** How many people have approved the arguments as they are. */
export function approvalsOf({ decisions, arguments_hash: hash }: Omit<Counted, 'required'>): number {
  return decisions.filter(({ decision, arguments_hash: of }) => decision === 'approved' && of === hash).length;
}

/** What is said of an approval that counts and is not enough. */
export function countedSentence(request: Counted): string {
  const missing = request.required - approvalsOf(request);
  return `Your approval counts. ${missing} more ${missing === 1 ? 'person' : 'people'} must approve.`;
}
