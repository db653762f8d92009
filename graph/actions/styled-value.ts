// Writes the values of parameters as OpenAPI says (style and explode).
import { isContainer, isObject } from '../json.js';
import { writeJson } from '../json-text.js';
import type { ActionField, FieldStyle } from './action.js';

export type Pair = [name: string, value: string];

/** Returns a text as it is, an empty text for a missing value or null, and the JSON text of any other value. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : writeJson(value);
  // A half of a surrogate pair cannot be encoded.
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}

export function percentEncoded(text: string): string {
  return encodeURIComponent(toText(text)).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns the value of a path parameter or header, with each piece encoded. */
export function toStyledText(
  name: string,
  value: unknown,
  field: ActionField,
  encode: (text: string) => string,
): string {
  const style = field['x-style'] ?? 'simple';
  const explode = field['x-explode'] ?? false;
  if (isContainer(value) && field['x-json'] === true) return encode(writeJson(value));
  const pieces = isContainer(value) ? piecesOf(value, explode, encode) : [encode(toText(value))];
  if (style === 'label') return pieces.map((piece) => `.${piece}`).join('');
  if (style === 'matrix') return toMatrix(name, value, pieces, explode);
  return pieces.join(',');
}

function piecesOf(value: object, explode: boolean, encode: (text: string) => string): string[] {
  if (Array.isArray(value)) return value.map((item) => encode(toText(item)));
  return Object.entries(value).flatMap(([key, item]) =>
    explode ? [`${encode(key)}=${encode(toText(item))}`] : [encode(key), encode(toText(item))],
  );
}

function toMatrix(name: string, value: unknown, pieces: string[], explode: boolean): string {
  if (!isContainer(value)) return `;${name}=${pieces.join('')}`;
  if (!explode) return pieces.length === 0 ? '' : `;${name}=${pieces.join(',')}`;
  return pieces.map((piece) => (Array.isArray(value) ? `;${name}=${piece}` : `;${piece}`)).join('');
}

const DELIMITERS: Partial<Record<FieldStyle, string>> = {
  spaceDelimited: '%20',
  pipeDelimited: '|',
  tabDelimited: '%09',
};

/**
 * Returns the pairs of a query parameter or of a field of a form, encoded. An empty list or object gives none.
 */
export function toPairs(name: string, value: unknown, field: ActionField): Pair[] {
  const style = field['x-style'] ?? 'form';
  const explode = field['x-explode'] ?? style === 'form';
  const key = percentEncoded(name);
  if (!isContainer(value)) return [[key, percentEncoded(toText(value))]];
  if (Object.keys(value).length === 0) return [];
  if (field['x-json'] === true) return [[key, percentEncoded(writeJson(value))]];
  if (style === 'deepObject') return deepPairs(key, value);
  if (Array.isArray(value)) {
    const items = value.map((item) => percentEncoded(toText(item)));
    if (explode) return items.map((item): Pair => [key, item]);
    return [[key, items.join(DELIMITERS[style] ?? ',')]];
  }
  const entries = Object.entries(value).map(([part, item]): Pair => [
    percentEncoded(part),
    percentEncoded(toText(item)),
  ]);
  if (explode) return entries;
  return [[key, entries.flat().join(DELIMITERS[style] ?? ',')]];
}

/** `name[key]=value` at any depth; the items of a list are numbered. Does not recurse. */
function deepPairs(key: string, value: object): Pair[] {
  const pairs: Pair[] = [];
  const pending: [name: string, value: unknown][] = [[key, value]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [name, current] = next;
    if (!isContainer(current)) {
      pairs.push([name, percentEncoded(toText(current))]);
      continue;
    }
    const parts = isObject(current)
      ? Object.entries(current)
      : (current as unknown[]).map((item, at): [string, unknown] => [String(at), item]);
    for (const [part, item] of parts.toReversed()) pending.push([`${name}%5B${percentEncoded(part)}%5D`, item]);
  }
  return pairs;
}
