// The LLM node: one chat completion, or up to two if the answer must have a form.
import { findModel, type ModelProviders } from '../../../config/model-providers.js';
import { recordPaidEnd } from '../../../db/agents/agent-charges.js';
import { llmNode, type LlmNodeData } from '../../../graph/nodes/llm.js';
import { toAnswerForm } from '../../../graph/response-format.js';
import { renderJson, renderText } from '../../../graph/template.js';
import { NodeFailure } from '../../node/failures.js';
import type { LiveTexts } from '../../live/live-texts.js';
import type { FormChecker } from '../structured-answer.js';
import { askForForm, withoutMessage, type Message, type PaidReply } from './ask-for-form.js';
import { askModel, type Body } from './ask-model.js';
import { ledgerCharge } from './ledger-charge.js';
import type { ModelClients } from './model-clients.js';
import { toModelParameters } from './model-parameters.js';
import { toModelMessages, type MessageFilesDeps } from './message-files.js';
import { readReply, toOutput } from './model-reply.js';
import { persist } from '../../node/record.js';
import type { RunContexts } from '../../node/run-context.js';
import type { NodeDeps, NodeRunner, NodeOutcome } from '../../node/node-step.js';

export interface ModelDeps extends MessageFilesDeps {
  providers: ModelProviders;
  clients: ModelClients;
  live: LiveTexts;
  forms: FormChecker;
  node: NodeDeps;
}

interface LlmDeps extends ModelDeps {
  contexts: RunContexts;
}

export function createLlmRunner(deps: LlmDeps): NodeRunner {
  const { contexts, providers, forms, node } = deps;
  const { db, secretBox } = node;
  return {
    isClaimed: true,
    retry: { maxAttempts: 5, firstDelayMs: 500 },
    chargeSoFar: (task) => ledgerCharge({ db, providers }, task),
    store: (end, answered) => recordPaidEnd(db, end, answered),
    async run(task) {
      const data = readData(task.node.data);
      const { messages, settings } = data;
      const values = await contexts.loadValues(task, { messages, settings });
      const modelName = renderText(settings.model_name, values);
      const model = findModel(providers, modelName);
      if (model === undefined) throw new NodeFailure('model_not_found', `No provider serves the model "${modelName}".`);
      const filled = await toModelMessages(deps, task, { messages, values, model, modelName });
      const body = {
        ...toModelParameters(settings, values),
        model: modelName,
        messages: filled,
        stream: false,
      } as Body;
      const timeoutMs = settings.timeout * 1000;
      const ask = async (turn: number, added: Message[]): Promise<PaidReply> => {
        const idempotencyTurn = turn === 0 ? undefined : turn;
        const asked = { ...body, messages: [...body.messages, ...added] };
        const call = { turn, model, timeoutMs, body: asked, idempotencyTurn };
        const { answer, charge } = await askModel(deps, task, call);
        return { reply: readReply(answer), charge };
      };
      const form = toAnswerForm(renderJson(settings.response_format, values));
      if (form === undefined) return toOutcome(await ask(0, []));
      const persisting = (write: () => Promise<void>): Promise<void> => persist(node, task, write);
      return askForForm({ db, secretBox, task, form, forms, providers, ask, persist: persisting });
    },
  };
}

/**
 * Parses the data without the response format, which is returned as it is and validated after its variables are filled
 * in. In runs that an earlier release accepted, the response format may be any JSON.
 */
function readData(data: Record<string, unknown>): LlmNodeData {
  const settings = data['settings'] as LlmNodeData['settings'];
  const parsed = llmNode.schema.parse({ ...data, settings: { ...settings, response_format: undefined } });
  return { ...parsed, settings: { ...parsed.settings, response_format: settings.response_format } };
}

function toOutcome({ reply, charge }: PaidReply): NodeOutcome {
  if (reply === undefined) throw withoutMessage(charge);
  return { output: toOutput(reply), charge };
}
