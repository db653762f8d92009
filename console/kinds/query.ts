// Parses and writes the query of an address. New and changed rows are encoded, except for their variables.
import { spansOf } from '../../graph/template.js';
import type { RecordRow } from '../forms/values.js';

/**
 * `written` is the row's text in the address. It is reused until the row changes, so that its encoding stays the same.
 */
export interface QueryRow extends RecordRow {
  value: string;
  written?: string;
}

export function queryRows(address: string): QueryRow[] {
  const { query } = partsOf(address);
  if (query === undefined || query === '') return [];
  return splitOutside(query, '&').map((written) => {
    const [name = '', ...rest] = splitOutside(written, '=');
    return { name: decode(name), value: decode(rest.join('=')), written };
  });
}

/** Returns the address with these rows as its query. Ignores new and changed rows without a name. */
export function withQuery(address: string, rows: readonly QueryRow[]): string {
  const { before, behind } = partsOf(address);
  const query = rows
    .filter(({ name, written }) => name !== '' || written !== undefined)
    .map(({ name, value, written }) => written ?? `${encode(name)}=${encode(value)}`)
    .join('&');
  return `${before}${query === '' ? '' : `?${query}`}${behind}`;
}

interface Parts {
  before: string;
  query: string | undefined;
  /** The fragment including `#`. */
  behind: string;
}

function partsOf(address: string): Parts {
  const [start = '', ...fragment] = splitOutside(address, '#');
  const behind = fragment.length === 0 ? '' : `#${fragment.join('#')}`;
  const [before = '', ...query] = splitOutside(start, '?');
  return { before, query: query.length === 0 ? undefined : query.join('?'), behind };
}

/** Splits a text at a sign outside variables. */
function splitOutside(text: string, sign: string): string[] {
  const parts = [''];
  for (const { part, isVariable } of piecesOf(text)) {
    const [first = '', ...others] = isVariable ? [part] : part.split(sign);
    parts.push(`${parts.pop() ?? ''}${first}`, ...others);
  }
  return parts;
}

function piecesOf(text: string): { part: string; isVariable: boolean }[] {
  const pieces: { part: string; isVariable: boolean }[] = [];
  let cursor = 0;
  for (const { start, end } of spansOf(text)) {
    pieces.push({ part: text.slice(cursor, start), isVariable: false });
    pieces.push({ part: text.slice(start, end), isVariable: true });
    cursor = end;
  }
  return [...pieces, { part: text.slice(cursor), isVariable: false }];
}

function decode(text: string): string {
  return map(text, (part) => {
    try {
      return decodeURIComponent(part.replaceAll('+', ' '));
    } catch {
      return part;
    }
  });
}

function encode(text: string): string {
  return map(text, encodeURIComponent);
}

function map(text: string, change: (part: string) => string): string {
  return piecesOf(text)
    .map(({ part, isVariable }) => (isVariable ? part : change(part)))
    .join('');
}
