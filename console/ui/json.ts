// Reads, compares and formats JSON. Drawings may contain any JSON; parts unknown to the editor pass through unchanged.
import { ExactNumber } from '../../graph/exact-number.js';
import { isEqualJson, isObject, type JsonObject } from '../../graph/json.js';
import { toVisibleJson } from './visible-json.js';

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects of a list, without its other items. Returns none for any other value. */
export function objectsOf(value: unknown): JsonObject[] {
  return asArray(value).filter(isObject);
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Returns `value`, in which each part that equals the part of `known` at the same place is replaced by the latter, so
 * that unchanged parts do not render again.
 */
export function shareParts(known: unknown, value: unknown): unknown {
  if (isEqualJson(known, value)) return known;
  if (Array.isArray(known) && Array.isArray(value)) return value.map((item, at) => shareParts(known[at], item));
  if (!isObject(known) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, Object.hasOwn(known, key) ? shareParts(known[key], part) : part]),
  );
}

type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * Parses a JSON object or array. Returns undefined for any other text. In newer browsers, a number that JavaScript
 * would write differently (`1.0`) becomes an `ExactNumber`, for `writeJson`: `JSON.stringify` writes it as a string.
 */
export function parseStructure(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text, keepDigits) as object;
  } catch {
    return undefined;
  }
}

/** Newer browsers pass the source text to revivers. Older ones only have the rounded number. */
const keepDigits: Reviver = (_key, value, context) => {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return String(value) === context.source ? value : new ExactNumber(context.source);
};

/**
 * Like `JSON.parse`, but in newer browsers `JSON.stringify` writes the numbers with their original digits: those that
 * JavaScript would write differently are objects of `JSON.rawJSON`. Throws what `JSON.parse` throws.
 */
export function parseExact(text: string): unknown {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
  const keep: Reviver = (_key, value, context) => {
    const source = typeof value === 'number' ? context?.source : undefined;
    return source === undefined || rawJSON === undefined || String(value) === source ? value : rawJSON(source);
  };
  return JSON.parse(text, keep) as unknown;
}

/** Returns a string as it is, and any other value as JSON with an indent of two spaces. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  const before = ExactNumber.written;
  const text = JSON.stringify(value, null, 2) ?? '';
  // `JSON.stringify` writes an `ExactNumber` as a string.
  return ExactNumber.written === before ? text : toVisibleJson(value);
}

/** Returns the size of a value as text: `3 fields`, `12 items`. */
export function summaryOf(value: object): string {
  if (Array.isArray(value)) return value.length === 1 ? '1 item' : `${value.length} items`;
  const count = Object.keys(value).length;
  return count === 1 ? '1 field' : `${count} fields`;
}
