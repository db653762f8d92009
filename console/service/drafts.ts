// Stores unsaved drawings in the browser until the service has them, so that they survive a closed tab and a lost
// connection. Each editor has its own entry, so that two tabs of one workflow never overwrite each other. Signing out
// deletes the entries of that person.
import { actionOfTool, isCredentialField, readAction } from '../../graph/actions/action.js';
import { joinAddress, splitAddress } from '../../graph/address-credentials.js';
import { isOnlyVariables } from '../../graph/credential-headers.js';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { MASK } from '../../graph/mask-text.js';

interface DraftFacts {
  /** The stored version of the workflow on which the draft is based. */
  version: number;
  /** ETag of the service's draft that belongs to this one; undefined if there was none. */
  tag?: string | undefined;
}

/** Facts about a draft that need no parsing of its drawing. */
export interface DraftHead extends DraftFacts {
  key: string;
  savedAt: string;
  /** False if the service stores the drawing. The entry then only records which editor wrote the service's draft. */
  hasDrawing: boolean;
}

/** The part of the interface of `localStorage` that the console uses. */
export interface Entries {
  readonly length: number;
  key: (at: number) => string | null;
  getItem: (key: string) => string | null;
  setItem: (key: string, text: string) => void;
  removeItem: (key: string) => void;
}

const PREFIX = 'draft:';
/** Browsers store about five million characters per origin. */
const MOST_CHARACTERS = 1_500_000;
const MOST_IN_ALL = 4_000_000;
const DAYS_KEPT = 30;

/** Returns the key of one editor's draft; without `editor`, the prefix of all the user's drafts of the workflow. */
export function draftKey(userId: number, workflowId: number, editor = ''): string {
  return `${PREFIX}${userId}:${workflowId}:${editor}`;
}

/**
 * Stores a draft. Deletes drafts older than `DAYS_KEPT` days, and the oldest ones above `MOST_IN_ALL` characters. If
 * the draft is too long, or the browser cannot store it, returns false and retains the editor's previous one. Without
 * `drawing`, stores the facts alone.
 */
export function writeDraft(
  entries: Entries,
  key: string,
  { version, tag = '' }: DraftFacts,
  drawing: JsonObject | undefined,
  now = new Date(),
): boolean {
  const body = drawing === undefined ? '' : JSON.stringify(drawing, withoutSecrets);
  const text = `${now.toISOString()} ${version} ${tag}\n${body}`;
  if (text.length > MOST_CHARACTERS) return false;
  makeRoom(entries, key, text.length, now);
  try {
    entries.setItem(key, text);
    return true;
  } catch {
    // Storage is blocked or full.
    return false;
  }
}

export function listDrafts(entries: Entries, userId: number, workflowId: number): DraftHead[] {
  return headsOf(entries, draftKey(userId, workflowId));
}

/** Returns undefined if the draft is gone, unreadable, or stored without its drawing. */
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
  let total = needed;
  for (const { key, savedAt } of headsOf(entries, PREFIX).filter((head) => head.key !== own)) {
    total += entries.getItem(key)?.length ?? 0;
    if (total > MOST_IN_ALL || !(Date.parse(savedAt) > oldest)) entries.removeItem(key);
  }
}

/** Sorted newest first. */
function headsOf(entries: Entries, prefix: string): DraftHead[] {
  const keys = Array.from({ length: entries.length }, (_, at) => entries.key(at) ?? '');
  const heads = keys.filter((key) => key.startsWith(prefix)).map((key) => readHead(key, entries.getItem(key) ?? ''));
  return heads.toSorted((one, other) => (one.savedAt < other.savedAt ? 1 : -1));
}

function readHead(key: string, text: string): DraftHead {
  const end = text.indexOf('\n');
  const [savedAt = '', version, tag = ''] = text.slice(0, end).split(' ');
  return {
    key,
    savedAt,
    version: Number(version),
    tag: tag === '' ? undefined : tag,
    hasDrawing: end + 1 < text.length,
  };
}

/** Matches more names than the rule of the service, because losing a harmless value is better than storing a secret. */
const CREDENTIAL = /auth|key|token|secret|password|cookie|session|signature|credential/i;

/**
 * A replacer for `JSON.stringify`. Removes the secrets that a person typed (default values of secret fields,
 * credentials in headers, in addresses and in the values of an action), because later users of the machine can read the
 * browser's store. Removes all values of an action that was chosen since the last save: only the service adds to the
 * drawing the action's fields, which say what is a credential. Masks and variables stay, because they reveal nothing.
 */
function withoutSecrets(this: unknown, key: string, value: unknown): unknown {
  if (key === 'url' || key === 'endpoint_url') {
    const split = splitAddress(value);
    return split === undefined ? value : joinAddress(split, String(unlessSecret(split.credentials)));
  }
  if (!isObject(value)) return value;
  if (key === 'values') {
    const action = (isObject(this) && actionOfTool(this)) || ownValue(this, 'action');
    const named = readAction(action);
    const isUnknown = named !== undefined && named.facts === undefined;
    const isSecret = (name: string): boolean => isUnknown || CREDENTIAL.test(name) || isCredentialField(action, name);
    const values = Object.entries(value);
    return Object.fromEntries(values.map(([name, of]) => [name, isSecret(name) ? unlessSecret(of) : of]));
  }
  if (key === 'headers') {
    const headers = Object.entries(value);
    return Object.fromEntries(headers.map(([name, text]) => [name, CREDENTIAL.test(name) ? unlessSecret(text) : text]));
  }
  const isSecret = ownValue(value, 'is_secret') === true && Object.hasOwn(value, 'default_value');
  return isSecret ? { ...value, default_value: unlessSecret(value['default_value']) } : value;
}

function unlessSecret(value: unknown): unknown {
  return value === MASK || isOnlyVariables(value) ? value : '';
}
