import type { Condition } from '../../graph/condition-schema.js';
import { answerQuestions, toQuestions, type QuestionMode } from '../../graph/judge.js';
import type { VariableValues } from '../../graph/template.js';

/** Judges conditions in this process, however long that takes. */
export function judgeHere(conditions: readonly Condition[], values: VariableValues, mode: QuestionMode): number[] {
  return answerQuestions(toQuestions(conditions, values), mode);
}
