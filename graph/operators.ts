// What a condition may ask of its two sides, which are texts by now.
import { compare, COMPARISONS, createEqualityTest, type Comparison } from './condition.js';
import { includesText } from './includes-text.js';
import { parseJson, writeJson } from './json-text.js';
import { matchesPattern, type StepBudget } from './pattern.js';

/** The operators that look at one side only; what the other one holds does not count. */
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

/** Both sides are trimmed, as for comparisons, except a pattern. */
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
 * Returns whether the operator holds between two rendered sides. Text operators are case-sensitive. Throws a `NodeError`
 * with the code `invalid_pattern` for a pattern that cannot be used, or takes more than is left of `budget`.
 */
export function holds(left: string, operator: Operator, right: string, budget?: StepBudget): boolean {
  if (isComparison(operator)) return compare(left, operator, right);
  return HOLDS[operator](left.trim(), right, budget);
}

function isComparison(operator: Operator): operator is Comparison {
  return COMPARISONS.some((known) => known === operator);
}

/** Whether one of the items of a JSON array, or of a comma-separated text, equals `left`, as `==` sees it. */
function isIn(left: string, right: string): boolean {
  const isEqual = createEqualityTest(left);
  const list = parseArray(right.trim());
  if (list !== undefined) return list.some((item) => isEqual(toText(item)));
  // In a text, empty items do not count.
  return right.split(',').some((item) => item.trim() !== '' && isEqual(item));
}

function parseArray(text: string): unknown[] | undefined {
  if (!text.startsWith('[')) return undefined;
  try {
    const value = parseJson(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** As a variable with this value becomes text. */
function toText(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : writeJson(value);
}

/** Nothing, and a list or object that holds nothing. */
function isEmptyText(text: string): boolean {
  const [first, last] = [text.at(0), text.at(-1)];
  if (first === undefined) return true;
  const isPair = text.length > 1 && ((first === '[' && last === ']') || (first === '{' && last === '}'));
  return isPair && text.slice(1, -1).trim() === '';
}
