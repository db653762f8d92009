// A condition as it stands in a node's data, and its judgement: the same wherever a kind has one (extensions, section
// 1.2, "Operators").
import { z } from 'zod';
import { isObject } from './json.js';
import { holds, isOneSided, ONE_SIDED, OPERATORS } from './operators.js';
import { patternProblem } from './pattern.js';
import { findExpressions, renderText, type Scope } from './template.js';

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
 * `{left, operator, right}`. `right` may be absent where the operator looks at the left side only. A pattern without a
 * variable in it must be valid RE2 syntax.
 */
export const conditionSchema = fieldsSchema
  .superRefine(
    (condition, context) => {
      const message = rightProblem(condition);
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['right'], message });
    },
    // So that all mistakes of a condition are listed at once.
    { when: () => true },
  )
  // Of the JSON Schema that editors read.
  .meta({ if: { properties: { operator: { enum: ONE_SIDED } } }, else: { required: ['right'] } });

/** As it stands in the data of a node. */
export type Condition = z.input<typeof conditionSchema>;

/** `condition` may be anything, since it is looked at even if the schema has found mistakes. */
function rightProblem(condition: unknown): string | undefined {
  if (!isObject(condition) || isOneSided(condition['operator'])) return undefined;
  const { operator, right } = condition;
  if (right === undefined) return 'Field required';
  if (operator !== 'matches' || typeof right !== 'string' || !isLiteral(right)) return undefined;
  return patternProblem(right);
}

function isLiteral(text: string): boolean {
  return findExpressions(text).next().done === true;
}

/**
 * Returns whether the condition holds, with its variables filled in. A missing variable is an empty text. Throws a
 * `NodeError`: `invalid_pattern` for a pattern that cannot be used, `rendered_too_large` for sides that are too long.
 */
export function judge(condition: Condition, scope: Scope): boolean {
  // Not `conditionSchema`: a pattern that was not looked at when the run began fails the node, as other patterns do.
  const { left, operator, right = '' } = fieldsSchema.parse(condition);
  return holds(renderText(left, scope), operator, isOneSided(operator) ? '' : renderText(right, scope));
}
