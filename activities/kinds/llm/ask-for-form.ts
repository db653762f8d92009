// An LLM node whose answer must have a form. If the answer does not fit and is no refusal, the model gets the problem
// and is asked once more (docs/adr/0018-structured-answers.md).
import type OpenAI from 'openai';
import type { ModelProviders } from '../../../config/model-providers.js';
import type { AnsweredCall } from '../../../db/agents/agent-charges.js';
import { findTurns, saveTurn } from '../../../db/agents/agent-repository.js';
import type { Database } from '../../../db/core/client.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import { parseJson, writeJson } from '../../../graph/json-text.js';
import { NodeError } from '../../../graph/node-error.js';
import type { AnswerForm, CheckedAnswer } from '../../../graph/response-format.js';
import { NodeFailure, type Charge } from '../../node/failures.js';
import type { NodeOutcome, NodeTask } from '../../node/node-step.js';
import { withMarkedNumbers } from '../marked-numbers.js';
import type { FormChecker } from '../structured-answer.js';
import { checkReply, notOfForm, toCorrection, type Checking } from './answer-form.js';
import { ledgerCharge } from './ledger-charge.js';
import { EMPTY_REPLY, sumUsage, toOutput, type ModelReply } from './model-reply.js';
import { isSilent } from './provider-message.js';

export type Message = OpenAI.Chat.ChatCompletionMessageParam;

export interface PaidReply {
  /** Absent if the answer has no message. */
  reply: ModelReply | undefined;
  charge: Charge & { answered: AnsweredCall };
}

interface FormTask {
  db: Database;
  secretBox: SecretBox;
  task: NodeTask;
  form: AnswerForm;
  forms: FormChecker;
  providers: ModelProviders;
  /** Makes the call with this number. `added` follows the node's own messages. */
  ask: (turn: number, added: Message[]) => Promise<PaidReply>;
  /** Retries a write until it is committed, or `persist` of activities/node/record.ts gives up. */
  persist: (write: () => Promise<void>) => Promise<void>;
}

/**
 * An answer that fits at once is recorded with the node's end, like an answer without a form.
 *
 * A first answer that does not fit is stored together with its price before the second call is claimed. The second
 * answer is stored likewise, so an attempt after a crash continues where the last one stopped. The ledger then holds
 * the cost of the node.
 *
 * Throws a `NodeFailure`: `invalid_output` if neither answer fits, or if the model refuses to answer: the first answer
 * is then final; `invalid_response` if the first answer has no message; and those of `ask` and of `forms`.
 */
export async function askForForm(formTask: FormTask): Promise<NodeOutcome> {
  const { db, secretBox, task, form, forms } = formTask;
  const { projectId } = task.run;
  await forms.prepare(form, { projectId, signal: task.signal });
  // A cancellation must not end the check of an answer whose price is not stored yet.
  const checking = { forms, form, projectId, signal: new AbortController().signal };
  const turns = await findTurns(db, task);
  const { runId, path, nodeId } = task;
  const replies = turns.map(({ turn, messageEnc }): ModelReply => {
    return parseJson(secretBox.open(messageEnc, 'agent-message', runId, path, nodeId, turn)) as ModelReply;
  });
  if (replies.length === 0) {
    const { reply, charge } = await formTask.ask(0, []);
    if (reply === undefined) throw withoutMessage(charge);
    const checked = await checkPaid(reply, checking, charge);
    if ('json' in checked) return { output: { ...toOutput(reply), json: checked.json }, charge };
    if (reply.refusal !== null) throw notOfForm(checked.problem, charge);
    await store(formTask, 0, { reply, charge });
    replies.push(reply);
  }
  const [first] = replies as [ModelReply];
  if (replies.length === 1) {
    const { reply = EMPTY_REPLY, charge } = await formTask.ask(1, await correction(first, checking));
    await store(formTask, 1, { reply, charge });
    replies.push(reply);
  }
  const second = replies[1]!;
  const charge = await ledgerCharge(formTask, task);
  const checked = await checkPaid(second, checking, charge);
  if ('problem' in checked) throw notOfForm(checked.problem, charge);
  const usage = sumUsage(replies.map((reply) => reply.usage));
  return { output: { ...toOutput(second), usage, json: checked.json }, charge };
}

export function withoutMessage(charge: Charge): NodeFailure {
  return new NodeFailure('invalid_response', 'The provider answered without a message that can be used.', { charge });
}

/** A failure of the check itself does not make the answer free of charge. */
async function checkPaid(reply: ModelReply, checking: Checking, charge: Charge): Promise<CheckedAnswer> {
  try {
    return await checkReply(reply, checking);
  } catch (error) {
    throw error instanceof NodeError ? new NodeFailure(error.code, error.message, { charge }) : error;
  }
}

/** Returns the messages that ask the model to correct its first answer. */
async function correction(first: ModelReply, checking: Checking): Promise<Message[]> {
  const own = first.message ?? { role: 'assistant', content: first.content };
  const answered = isSilent(own) ? [] : [withMarkedNumbers(own) as unknown as Message];
  return [...answered, { role: 'user', content: await toCorrection(first, checking) }];
}

async function store(
  { db, secretBox, task, persist }: FormTask,
  turn: number,
  { reply, charge: { answered } }: PaidReply & { reply: ModelReply },
): Promise<void> {
  const saved = {
    ...task,
    ...answered,
    nodeLabel: task.node.label,
    isFinal: turn === 1,
    messageEnc: secretBox.seal(writeJson(reply), 'agent-message', task.runId, task.path, task.nodeId, turn),
    toolCalls: [],
  };
  await persist(() => saveTurn(db, saved));
}
