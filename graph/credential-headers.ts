// Decides which headers hold credentials. The rule is the same for every kind of node.
import { findExpressions, textOutsideOf } from './template.js';

/** A header holds a credential if one of these is among the words of its name, which `-` and `_` separate. */
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
/** Makes a request repeatable; it isn't a credential, although its name contains `key`. */
const NO_CREDENTIAL = 'idempotency-key';
/** The scheme of a credential, which is not secret itself. */
const SCHEME = /^\s*(?:bearer|basic|digest|token|apikey)\s+/i;

/** True if a header with this name holds a credential. Ignores case. */
export function isCredentialHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return lower !== NO_CREDENTIAL && lower.split(/[-_]/).some((word) => WORDS.has(word));
}

/**
 * Returns the credential itself: the text of a header's value without variables and scheme. Text in braces that is not
 * a variable belongs to the credential.
 */
export function credentialLiteralsOf(value: string): string[] {
  const between = textOutsideOf(value).flatMap((piece) => piece.replace(SCHEME, '').trim() || []);
  const noVariables = Array.from(findExpressions(value)).filter(({ variable }) => variable === undefined);
  return [...between, ...noVariables.flatMap(({ expression }) => expression.trim() || [])];
}

/** True if the value contains nothing but variables and a scheme. */
export function isOnlyVariables(value: unknown): boolean {
  return typeof value === 'string' && credentialLiteralsOf(value).length === 0;
}
