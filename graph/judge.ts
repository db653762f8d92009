// The schema of a condition in a node's data, and its evaluation. Both are the same for every kind with conditions
// (docs/use/nodes.md, "Conditions").
import { z } from 'zod';
import { isObject } from './json.js';
import { holds, isOneSided, ONE_SIDED, OPERATORS, type Operator } from './operators.js';
import { compileUnits, nodeStepBudget, patternProblem } from './pattern.js';
import { createRenderer, hasVariables, type VariableValues } from './template.js';

const sideSchema = z
  .union([z.string(), z.number(), z.boolean()], {
    error: ({ input }) => (input === undefined ? undefined : 'Input should be a valid string, number or boolean'),
  })
  .transform(String)
  .describe('May hold variables');

const fieldsSchema = z.looseObject({
  left: sideSchema,
  operator: z
    .enum(OPERATORS)
    .describe('Two numbers are compared as numbers, anything else as text; matches takes a pattern in RE2 syntax'),
  right: sideSchema
    .optional()
    .describe('May hold variables. For in, a JSON array or words between commas; is_empty and is_not_empty need none'),
});

/**
 * `{left, operator, right}`. `right` may be absent if the operator ignores it. A pattern without variables must be
 * valid RE2 syntax.
 */
export const conditionSchema = fieldsSchema
  .superRefine(
    (condition, context) => {
      const message = rightProblem(condition);
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['right'], message });
    },
    // Lists all mistakes of a condition at once.
    { when: () => true },
  )
  // Editors read this part of the JSON Schema.
  .meta({ if: { properties: { operator: { enum: ONE_SIDED } } }, else: { required: ['right'] } });

export type Condition = z.input<typeof conditionSchema>;

/** `condition` may be any value, because the check runs even if the schema has found mistakes. */
function rightProblem(condition: unknown): string | undefined {
  if (!isObject(condition) || isOneSided(condition['operator'])) return undefined;
  const { operator, right } = condition;
  if (right === undefined) return 'Field required';
  if (operator !== 'matches' || typeof right !== 'string' || hasVariables(right)) return undefined;
  return patternProblem(right);
}

/** A condition with its variables filled in. */
export interface Question {
  left: string;
  operator: Operator;
  right: string;
}

export type QuestionMode = 'first' | 'all';

/**
 * Returns the indexes of the conditions of one node that hold. Throws the same `NodeError`s as `toQuestions` and
 * `answerQuestions`.
 */
export type Judge = (
  conditions: readonly Condition[],
  values: VariableValues,
  mode: QuestionMode,
) => number[] | Promise<number[]>;

/**
 * Fills in the variables; a missing one becomes empty. Throws a `NodeError` with the code `rendered_too_large` if the
 * sides are too long together.
 */
export function toQuestions(conditions: readonly Condition[], values: VariableValues): Question[] {
  const renderer = createRenderer(values);
  // The cases of a switch mostly compare the same text.
  const texts = new Map<string, string>();
  const render = (template: string): string => {
    const known = texts.get(template);
    if (known !== undefined) return known;
    const text = renderer.text(template);
    texts.set(template, text);
    return text;
  };
  return conditions.map((condition) => {
    // Don't use `conditionSchema`: a pattern that wasn't checked before the run must fail the node, as rendered
    // patterns do.
    const { left, operator, right = '' } = fieldsSchema.parse(condition);
    return { left: render(left), operator, right: isOneSided(operator) ? '' : render(right) };
  });
}

/**
 * Returns the indexes of the questions that hold. Throws a `NodeError` with the code `invalid_pattern` for a pattern
 * that cannot be used, or if the patterns together take too long.
 */
export function answerQuestions(questions: readonly Question[], mode: QuestionMode): number[] {
  const budget = nodeStepBudget();
  const held: number[] = [];
  for (const [index, { left, operator, right }] of questions.entries()) {
    if (!holds(left, operator, right, budget)) continue;
    held.push(index);
    if (mode === 'first') break;
  }
  return held;
}

/** The number of characters that are compared in well below a millisecond. */
const CHEAP_CHARACTERS = 50_000;
/** Steps that take well below a millisecond: those of the search, and ten for each instruction to compile. */
const CHEAP_STEPS = 3_000;

/** True if all questions together are answered in less than a millisecond. */
export function areCheap(questions: readonly Question[]): boolean {
  let characters = 0;
  let steps = 0;
  for (const { left, operator, right } of questions) {
    characters += left.length + right.length;
    if (operator === 'matches') steps += compileUnits(right) * (10 + left.length);
    if (characters > CHEAP_CHARACTERS || steps > CHEAP_STEPS) return false;
  }
  return true;
}
