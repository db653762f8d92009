// The evaluation of the conditions of a node. It is the same for every kind with conditions (docs/use/nodes.md,
// "Conditions").
import { eachOf, holdsCombined, mapCombined, type Combined } from './combined.js';
import { comparisonSchema, type Condition } from './condition-schema.js';
import { holds, isOneSided, type Operator } from './operators.js';
import { NodeError } from './node-error.js';
import { compileUnits, nodeStepBudget, type StepBudget } from './pattern.js';
import { createRenderer, type VariableValues } from './template.js';

/** A comparison with its variables filled in. */
export interface ComparedTexts {
  left: string;
  operator: Operator;
  right: string;
}

/** A condition with its variables filled in. */
export type Question = Combined<ComparedTexts>;

/**
 * `first` finds only the first question that holds, `all` finds every one. `each` does so too, but a question with an
 * unusable pattern counts as false and causes no error.
 */
export type QuestionMode = 'first' | 'all' | 'each';

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
 * Fills in the variables; a missing one becomes empty. Throws a `NodeError` with the code `rendered_too_large` if their
 * values are too long together.
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
  return conditions.map((condition) =>
    mapCombined(condition, (comparison) => {
      const { left, operator, right = '' } = comparisonSchema.parse(comparison);
      return { left: render(left), operator, right: isOneSided(operator) ? '' : render(right) };
    }),
  );
}

/**
 * Returns the indexes of the questions that hold. Compares no more than it needs for that. Throws a `NodeError` with
 * the code `invalid_pattern` for a pattern that it needs and that cannot be used, or if these patterns together take
 * too long; with the mode `each` it does not throw.
 */
export function answerQuestions(questions: readonly Question[], mode: QuestionMode): number[] {
  const budget = nodeStepBudget();
  const held: number[] = [];
  for (const [index, question] of questions.entries()) {
    if (!(mode === 'each' ? holdsIfUsable(question) : holdsWithin(question, budget))) continue;
    held.push(index);
    if (mode === 'first') break;
  }
  return held;
}

function holdsWithin(question: Question, budget: StepBudget): boolean {
  return holdsCombined(question, ({ left, operator, right }) => holds(left, operator, right, budget));
}

/** Each question has a budget of its own, so that one costly pattern makes no other question false. */
function holdsIfUsable(question: Question): boolean {
  try {
    return holdsWithin(question, nodeStepBudget());
  } catch (error) {
    if (error instanceof NodeError) return false;
    throw error;
  }
}

/** The number of characters that are compared in well below a millisecond. */
const CHEAP_CHARACTERS = 50_000;
/** Steps that take well below a millisecond: those of the search, and ten for each instruction to compile. */
const CHEAP_STEPS = 3_000;

/** True if all questions together are answered in less than a millisecond. */
export function areCheap(questions: readonly Question[]): boolean {
  let characters = 0;
  let steps = 0;
  for (const { left, operator, right } of questions.flatMap(eachOf)) {
    characters += left.length + right.length;
    if (characters > CHEAP_CHARACTERS) return false;
    if (operator === 'matches') steps += compileUnits(right) * (10 + left.length);
    if (steps > CHEAP_STEPS) return false;
  }
  return true;
}
