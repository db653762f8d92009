// Finds the user name and password in an address, such as `https://user:password@host/`. They belong in a connection:
// entering such an address is refused, they are never sent, and existing drawings are shown with them masked.
import { spansOf } from './template.js';

/** The field error of an address with a user name or password in the data of a node. */
export const CREDENTIALS_IN_ADDRESS =
  'Input should be an address without a user name and password: these belong in a connection';

/** Stands for each character of a variable, whose own text may contain any character of an address. */
const FILLER = '\uE000';
interface SplitAddress {
  before: string;
  /** The user name and password as written, between the slashes and the `@`. */
  credentials: string;
  after: string;
}

/**
 * Splits an address, which may contain variables. Returns undefined if the address has neither a user name nor a
 * password, or if a variable may contain the whole start of the address. As browsers do, ignores blanks before the
 * scheme and line breaks within the scheme, and accepts any number of slashes of both kinds after the scheme.
 */
export function splitAddress(address: unknown): SplitAddress | undefined {
  if (typeof address !== 'string' || !address.includes('@')) return undefined;
  const filled = fillVariables(address);
  const colon = filled.indexOf(':');
  const scheme = filled
    .slice(0, Math.max(0, colon))
    .replace(/[\t\n\r]/g, '')
    .trim();
  if (!/^[a-z\uE000][a-z\d+.\uE000-]*$/i.test(scheme)) return undefined;
  let from = colon + 1;
  while (from < filled.length && '/\\\t\n\r'.includes(filled[from]!)) from += 1;
  // A variable that is not followed by slashes may contain the whole start of the address.
  if (scheme.includes(FILLER) && from === colon + 1) return undefined;
  const [authority = ''] = filled.slice(from).split(/[/\\?#]/, 1);
  const end = from + authority.lastIndexOf('@');
  // The first colon ends the user name; a password may be a colon itself.
  if (end < from || /^:?$/.test(filled.slice(from, end).replace(/[\t\n\r]/g, ''))) return undefined;
  return { before: address.slice(0, from), credentials: address.slice(from, end), after: address.slice(end + 1) };
}

export function joinAddress({ before, after }: SplitAddress, credentials: string): string {
  return credentials === '' ? before + after : `${before}${credentials}@${after}`;
}

/**
 * True if the address contains credentials (a user name, a password or both), and no variable is in them. With a
 * variable in any part of them, only a run shows whether the `@` belongs to the path.
 */
export function holdsCredentials(address: string): boolean {
  const split = splitAddress(address);
  return split !== undefined && spansOf(split.credentials).next().done === true;
}

/** True if the credentials (`SplitAddress`) consist only of variables. */
export function areOnlyVariables(credentials: string): boolean {
  return !/[^:\t\n\r\uE000]/.test(fillVariables(credentials));
}

export function withoutCredentials(address: unknown): unknown {
  const split = splitAddress(address);
  return split === undefined ? address : joinAddress(split, '');
}

/** Returns the `Authorization` header for the credentials of an address (RFC 7617). */
export function toBasic(credentials: string): string {
  const [user = '', ...rest] = credentials.split(':');
  const bytes = new TextEncoder().encode(`${decode(user)}:${decode(rest.join(':'))}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** Returns the texts to mask for the credentials of an address. A user name counts only if there is no password. */
export function addressSecretTexts(credentials: string): string[] {
  const [user = '', ...rest] = credentials.split(':');
  const password = rest.join(':');
  const texts = [credentials, password === '' ? user : password];
  return [...new Set([...texts, ...texts.map(decode)])].filter((text) => text !== '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Replaces variables by `FILLER` without changing the length. */
function fillVariables(text: string): string {
  const parts: string[] = [];
  let cursor = 0;
  for (const { start, end } of spansOf(text)) {
    parts.push(text.slice(cursor, start), FILLER.repeat(end - start));
    cursor = end;
  }
  return parts.join('') + text.slice(cursor);
}
