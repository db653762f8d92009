// Shows the steps of an agent: what its model wrote, and the tool calls, with secrets masked.
import { z } from 'zod';
import { toAmount } from '../../config/currencies.js';
import { toWarnings, type LeftOutTool } from '../../db/agents/agent-tools.js';
import type { AgentSteps, StoredStep, StoredStepCall } from '../../db/agents/agent-steps-repository.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Masker } from '../../graph/mask.js';
import { textOfContent } from '../../graph/message-text.js';
import { readArguments } from '../../graph/tool-arguments.js';
import type { RunDeps } from './deps.js';
import { RawJson } from '../http/json-text.js';
import { amountSchema } from '../projects/project-view.js';

const timestamp = z.iso.datetime();

const toolCallSchema = z.object({
  server_label: z.string().nullable().describe('Empty for a workflow, null for a tool that does not exist'),
  tool_name: z.string(),
  arguments: z.unknown().describe('What the model asked for, secrets masked; a text where it is no JSON object'),
  edited_arguments: z.unknown().describe('What a person has put in their place; null where nobody has'),
  outcome: z
    .enum(['result', 'tool_error', 'rejected', 'expired', 'invalid'])
    .nullable()
    .describe('Null while there is none'),
  answer: z.string().nullable().describe('What the model was told, secrets masked'),
  approval: z
    .object({ request_id: z.string(), status: z.enum(['pending', 'approved', 'rejected', 'expired']) })
    .nullable()
    .describe('Null for a call that needs none'),
  run_id: z.string().nullable().describe('The run that the call has started, where the tool is a workflow'),
  started_at: timestamp.nullable().describe('Null for a call that was not made'),
  finished_at: timestamp.nullable(),
  left_out: z.boolean().describe('The contents of the page were too large in all; ask for a smaller page'),
});

export const stepSchema = z.object({
  iteration: z.int().describe('Counts the model calls from 1'),
  status: z.enum(['in progress', 'succeed', 'failed']).describe('Of the model call'),
  is_final: z.boolean().describe('Whether the model gave an answer instead of asking for tools'),
  model: z.string().nullable(),
  content: z.string().nullable().describe('What the model said, secrets masked; null where it said nothing'),
  tool_calls: z.array(toolCallSchema).describe('Empty once the results of the run have expired'),
  warnings: z
    .array(z.object({ server_label: z.string(), tool_name: z.string(), message: z.string() }))
    .optional()
    .describe('In the first step, where there are any: the tools of MCP servers that the agent is not offered'),
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  cost: amountSchema,
  started_at: timestamp.describe('When the last attempt of the model call began'),
  finished_at: timestamp.nullable(),
  left_out: z.boolean().describe('The contents of the page were too large in all; ask for a smaller page'),
});

type Deps = Pick<RunDeps, 'secretBox' | 'currencies'>;

/** `node` is the agent; `masker` is undefined once the contents have expired. */
export function toSteps(
  deps: Deps,
  node: NodeKey,
  { steps, calls, nodeStatus }: AgentSteps,
  masker: Masker | undefined,
  leftOut: LeftOutTool[],
): object[] {
  return steps.map((step) => ({
    iteration: step.turn + 1,
    status: statusOf(step, nodeStatus),
    is_final: step.isFinal,
    model: step.model,
    content: masker === undefined ? null : contentOf(deps, node, step, masker),
    tool_calls:
      masker === undefined
        ? []
        : calls.filter(({ turn }) => turn === step.turn).map((call) => toCall(deps, node, call, masker)),
    ...toWarnings(step.turn, leftOut),
    input_tokens: step.inputTokens,
    output_tokens: step.outputTokens,
    cost: toAmount(step.priceUsd ?? '0', deps.currencies),
    started_at: step.sentAt.toISOString(),
    finished_at: step.repliedAt?.toISOString() ?? null,
    left_out: step.isLeftOut,
  }));
}

/** A sent call whose node has ended gets no answer any more, so it counts as failed. */
function statusOf({ state }: StoredStep, nodeStatus: AgentSteps['nodeStatus']): string {
  if (state === 'applied') return 'succeed';
  return state === 'sent' && nodeStatus === 'in progress' ? 'in progress' : 'failed';
}

function contentOf(
  { secretBox }: Deps,
  { runId, path, nodeId }: NodeKey,
  { turn, messageEnc }: StoredStep,
  masker: Masker,
): string | null {
  if (messageEnc === null) return null;
  const text = secretBox.open(messageEnc, 'agent-message', runId, path, nodeId, turn);
  const { content, refusal } = parseJson(text) as { content?: unknown; refusal?: unknown };
  const shown = textOfContent(content) || refusal;
  return typeof shown === 'string' && shown !== '' ? masker.text(shown) : null;
}

function toCall({ secretBox }: Deps, { runId, path, nodeId }: NodeKey, call: StoredStepCall, masker: Masker): object {
  const { requestId, approval, argumentsEnc, answerEnc, editedEnc } = call;
  const row = [runId, path, nodeId, call.turn, call.ordinal] as const;
  const requested = argumentsEnc && secretBox.open(argumentsEnc, 'agent-arguments', ...row);
  const edited = editedEnc && requestId && secretBox.open(editedEnc, 'agent-edit', requestId);
  const answer = answerEnc && secretBox.open(answerEnc, 'agent-answer', ...row);
  return {
    server_label: call.serverLabel,
    // The model invents the name of a tool that does not exist, so the name may hold a secret.
    tool_name: masker.text(call.toolName),
    arguments: toShownJson(requested, masker),
    edited_arguments: toShownJson(edited, masker),
    outcome: call.outcome,
    answer: answer === null ? null : masker.text(answer),
    approval: requestId === null || approval === null ? null : { request_id: requestId, status: approval },
    run_id: call.childRunId,
    started_at: call.sentAt?.toISOString() ?? null,
    finished_at: call.finishedAt?.toISOString() ?? null,
    left_out: call.isLeftOut,
  };
}

/** Keeps the value of every number that is not masked, also of one that a double cannot represent. */
function toShownJson(written: string | null, masker: Masker): RawJson | string | null {
  if (written === null) return null;
  const { text, parsed } = readArguments(written);
  return parsed === undefined ? masker.text(text) : new RawJson(writeJson(masker.json(parsed)));
}
