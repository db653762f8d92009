// The difference that a change has made to its target, as a record tells it.
import type { AuditChanges } from './audit-entry.js';
import { cutText } from '../../graph/cut-text.js';

/** The fields of a target as they are shown, and a hash of each secret, null where there is none. */
export interface TargetState {
  fields: Record<string, unknown>;
  secrets: Record<string, string | null>;
}

const MASK = '********';
/** A longer text is told by its beginning. */
const MAX_CHARACTERS = 200;

/** An undefined target is not there yet, or any more. The fields of `touched` are recorded in any case. */
export function toChanges(
  before: TargetState | undefined,
  after: TargetState | undefined,
  touched: readonly string[] = [],
): AuditChanges {
  const changes: AuditChanges = {};
  for (const field of keysOf(before?.fields, after?.fields)) {
    const [old, now] = [before?.fields[field] ?? null, after?.fields[field] ?? null];
    if (touched.includes(field) || isOther(old, now)) changes[field] = [shorten(old), shorten(now)];
  }
  for (const field of keysOf(before?.secrets, after?.secrets)) {
    const [old, now] = [before?.secrets[field] ?? null, after?.secrets[field] ?? null];
    if (old !== now) changes[field] = [old === null ? null : MASK, now === null ? null : MASK];
  }
  return changes;
}

function keysOf(...records: (object | undefined)[]): Set<string> {
  return new Set(records.flatMap((record) => Object.keys(record ?? {})));
}

/** An empty text or list is nothing that a new target would be told to have. */
function isOther(old: unknown, now: unknown): boolean {
  const [one, other] = [old, now].map((value) => JSON.stringify(value));
  return one !== other && !(old === null && (other === '""' || other === '[]'));
}

function shorten(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= MAX_CHARACTERS) return value;
  return `${cutText(text, MAX_CHARACTERS)}…`;
}
