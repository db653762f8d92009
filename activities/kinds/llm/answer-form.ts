// Checks the answer of a model against its required form, and writes the correction that the model gets if the
// answer does not fit (docs/adr/0018-structured-answers.md).
import { writeJson } from '../../../graph/json-text.js';
import type { AnswerForm, CheckedAnswer } from '../../../graph/response-format.js';
import { NodeFailure, type Charge } from '../../node/failures.js';
import type { Asked, FormChecker } from '../structured-answer.js';
import type { ModelReply } from './model-reply.js';

type Reply = Pick<ModelReply, 'content' | 'refusal' | 'finishReason'>;

export interface Checking extends Asked {
  forms: FormChecker;
  form: AnswerForm;
}

/** Throws like `FormChecker.check`. */
export async function checkReply(
  { content, refusal, finishReason }: Reply,
  { forms, form, ...asked }: Checking,
): Promise<CheckedAnswer> {
  if (refusal !== null) return { problem: `the model refused to answer: ${refusal}` };
  const checked = await forms.check(content, form, asked);
  if ('json' in checked || finishReason !== 'length') return checked;
  return { problem: `it was cut off at its greatest length, and ${checked.problem}` };
}

/** Returns the message that asks the model to correct an answer that does not fit. */
export async function toCorrection(reply: Reply, checking: Checking): Promise<string> {
  const { form } = checking;
  const checked = await checkReply(reply, checking);
  const problem = 'problem' in checked ? checked.problem : 'it does not fit';
  const schema = form.schema === undefined ? '' : ` It must fit this JSON Schema: ${writeJson(form.schema)}`;
  return `Your answer cannot be used: ${problem}. Answer again, with the JSON alone.${schema}`;
}

export function notOfForm(problem: string, charge?: Charge): NodeFailure {
  const message = `The answer does not have the form of response_format: ${problem}.`;
  return new NodeFailure('invalid_output', message, { charge });
}
