// Keeps in the browser what a person has drawn and not saved, so that it survives a closed tab. Every editor has an entry of
// its own, so that two tabs of one workflow never write over each other. Signing out removes the entries of that person.
import { isOnlyVariables } from '../../graph/credential-headers.js';
import { isObject, ownValue, type JsonObject } from '../ui/json.js';

/** The facts of an entry that are read before its drawing. */
export interface DraftHead {
  key: string;
  savedAt: string;
  /** The version of the workflow that was changed. */
  version: number;
}

/** The part of `localStorage` that is needed. */
export interface Entries {
  readonly length: number;
  key: (at: number) => string | null;
  getItem: (key: string) => string | null;
  setItem: (key: string, text: string) => void;
  removeItem: (key: string) => void;
}

const PREFIX = 'draft:';
/** A browser keeps about five million characters for a service. */
const MOST_CHARACTERS = 1_500_000;
const MOST_IN_ALL = 4_000_000;
const DAYS_KEPT = 30;

/** Returns the key of the draft of one editor. Without `editor` it is what the keys of all drafts of the workflow begin with. */
export function draftKey(userId: number, workflowId: number, editor = ''): string {
  return `${PREFIX}${userId}:${workflowId}:${editor}`;
}

/**
 * Stores a draft, and removes drafts that are old, and the oldest ones where there are too many. Returns false where the
 * browser cannot keep it; what it had of this editor before is kept then.
 */
export function writeDraft(
  entries: Entries,
  key: string,
  version: number,
  drawing: JsonObject,
  now = new Date(),
): boolean {
  const text = `${now.toISOString()} ${version}\n${JSON.stringify(drawing, withoutSecrets)}`;
  if (text.length > MOST_CHARACTERS) return false;
  makeRoom(entries, key, text.length, now);
  try {
    entries.setItem(key, text);
    return true;
  } catch {
    // The browser keeps nothing, or has no room.
    return false;
  }
}

/** Returns the drafts of a workflow, the newest first. */
export function listDrafts(entries: Entries, userId: number, workflowId: number): DraftHead[] {
  return headsOf(entries, draftKey(userId, workflowId));
}

/** Returns undefined for a draft that is gone or cannot be read. */
export function readDraft(entries: Entries, key: string): JsonObject | undefined {
  try {
    const text = entries.getItem(key) ?? '';
    const drawing: unknown = JSON.parse(text.slice(text.indexOf('\n') + 1));
    return isObject(drawing) ? drawing : undefined;
  } catch {
    return undefined;
  }
}

export function forgetDrafts(entries: Entries, userId: number): void {
  for (const { key } of headsOf(entries, `${PREFIX}${userId}:`)) entries.removeItem(key);
}

function makeRoom(entries: Entries, own: string, needed: number, now: Date): void {
  const oldest = now.getTime() - DAYS_KEPT * 24 * 3600 * 1000;
  let taken = needed;
  for (const { key, savedAt } of headsOf(entries, PREFIX).filter((head) => head.key !== own)) {
    taken += entries.getItem(key)?.length ?? 0;
    if (taken > MOST_IN_ALL || !(Date.parse(savedAt) > oldest)) entries.removeItem(key);
  }
}

/** Returns the newest first. */
function headsOf(entries: Entries, prefix: string): DraftHead[] {
  const keys = Array.from({ length: entries.length }, (_, at) => entries.key(at) ?? '');
  const heads = keys.filter((key) => key.startsWith(prefix)).map((key) => readHead(key, entries.getItem(key) ?? ''));
  return heads.toSorted((one, other) => (one.savedAt < other.savedAt ? 1 : -1));
}

function readHead(key: string, text: string): DraftHead {
  const [savedAt = '', version] = text.slice(0, text.indexOf('\n')).split(' ');
  return { key, savedAt, version: Number(version) };
}

/** The service answers it instead of a secret, and keeps the secret where it comes back. */
const SERVICE_MASK = '********';

/** It is wider than the rule of the service: a draft loses a value that is no secret rather than keep one that is. */
const CREDENTIAL = /auth|key|token|secret|password|cookie|session|signature|credential/i;

/**
 * Leaves out what a person has typed into fields of secrets and into headers of credentials. The store of a browser is
 * open to whoever uses the machine later. The service's masks and variables stay: they are no secrets.
 */
function withoutSecrets(key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  if (key === 'headers') {
    const headers = Object.entries(value);
    return Object.fromEntries(headers.map(([name, text]) => [name, CREDENTIAL.test(name) ? unlessSecret(text) : text]));
  }
  const isSecret = ownValue(value, 'is_secret') === true && Object.hasOwn(value, 'default_value');
  return isSecret ? { ...value, default_value: unlessSecret(value['default_value']) } : value;
}

function unlessSecret(value: unknown): unknown {
  return value === SERVICE_MASK || isOnlyVariables(value) ? value : '';
}
