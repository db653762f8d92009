// The operators of a condition. Both sides are rendered texts.
import { compare, COMPARISONS, createEqualityTest, type Comparison } from './condition.js';
import { parseJsonOrUndefined, writeJsonOrNothing } from './json-text.js';
import { matchesPattern, type StepBudget } from './pattern.js';

/** Operators that ignore the right side. */
export const ONE_SIDED = ['is_empty', 'is_not_empty'] as const;

export const OPERATORS = [
  ...COMPARISONS,
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'matches',
  'in',
  ...ONE_SIDED,
] as const;
export type Operator = (typeof OPERATORS)[number];

/** `left` is already trimmed. A test that reads `right` trims it, unless it is a pattern. */
type Test = (left: string, right: string, budget?: StepBudget) => boolean;
const HOLDS: Readonly<Record<Exclude<Operator, Comparison>, Test>> = {
  contains: (left, right) => includesText(left, right.trim()),
  not_contains: (left, right) => !includesText(left, right.trim()),
  starts_with: (left, right) => left.startsWith(right.trim()),
  ends_with: (left, right) => left.endsWith(right.trim()),
  matches: matchesPattern,
  in: isIn,
  is_empty: isEmptyText,
  is_not_empty: (left) => !isEmptyText(left),
};

export function isOneSided(operator: unknown): boolean {
  return ONE_SIDED.some((known) => known === operator);
}

/**
 * True if the operator holds between two rendered sides. Text operators are case-sensitive. Throws a `NodeError` with
 * the code `invalid_pattern` for a pattern that cannot be used, or that needs more steps than `budget` has left.
 */
export function holds(left: string, operator: Operator, right: string, budget?: StepBudget): boolean {
  if (isComparison(operator)) return compare(left, operator, right);
  return HOLDS[operator](left.trim(), right, budget);
}

function isComparison(operator: Operator): operator is Comparison {
  return COMPARISONS.some((known) => known === operator);
}

/** True if an item of a JSON array, or of a comma-separated text, equals `left` as `==` compares. */
function isIn(left: string, right: string): boolean {
  const isEqual = createEqualityTest(left);
  const list = parseArray(right.trim());
  if (list !== undefined) return list.some((item) => isEqual(toText(item)));
  // Empty items of a text do not count.
  return right.split(',').some((item) => item.trim() !== '' && isEqual(item));
}

function parseArray(text: string): unknown[] | undefined {
  if (!text.startsWith('[')) return undefined;
  const value = parseJsonOrUndefined(text);
  return Array.isArray(value) ? value : undefined;
}

/** Returns the text to which a variable with this value renders. */
function toText(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : writeJsonOrNothing(value);
}

/** True for an empty text, and for a list or object without content. */
function isEmptyText(text: string): boolean {
  const [first, last] = [text.at(0), text.at(-1)];
  if (first === undefined) return true;
  const isPair = text.length > 1 && ((first === '[' && last === ']') || (first === '{' && last === '}'));
  return isPair && text.slice(1, -1).trim() === '';
}

/**
 * A search text up to this length is left to JavaScript's own search, which takes quadratic time for some longer ones.
 */
const SHORT = 250;

/** `text.includes(part)` in linear time for any input (Knuth, Morris and Pratt). */
function includesText(text: string, part: string): boolean {
  if (part.length <= SHORT || part.length >= text.length) return text.includes(part);
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** Returns, for each prefix of the text, the length of its longest proper prefix that is also its suffix. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (text.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}
