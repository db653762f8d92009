// The schema of a condition in a node's data. It is the same for every kind with conditions (docs/use/nodes.md,
// "Conditions").
import { z } from 'zod';
import { MAX_COMPARISONS, MAX_LISTS, type Combined } from './combined.js';
import { isObject, ownValue } from './json.js';
import { isOneSided, ONE_SIDED, OPERATORS, type Operator } from './operators.js';
import { patternProblem } from './pattern.js';
import { hasVariables } from './template.js';

type Side = string | number | boolean;

/** `right` may be absent if the operator ignores it. */
export interface Comparison {
  left: Side;
  operator: Operator;
  right?: Side | undefined;
}

export type Condition = Combined<Comparison>;

const left = z
  .union([z.string(), z.number(), z.boolean()], {
    error: ({ input }) => (input === undefined ? undefined : 'Input should be a valid string, number or boolean'),
  })
  .transform(String)
  .describe('It may hold variables');

const operator = z
  .enum(OPERATORS)
  .describe('Two numbers are compared as numbers, anything else as text. `matches` takes a pattern in RE2 syntax');

const right = left
  .optional()
  .describe(
    'It may hold variables. `in` takes a JSON array, or words between commas; `is_empty` and `is_not_empty` take no right side',
  );

/** Does not check the pattern of a comparison: an invalid pattern that was not found before the run fails the node. */
export const comparisonSchema = z.looseObject({ left, operator, right });

const SIDES = ['left', 'operator', 'right'];
const LISTS = ['all', 'any'];
const DESCRIPTIONS = { all: 'Conditions that must all hold', any: 'Conditions of which one must hold' };

// Editors read the following parts of the JSON Schema.
const RIGHT_SIDE = { if: { properties: { operator: { enum: ONE_SIDED } } }, else: { required: ['right'] } };
const COMPARED = { required: ['left', 'operator'] };
const ONE_OF_THREE = { oneOf: [COMPARED, { required: ['all'] }, { required: ['any'] }] };
const START = { start: { left: '', operator: OPERATORS[0], right: '' } };

/**
 * `{left, operator, right}`, or a list of conditions in `all` or `any`. A pattern without variables must be valid RE2
 * syntax.
 */
export const conditionSchema = conditionWithin(0);

function conditionWithin(lists: number): z.ZodType<Condition, Condition> {
  const isInnermost = lists === MAX_LISTS;
  const compared = { left: left.optional(), operator: operator.optional(), right };
  const fields = isInnermost ? compared : { ...compared, ...listsOf(conditionWithin(lists + 1)) };
  const schema = z
    .looseObject(fields)
    .superRefine(
      (condition, context) => {
        const add = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message });
        findMistakes(condition, isInnermost, (field, message) => add([field], message));
        const count = lists === 0 ? countComparisons(condition) : 0;
        if (count > MAX_COMPARISONS) {
          add([], `A condition should have at most ${MAX_COMPARISONS} comparisons, not ${count}`);
        }
        context.issues.sort(byField);
      },
      // Lists all mistakes of a condition at once.
      { when: () => true },
    )
    .meta({
      ...RIGHT_SIDE,
      ...(isInnermost ? COMPARED : ONE_OF_THREE),
      ...(lists === 0 ? START : { id: `ConditionIn${lists}` }),
    });
  return schema as unknown as z.ZodType<Condition, Condition>;
}

function listsOf(condition: z.ZodType<Condition, Condition>) {
  const list = z.array(condition).min(1).meta({ maxItems: MAX_COMPARISONS }).optional();
  return { all: list.describe(DESCRIPTIONS.all), any: list.describe(DESCRIPTIONS.any) };
}

/** `condition` may be any value, because the check runs even if the schema has found mistakes. */
function findMistakes(condition: unknown, isInnermost: boolean, add: (field: string, message: string) => void): void {
  if (!isObject(condition)) return;
  const has = (field: string): boolean => ownValue(condition, field) !== undefined;
  const list = LISTS.find(has);
  if (list === undefined) {
    if (!has('left')) add('left', 'Field required');
    if (!has('operator')) add('operator', 'Field required');
    const problem = rightProblem(condition);
    if (problem !== undefined) add('right', problem);
    return;
  }
  for (const field of [...SIDES, ...LISTS]) {
    if (field !== list && has(field)) add(field, `Input should be left out beside '${list}'`);
  }
  if (isInnermost) add(list, `A comparison should stand in at most ${MAX_LISTS} lists`);
}

function rightProblem(comparison: Record<string, unknown>): string | undefined {
  if (isOneSided(comparison['operator'])) return undefined;
  const { operator: asked, right: side } = comparison;
  if (side === undefined) return 'Field required';
  if (asked !== 'matches' || typeof side !== 'string' || hasVariables(side)) return undefined;
  return patternProblem(side);
}

/** An item that is no list of conditions counts as a comparison, whatever it is. */
function countComparisons(condition: unknown, lists = 0): number {
  const held = LISTS.map((list) => ownValue(condition, list)).filter((items) => Array.isArray(items));
  if (held.length === 0 || lists === MAX_LISTS) return 1;
  return held.flat().reduce<number>((sum, item) => sum + countComparisons(item, lists + 1), 0);
}

/** Yields the paths of the empty sides of comparisons, in a condition that may not be valid. */
export function* emptySidesIn(condition: unknown, path: string, lists = 0): Generator<string> {
  if (!isObject(condition)) return;
  const list = LISTS.find((name) => Array.isArray(ownValue(condition, name)));
  if (list !== undefined) {
    const items = lists === MAX_LISTS ? [] : (condition[list] as unknown[]);
    for (const [index, item] of items.entries()) yield* emptySidesIn(item, `${path}.${list}.${index}`, lists + 1);
    return;
  }
  const asked = ownValue(condition, 'operator');
  const takesRight = OPERATORS.some((known) => known === asked) && !isOneSided(asked);
  for (const side of takesRight ? ['left', 'right'] : ['left']) {
    if (isBlank(ownValue(condition, side))) yield `${path}.${side}`;
  }
}

function isBlank(side: unknown): boolean {
  return typeof side === 'string' && side.trim() === '';
}

function byField(one: z.core.$ZodRawIssue, other: z.core.$ZodRawIssue): number {
  const placeOf = ({ path = [] }: z.core.$ZodRawIssue): number => [...SIDES, ...LISTS].indexOf(String(path[0]));
  return placeOf(one) - placeOf(other);
}
