// Computes the `[before, after]` values of an audit record.
import type { AuditChanges } from './audit-entry.js';
import type { TargetState } from './subjects.js';
import { cutText } from '../../graph/cut-text.js';
import { MASK } from '../../graph/mask-text.js';

/** Longer texts are cut. */
const MAX_CHARACTERS = 200;

/**
 * `before` is undefined for a new target, `after` for a deleted one. The fields of `touched` are recorded even if they
 * look the same in both.
 */
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

/** A field that was null or absent and is now an empty text or list has not changed. */
function isOther(old: unknown, now: unknown): boolean {
  const [one, other] = [old, now].map((value) => JSON.stringify(value));
  return one !== other && !(old === null && (other === '""' || other === '[]'));
}

function shorten(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= MAX_CHARACTERS) return value;
  return `${cutText(text, MAX_CHARACTERS)}…`;
}
