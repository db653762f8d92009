// An LLM node whose answer must have a form: the model is asked, the answer is checked, and where it does not fit the
// model is told what is wrong with it and asked once more. ADR 18.
import type OpenAI from 'openai';
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
import { NOTHING_SAID, sumUsage, toOutput, type ModelReply } from './model-reply.js';
import { isSilent } from './said-message.js';

export type Message = OpenAI.Chat.ChatCompletionMessageParam;

/** The result of a call of the model, and its cost. */
export interface PaidReply {
  /** Undefined for an answer without a message. */
  reply: ModelReply | undefined;
  charge: Charge & { answered: AnsweredCall };
}

interface FormTask {
  db: Database;
  secretBox: SecretBox;
  task: NodeTask;
  form: AnswerForm;
  forms: FormChecker;
  /** The version of the price list by which the calls are charged. */
  priceVersion: string;
  /** Makes the call with this number. `added` follows the node's own messages. */
  ask: (turn: number, added: Message[]) => Promise<PaidReply>;
  /** Repeats a write until the database has taken it. */
  persist: (write: () => Promise<void>) => Promise<void>;
}

/**
 * An answer that fits at once is recorded with the node's end, like the answers without a form. If it does not fit, it
 * is stored together with its price before the second call is claimed, and so is the answer to that one: an attempt
 * after a crash goes on where the last one was. The node then costs what the ledger says.
 *
 * Throws a `NodeFailure` with the code `invalid_output` when no answer fits.
 */
export async function askForForm(given: FormTask): Promise<NodeOutcome> {
  const { db, secretBox, task, form, forms, priceVersion } = given;
  const { projectId } = task.run;
  await forms.prepare(form, { projectId, signal: task.signal });
  // A cancel does not end the check of an answer whose price is not stored yet.
  const checking = { forms, form, projectId, signal: new AbortController().signal };
  const turns = await findTurns(db, task);
  const { runId, path, nodeId } = task;
  const said = turns.map(({ turn, messageEnc }): ModelReply => {
    return parseJson(secretBox.open(messageEnc, 'agent-message', runId, path, nodeId, turn)) as ModelReply;
  });
  if (said.length === 0) {
    const { reply, charge } = await given.ask(0, []);
    if (reply === undefined) throw withoutMessage(charge);
    const checked = await checkPaid(reply, checking, charge);
    if ('json' in checked) return { output: { ...toOutput(reply), json: checked.json }, charge };
    if (reply.refusal !== null) throw notOfForm(checked.problem, charge);
    await store(given, 0, { reply, charge });
    said.push(reply);
  }
  const [first] = said as [ModelReply];
  if (said.length === 1) {
    const { reply = NOTHING_SAID, charge } = await given.ask(1, await correction(first, checking));
    await store(given, 1, { reply, charge });
    said.push(reply);
  }
  const second = said[1]!;
  const charge = await ledgerCharge(db, task, priceVersion);
  const checked = await checkPaid(second, checking, charge);
  if ('problem' in checked) throw notOfForm(checked.problem, charge);
  const usage = sumUsage(said.map((reply) => reply.usage));
  return { output: { ...toOutput(second), usage, json: checked.json }, charge };
}

export function withoutMessage(charge: Charge): NodeFailure {
  return new NodeFailure('invalid_response', 'The provider answered without a message that can be used.', { charge });
}

/** A failure of the check itself does not make the answer free. */
async function checkPaid(reply: ModelReply, checking: Checking, charge: Charge): Promise<CheckedAnswer> {
  try {
    return await checkReply(reply, checking);
  } catch (error) {
    throw error instanceof NodeError ? new NodeFailure(error.code, error.message, { charge }) : error;
  }
}

/** The model is told this of its first answer. */
async function correction(first: ModelReply, checking: Checking): Promise<Message[]> {
  const own = first.message ?? { role: 'assistant', content: first.content };
  const said = isSilent(own) ? [] : [withMarkedNumbers(own) as unknown as Message];
  return [...said, { role: 'user', content: await toCorrection(first, checking) }];
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
