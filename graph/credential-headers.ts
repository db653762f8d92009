// Tells which headers hold credentials. The rule is the same for every kind of node.
import { findExpressions, textOutsideOf } from './template.js';

/** A name with one of these words between `-` or `_` is that of a credential. */
const WORDS: ReadonlySet<string> = new Set([
  'authorization',
  'auth',
  'key',
  'apikey',
  'token',
  'secret',
  'password',
  'cookie',
  'session',
  'signature',
  'credential',
]);
/** The header that makes a request repeatable is no credential, although a word of its name is `key`. */
const NO_CREDENTIAL = 'idempotency-key';
/** The scheme of a credential, which is not secret itself. */
const SCHEME = /^\s*(?:bearer|basic|digest|token|apikey)\s+/i;

/** Returns whether a header with this name holds a credential, in any case of its letters. */
export function isCredentialHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return lower !== NO_CREDENTIAL && lower.split(/[-_]/).some((word) => WORDS.has(word));
}

/**
 * Returns what the value of a credential header says beside variables and the scheme: the credential itself. Text in
 * braces that is no variable belongs to it.
 */
export function credentialLiteralsOf(value: string): string[] {
  const between = textOutsideOf(value).flatMap((piece) => piece.replace(SCHEME, '').trim() || []);
  const noVariables = Array.from(findExpressions(value)).filter(({ variable }) => variable === undefined);
  return [...between, ...noVariables.flatMap(({ expression }) => expression.trim() || [])];
}

/** Returns whether the value names only where the credential comes from. */
export function isOnlyVariables(value: unknown): boolean {
  return typeof value === 'string' && credentialLiteralsOf(value).length === 0;
}
