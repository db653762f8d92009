// Translates the questions of n8n's If, Filter and Switch to conditions of a drawing.
import { MAX_COMPARISONS } from '../graph/combined.js';
import type { Comparison, Condition } from '../graph/condition-schema.js';
import { isOneSided, type Operator } from '../graph/operators.js';
import { patternProblem } from '../graph/pattern.js';
import { isObject, type JsonObject } from '../graph/json.js';
import { objectOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, type NodeTranslation } from './node-translation.js';

/** One test of a question. */
export interface Atom {
  condition: Comparison;
  /** True if the condition is the opposite of the test, for which there is no operator. */
  isNegated: boolean;
}

/** Tests that one node asks. */
export interface Part {
  condition: Condition;
  /** True if the condition is the opposite of the tests. */
  isNegated: boolean;
}

export interface Question {
  atoms: Atom[];
  /** True if all atoms must hold, false if one is enough. */
  needsAll: boolean;
}

const MAX_ATOMS = 200;

/** `in_left`: `in` with its sides swapped. */
type AskedOperator = Operator | 'in_left';
type Asked = 'true' | 'false' | AskedOperator | `not ${AskedOperator}`;

/** Operators by n8n's operation, as named in versions 1 and 2. There is one table for each type of values. */
const TEXT: Record<string, Asked> = {
  equals: '==',
  equal: '==',
  notEquals: '!=',
  notEqual: '!=',
  contains: 'contains',
  notContains: 'not_contains',
  startsWith: 'starts_with',
  notStartsWith: 'not starts_with',
  endsWith: 'ends_with',
  notEndsWith: 'not ends_with',
  regex: 'matches',
  notRegex: 'not matches',
  larger: '>',
  largerEqual: '>=',
  smaller: '<',
  smallerEqual: '<=',
};
const NUMBER: Record<string, Asked> = {
  equals: '==',
  equal: '==',
  notEquals: '!=',
  notEqual: '!=',
  gt: '>',
  larger: '>',
  gte: '>=',
  largerEqual: '>=',
  lt: '<',
  smaller: '<',
  lte: '<=',
  smallerEqual: '<=',
};
const MOMENT: Record<string, Asked> = {
  equals: '==',
  notEquals: '!=',
  after: '>',
  before: '<',
  afterOrEquals: '>=',
  beforeOrEquals: '<=',
};
const TRUTH: Record<string, Asked> = {
  true: 'true',
  false: 'false',
  equals: '==',
  equal: '==',
  notEquals: '!=',
  notEqual: '!=',
};
const EMPTINESS: Record<string, Asked> = {
  exists: 'is_not_empty',
  notExists: 'is_empty',
  empty: 'is_empty',
  notEmpty: 'is_not_empty',
  isEmpty: 'is_empty',
  isNotEmpty: 'is_not_empty',
};
const OPERATIONS: Record<string, Record<string, Asked>> = {
  string: TEXT,
  number: NUMBER,
  dateTime: MOMENT,
  boolean: TRUTH,
  array: { contains: 'in_left', notContains: 'not in_left' },
  object: {},
};

interface Asking {
  type: string;
  operation: string;
  left: unknown;
  right: unknown;
  ignoresCase: boolean;
  field: string;
}

function toAtom(at: NodeTranslation, { type, operation, left, right, ignoresCase, field }: Asking): Atom {
  const operatorName = askedBy(type, operation);
  if (operatorName === undefined)
    throw new NotTranslatable(`the operation "${operation}" of ${type} values has no equivalent`);
  if (operation === 'exists' || operation === 'notExists')
    at.warn(`${field}: in n8n an empty text exists. Here it counts as missing.`);
  if (type === 'string' && isNumeric(right))
    at.warn(`${field}: n8n compares texts. Here two numbers are compared by value, so that "1.0" equals "1".`);
  if (type === 'dateTime') at.warn(`${field}: dates are compared as text, which is right for dates of the same form.`);
  const sides = { left: at.text(left, field), right: at.text(right, field) };
  if (operatorName === 'true' || operatorName === 'false')
    return positive({ left: sides.left, operator: '==', right: operatorName });
  const isNegated = operatorName.startsWith('not ');
  const operator = (isNegated ? operatorName.slice('not '.length) : operatorName) as AskedOperator;
  // Swap the sides: n8n tests if the list contains the value.
  if (operator === 'in_left') {
    return { condition: { left: sides.right, operator: 'in', right: sides.left }, isNegated };
  }
  if (isOneSided(operator)) return positive({ left: sides.left, operator });
  if (operator === 'matches') {
    return { condition: { left: sides.left, operator, right: toPattern(right, sides.right) }, isNegated };
  }
  const isText = type === 'string' && ignoresCase;
  if (!isText) return { condition: { left: sides.left, operator, right: sides.right }, isNegated };
  const atom = withoutCase(sides, operator, isNegated);
  if (atom === undefined) at.warn(`${field}: capitals and small letters count here.`);
  return atom ?? { condition: { left: sides.left, operator, right: sides.right }, isNegated };
}

function isNumeric(value: unknown): boolean {
  return (
    typeof value === 'number' || (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
  );
}

function positive(condition: Atom['condition']): Atom {
  return { condition, isNegated: false };
}

function askedBy(type: string, operation: string): Asked | undefined {
  const known = Object.hasOwn(OPERATIONS, type) ? OPERATIONS[type]! : {};
  if (Object.hasOwn(known, operation)) return known[operation];
  return Object.hasOwn(EMPTINESS, operation) ? EMPTINESS[operation] : undefined;
}

const AS_PATTERN: Partial<Record<Operator, [operator: (text: string) => string, isNegated: boolean]>> = {
  '==': [(text) => `^\\s*${text}\\s*$`, false],
  '!=': [(text) => `^\\s*${text}\\s*$`, true],
  contains: [(text) => text, false],
  not_contains: [(text) => text, true],
  starts_with: [(text) => `^\\s*${text}`, false],
  ends_with: [(text) => `${text}\\s*$`, false],
};

/** Uses a case-insensitive pattern if the other side is plain text. Returns undefined if that isn't possible. */
function withoutCase(
  { left, right }: { left: string; right: string },
  operator: Operator,
  isNegated: boolean,
): Atom | undefined {
  const form = AS_PATTERN[operator];
  if (form === undefined || right.includes('{{')) return undefined;
  const [write, isOpposite] = form;
  const pattern = `(?is)${write(right.trim().replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))}`;
  if (patternProblem(pattern) !== undefined) return undefined;
  return { condition: { left, operator: 'matches', right: pattern }, isNegated: isNegated !== isOpposite };
}

/** n8n writes patterns bare or as `/pattern/flags`. */
function toPattern(parameter: unknown, translated: string): string {
  if (typeof parameter === 'string' && parameter.startsWith('=')) return translated;
  const written = /^\/(.*)\/([a-z]*)$/s.exec(translated);
  const flags = [...new Set(written?.[2] ?? '')].filter((flag) => 'ims'.includes(flag)).join('');
  const pattern = `${flags === '' ? '' : `(?${flags})`}${written?.[1] ?? translated}`;
  if (patternProblem(pattern) !== undefined) throw new NotTranslatable('its pattern is none of RE2 syntax');
  return pattern;
}

/**
 * Reads the form of version 2 and later: `{options, conditions: [{leftValue, rightValue, operator: {type, operation}}],
 * combinator}`.
 */
export function readQuestion(at: NodeTranslation, value: unknown, ignoresCase: boolean, field: string): Question {
  const { options, conditions, combinator } = objectOf(value);
  if (objectsOf(conditions).length > MAX_ATOMS) throw new NotTranslatable(`it asks more than ${MAX_ATOMS} things`);
  const isCaseless = ignoresCase || valueAt(options, 'caseSensitive') === false;
  const atoms = objectsOf(conditions).map((condition, index) => {
    const operator = objectOf(condition['operator']);
    return toAtom(at, {
      type: textOf(operator['type']) ?? 'string',
      operation: textOf(operator['operation']) ?? '',
      left: condition['leftValue'],
      right: condition['rightValue'],
      ignoresCase: isCaseless,
      field: `${field}[${index}]`,
    });
  });
  return checked({ atoms, needsAll: combinator !== 'or' });
}

/** Reads the form of version 1: `{string: [{value1, operation, value2}], number: [...]}` and `combineOperation`. */
export function readOldQuestion(at: NodeTranslation, parameters: JsonObject): Question {
  const atoms = Object.entries(objectOf(parameters['conditions'])).flatMap(([type, conditions]) =>
    objectsOf(conditions)
      .slice(0, MAX_ATOMS + 1)
      .map((condition, index) =>
        readOldAtom(at, { type, left: condition['value1'], condition, field: `conditions.${type}[${index}]` }),
      ),
  );
  return checked({ atoms, needsAll: parameters['combineOperation'] !== 'any' });
}

interface OldCondition {
  type: string;
  left: unknown;
  condition: JsonObject;
  field: string;
}

/** The operations that the first versions use if the file names none. */
const OLD_DEFAULTS: Record<string, string> = {
  string: 'equal',
  number: 'smaller',
  boolean: 'equal',
  dateTime: 'after',
};

export function readOldAtom(at: NodeTranslation, { type, left, condition, field }: OldCondition): Atom {
  const operation = textOf(condition['operation']) ?? OLD_DEFAULTS[type] ?? '';
  return toAtom(at, {
    type,
    operation,
    left,
    right: condition['value2'] ?? defaultOf(type),
    ignoresCase: false,
    field,
  });
}

function defaultOf(type: string): unknown {
  if (type === 'number') return 0;
  return type === 'boolean' ? false : '';
}

function checked(question: Question): Question {
  if (question.atoms.length > MAX_ATOMS) throw new NotTranslatable(`it asks more than ${MAX_ATOMS} things`);
  if (question.atoms.length === 0) throw new NotTranslatable('it asks nothing');
  return question;
}

/** Operators that hold exactly where the other does not. */
const OPPOSITES: Partial<Record<Operator, Operator>> = {
  '==': '!=',
  '!=': '==',
  '>': '<=',
  '<=': '>',
  '<': '>=',
  '>=': '<',
  contains: 'not_contains',
  not_contains: 'contains',
  is_empty: 'is_not_empty',
  is_not_empty: 'is_empty',
};

/** Returns the comparison that holds exactly where the test does not, if there is one. */
function oppositeOf({ condition, isNegated }: Atom): Comparison | undefined {
  if (isNegated) return condition;
  const operator = OPPOSITES[condition.operator];
  return operator && { ...condition, operator };
}

/**
 * Splits a question into as few parts as possible, of which all must hold if the question needs all of its tests, else
 * one. No condition is the opposite of a list, so a part either asks all of its tests as they are, or the opposite of
 * each.
 */
export function partsOf({ atoms, needsAll }: Question): Part[] {
  const groups: Atom[][] = [];
  for (const atom of atoms) {
    const last = groups.at(-1);
    const fits = last !== undefined && last.length < MAX_COMPARISONS && canBeAsked([...last, atom]);
    if (fits) last.push(atom);
    else groups.push([atom]);
  }
  return groups.map((group): Part => {
    const isNegated = group.some((atom) => atom.isNegated);
    const comparisons = isNegated
      ? group.flatMap((atom) => oppositeOf(atom) ?? [])
      : group.map((atom) => atom.condition);
    const [only] = comparisons;
    if (comparisons.length === 1 && only !== undefined) return { condition: only, isNegated };
    return { condition: needsAll === isNegated ? { any: comparisons } : { all: comparisons }, isNegated };
  });
}

function canBeAsked(atoms: readonly Atom[]): boolean {
  return atoms.every(({ isNegated }) => !isNegated) || atoms.every((atom) => oppositeOf(atom) !== undefined);
}

export function isQuestion(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['conditions']);
}
