// A parsed OpenAPI document: its references, and access to its values. The document is not trusted: it may refer to
// itself in circles, and use one part in many places.
import { isObject, ownValue, type JsonObject } from '../graph/json.js';
import { cutText } from '../graph/cut-text.js';

/** Thrown for a document that cannot be used. Users see the message, with the place in the document if one is known. */
export class OpenapiError extends Error {
  override readonly name = 'OpenapiError';

  constructor(place: string, message: string) {
    super(place === '' ? message : `${cutText(place, 200)}: ${message}`);
  }
}

/**
 * Thrown for a part that cannot be read. If no caller goes on without the part, its path or operation is left out, and
 * users see the message as a warning.
 */
export class OperationProblem extends Error {
  override readonly name = 'OperationProblem';
}

/** The limit on references that lead from one to the next. More of them count as a circle. */
const MOST_REFERENCES = 100;

export interface OpenapiDocument {
  root: JsonObject;
  isSwagger: boolean;
}

/**
 * Follows references and returns the value to which they lead. Returns a value without a reference unchanged. Throws
 * `OperationProblem` for a reference to nothing, to another document, or in a circle.
 */
export function resolve({ root }: OpenapiDocument, value: unknown): unknown {
  let current = value;
  for (let step = 0; step < MOST_REFERENCES; step += 1) {
    const reference = referenceOf(current);
    if (reference === undefined) return current;
    current = follow(root, reference);
  }
  throw new OperationProblem('Its references lead in a circle.');
}

export function referenceOf(value: unknown): string | undefined {
  const reference = isObject(value) ? ownValue(value, '$ref') : undefined;
  return typeof reference === 'string' ? reference : undefined;
}

/** `$ref` is a JSON pointer (RFC 6901), percent-encoded after `#`. */
function follow(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#')) {
    throw new OperationProblem(
      `A reference leads to another document (${cutText(reference, 100)}), which is not read.`,
    );
  }
  let current: unknown = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    current = ownValue(current, key);
  }
  if (current === undefined || (reference !== '#' && !reference.startsWith('#/'))) {
    throw new OperationProblem(`A reference leads to nothing (${cutText(reference, 100)}).`);
  }
  return current;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the resolved object, or throws `OperationProblem`. */
export function resolveObject(document: OpenapiDocument, value: unknown, what: string): JsonObject {
  const found = resolve(document, value);
  if (isObject(found)) return found;
  throw new OperationProblem(`${what} is not an object.`);
}

/** Returns the trimmed text or the number at a key, as text; undefined if there is none. */
export function textAt(owner: unknown, key: string, most: number): string | undefined {
  const value = ownValue(owner, key);
  const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  return cutText(text.trim(), most) || undefined;
}

/** Returns the list at a key, or an empty list. */
export function listAt(owner: unknown, key: string): unknown[] {
  const value = ownValue(owner, key);
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function entriesAt(owner: unknown, key: string): [string, unknown][] {
  const value = ownValue(owner, key);
  return isObject(value) ? Object.entries(value) : [];
}

/** Returns the address of the documentation if a browser may open it, else null. */
export function documentationAt(owner: unknown): string | null {
  const url = ownValue(ownValue(owner, 'externalDocs'), 'url');
  if (typeof url !== 'string' || url.length > 2_000 || !URL.canParse(url)) return null;
  const parsed = new URL(url);
  return parsed.protocol === 'https:' && parsed.username === '' && parsed.password === '' ? parsed.href : null;
}
