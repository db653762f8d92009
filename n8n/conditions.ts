// Translates the questions of n8n's If, Filter and Switch to plain conditions of a drawing with the same result, except
// that these ignore spaces around the left side (docs/use/porting.md).
import { MAX_COMPARISONS } from '../graph/combined.js';
import type { Comparison, Condition } from '../graph/condition-schema.js';
import type { Operator } from '../graph/operators.js';
import { isObject, type JsonObject } from '../graph/json.js';
import { hasVariables } from '../graph/template.js';
import { translateParameter } from './expressions.js';
import { objectOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import type { NodeTranslation } from './node-translation.js';

/**
 * Operators by n8n's operation, as named in versions 1 and 2. There is one table for each type of values. `lt` and
 * `lte` are left out: in n8n they do not hold for a missing value, which here is an empty text and so comes before
 * every number.
 */
const TEXT: Readonly<Record<string, Operator>> = {
  equals: '==',
  equal: '==',
  notEquals: '!=',
  notEqual: '!=',
  contains: 'contains',
  notContains: 'not_contains',
  startsWith: 'starts_with',
  endsWith: 'ends_with',
};
const NUMBER: Readonly<Record<string, Operator>> = {
  equals: '==',
  equal: '==',
  notEquals: '!=',
  notEqual: '!=',
  gt: '>',
  larger: '>',
  gte: '>=',
  largerEqual: '>=',
  smaller: '<',
  smallerEqual: '<=',
};
const OPERATORS: Readonly<Record<string, Readonly<Record<string, Operator>>>> = {
  string: TEXT,
  number: NUMBER,
  boolean: {},
};

/**
 * Stands for the operation `equal` of the first versions with the right side `false`; n8n has no such name. A missing
 * value does not equal `false` there.
 */
const OLD_FALSE = 'equals false';

interface Asked {
  type: string;
  operation: string;
  left: unknown;
  right: unknown;
}

/** Returns the comparison with the same result as in n8n, or undefined if there is none. */
function toComparison(at: NodeTranslation, { type, operation, left, right }: Asked): Comparison | undefined {
  const { value, problems } = translateParameter(left, at.names);
  if (problems.length > 0 || typeof value !== 'string' || !hasVariables(value)) return undefined;
  if (type === 'boolean' && (operation === 'true' || operation === 'false')) {
    // A missing value is false in n8n from version 2 on.
    return { left: value, operator: operation === 'true' ? '==' : '!=', right: 'true' };
  }
  if (type === 'boolean' && operation === OLD_FALSE) return { left: value, operator: '==', right: 'false' };
  const operators = Object.hasOwn(OPERATORS, type) ? OPERATORS[type]! : {};
  const operator = Object.hasOwn(operators, operation) ? operators[operation] : undefined;
  if (operator === undefined || !isPlain(type, right)) return undefined;
  // In n8n a missing value is compared as zero, or the comparison does not hold. Here the value is an empty text, which
  // comes before every number. Both give the same result only if the right side is greater than zero.
  if (type === 'number' && operator !== '==' && operator !== '!=' && Number(right) <= 0) return undefined;
  return { left: value, operator, right: String(right) };
}

/** True for a literal that is compared here as in n8n, which neither trims texts nor reads them as numbers. */
function isPlain(type: string, right: unknown): boolean {
  if (type === 'number') return typeof right === 'number' && Number.isFinite(right);
  if (typeof right !== 'string' || right === '' || right.trim() !== right || right.startsWith('=')) return false;
  return !Number.isFinite(Number(right)) && !hasVariables(right);
}

/** Returns the plain condition with the same result as the question in n8n, or undefined if there is none. */
export function plainCondition(at: NodeTranslation, question: unknown, ignoresCase: boolean): Condition | undefined {
  return isQuestion(question) ? ofQuestion(at, objectOf(question), ignoresCase) : undefined;
}

/**
 * Reads the form of version 2 and later: `{options, conditions: [{leftValue, rightValue, operator: {type, operation}}],
 * combinator}`.
 */
function ofQuestion(at: NodeTranslation, { options, conditions, combinator }: JsonObject, ignoresCase: boolean) {
  const isCaseless = ignoresCase || valueAt(options, 'caseSensitive') === false;
  const asked = objectsOf(conditions).map((condition): Asked => {
    const operator = objectOf(condition['operator']);
    const type = textOf(operator['type']) ?? 'string';
    return {
      type: isCaseless && type === 'string' ? 'text of any case' : type,
      operation: textOf(operator['operation']) ?? '',
      left: condition['leftValue'],
      right: condition['rightValue'],
    };
  });
  return combined(at, asked, combinator !== 'or');
}

/** Reads the form of version 1: `{string: [{value1, operation, value2}], number: [...]}`. */
export function oldPlainCondition(at: NodeTranslation, conditions: unknown, needsAll: boolean): Condition | undefined {
  const asked = Object.entries(objectOf(conditions)).flatMap(([type, list]) =>
    objectsOf(list).map((condition): Asked => oldAsked(type, condition, condition['value1'])),
  );
  return combined(at, asked, needsAll);
}

export function oldPlainRule(at: NodeTranslation, type: string, rule: JsonObject): Condition | undefined {
  return combined(at, [oldAsked(type, rule, at.parameters['value1'])], true);
}

/** The operations that the first versions use if the file names none. */
export const OLD_OPERATIONS: ReadonlyMap<string, string> = new Map([
  ['string', 'equal'],
  ['number', 'smaller'],
  ['boolean', 'equal'],
  ['dateTime', 'after'],
]);

function oldAsked(type: string, condition: JsonObject, left: unknown): Asked {
  const operation = textOf(condition['operation']) ?? OLD_OPERATIONS.get(type) ?? '';
  const right = condition['value2'] ?? (type === 'number' ? 0 : '');
  const isTruth = type === 'boolean' && operation === 'equal' && typeof right === 'boolean';
  return { type, operation: isTruth ? (right ? 'true' : OLD_FALSE) : operation, left, right };
}

function combined(at: NodeTranslation, asked: readonly Asked[], needsAll: boolean): Condition | undefined {
  if (asked.length === 0 || asked.length > MAX_COMPARISONS) return undefined;
  const comparisons = asked.map((each) => toComparison(at, each));
  if (!comparisons.every((comparison) => comparison !== undefined)) return undefined;
  if (comparisons.length === 1) return comparisons[0];
  return needsAll ? { all: comparisons } : { any: comparisons };
}

export function isQuestion(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['conditions']);
}
