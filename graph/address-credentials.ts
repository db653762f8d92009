// Finds the user name and password that stand in an address, such as `https://user:password@host/`. They belong in a
// connection: they are refused where an address is entered, never sent, and masked in drawings that have them.
import { spansOf } from './template.js';

/** Refuses an address in the data of a node. */
export const CREDENTIALS_IN_ADDRESS =
  'Input should be an address without a user name and password: these belong in a connection';

/** Stands for each character of a variable, whose own text may hold any character of an address. */
const FILLER = '\uE000';
interface SplitAddress {
  before: string;
  /** The user name and password as they are written, between the slashes and the `@`. */
  credentials: string;
  /** The part behind the `@`. */
  after: string;
}

/**
 * Returns undefined for an address without a user name and password. It may hold variables. As in browsers, blanks before the
 * scheme and breaks in it do not count, and any number of slashes of both kinds follows it.
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
  // A variable that is not followed by slashes may hold the whole beginning of the address.
  if (scheme.includes(FILLER) && from === colon + 1) return undefined;
  const [authority = ''] = filled.slice(from).split(/[/\\?#]/, 1);
  const end = from + authority.lastIndexOf('@');
  // The first colon ends the user name; a password may be a colon itself.
  if (end < from || /^:?$/.test(filled.slice(from, end).replace(/[\t\n\r]/g, ''))) return undefined;
  return { before: address.slice(0, from), credentials: address.slice(from, end), after: address.slice(end + 1) };
}

/** Returns the address with other credentials; with none if they are empty. */
export function joinAddress({ before, after }: SplitAddress, credentials: string): string {
  return credentials === '' ? before + after : `${before}${credentials}@${after}`;
}

/**
 * Returns whether the address holds a user name or password that can be read in it. Where a variable stands before the
 * `@`, only a run knows whether it is the path that holds the `@`.
 */
export function holdsCredentials(address: string): boolean {
  const split = splitAddress(address);
  return split !== undefined && spansOf(split.credentials).next().done === true;
}

/** Returns whether the credentials of an address (`splitAddress`) are nothing but variables. */
export function areOnlyVariables(credentials: string): boolean {
  return !/[^:\t\n\r\uE000]/.test(fillVariables(credentials));
}

/** Returns the address without its credentials. */
export function withoutCredentials(address: unknown): unknown {
  const split = splitAddress(address);
  return split === undefined ? address : joinAddress(split, '');
}

/** Returns the value of the header that sends the credentials of an address. RFC 7617. */
export function toBasic(credentials: string): string {
  const [user = '', ...rest] = credentials.split(':');
  const bytes = new TextEncoder().encode(`${decode(user)}:${decode(rest.join(':'))}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** Returns the texts to mask for the credentials of an address: a user name is one only where it is all that there is. */
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

/** The length stays the same. */
function fillVariables(text: string): string {
  const parts: string[] = [];
  let cursor = 0;
  for (const { start, end } of spansOf(text)) {
    parts.push(text.slice(cursor, start), FILLER.repeat(end - start));
    cursor = end;
  }
  return parts.join('') + text.slice(cursor);
}
