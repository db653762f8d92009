// Makes a tool call that is an action of a service (docs/use/services.md).
import { wasPerformed } from '../../../outgoing/network-error.js';
import type { ActionFacts } from '../../../graph/actions/action.js';
import { cutText } from '../../../graph/cut-text.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import type { ActionTool } from '../../../graph/nodes/agent.js';
import { retryPolicyOf } from '../../../graph/nodes/every-node.js';
import { renderJson } from '../../../graph/template.js';
import { isRepeatable } from '../../../outgoing/outgoing-client.js';
import { isHandedBack, NodeFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';
import { READING_FACTOR } from '../../node/payload-weight.js';
import { toActionRequest } from '../http/action-request.js';
import { createFileAnswer } from '../http/file-answer.js';
import { toFileBody } from '../http/file-body.js';
import { isCredentialRefused, toFailure, toOutput } from '../http/http-answer.js';
import { toRequest, type Rendered } from '../http/http-request.js';
import { toIdempotencyKey } from '../idempotency-key.js';
import { argumentsProblem, factsOf } from './action-tools.js';
import type { AgentDeps } from './agent-step.js';
import { withFiles } from './answer-files.js';
import { AGENT_RETRIES } from './connect-attempts.js';
import { failedAnswer, openToolClaim, sentBy, type ToolClaim } from './tool-claim.js';
import type { Answer, ToolWork } from './tool-work.js';

/** A longer answer is cut before the model gets it. */
const MAX_ANSWER_CHARACTERS = 1_000_000;
/** Failures before anything is sent, which the model can avoid. */
const OF_VALUES = new Set(['invalid_value', 'invalid_header', 'invalid_body', 'file_missing']);

/**
 * Makes the call. Returns a `tool_error` for arguments or values that cannot be sent, for an answer with a status from
 * 400 on, and if the last attempt failed, with a text that says if the call may have been carried out. Throws a failure
 * after which the call is attempted again, one of the connection (`connection_...`), `action_missing`,
 * `outcome_unknown`, and all errors that are no `NodeFailure`.
 */
export async function callAction(
  deps: AgentDeps,
  task: NodeTask,
  { data, values, turn, call }: ToolWork,
  { tool, given }: { tool: ActionTool; given: JsonObject },
): Promise<Answer> {
  const facts = factsOf(tool);
  const fixed = renderJson(tool.values ?? {}, values);
  const problem = argumentsProblem(facts, tool.values ?? {}, given);
  if (problem !== undefined) return { outcome: 'tool_error', text: problem };
  let request: Rendered;
  try {
    request = await prepare(
      deps,
      task,
      { facts, tool, all: { ...given, ...(isObject(fixed) && fixed) } },
      data.settings,
    );
  } catch (error) {
    if (!(error instanceof NodeFailure) || !OF_VALUES.has(error.code)) throw error;
    return { outcome: 'tool_error', text: `The call was not made: ${error.message}` };
  }
  // An idempotency key from the drawing or the model stays as it is.
  if (request.headers['idempotency-key'] === toIdempotencyKey(task))
    request.headers['idempotency-key'] = `${toIdempotencyKey(task, turn)}/${call.ordinal}`;
  const mayRepeat = data.settings.retry_unsafe || isRepeatable(request.method);
  const claim = await openToolClaim(deps, task, { turn, call, mayRepeat });
  try {
    return { ...(await send(deps, task, { request, claim }, tool.connection)), ...sentBy(claim) };
  } catch (error) {
    if (task.signal.aborted || !(error instanceof NodeFailure) || error.code.startsWith('connection_')) throw error;
    const { maxAttempts, delayMs } = retryPolicyOf(task.node.data, AGENT_RETRIES);
    const made = await claim.countFailure();
    if (error.isRetryable && made < maxAttempts) {
      // A call that stays `sent` in the ledger counts as a crash, and crashes do not count against `maxAttempts`. So
      // the call is marked as refused.
      await claim.release();
      throw error.withDelay(delayMs(made));
    }
    return failedAnswer(claim, error);
  }
}

interface Calling {
  facts: ActionFacts;
  tool: ActionTool;
  /** The values of all fields, fixed ones included. */
  all: JsonObject;
}

async function prepare(
  { db, files }: AgentDeps,
  task: NodeTask,
  { facts, tool, all }: Calling,
  settings: { timeout: number },
): Promise<Rendered> {
  const rendered = await toActionRequest(db, task, { facts, values: all, connection: tool.connection });
  const withFilesOf = await toFileBody(files, task, rendered.body);
  return toRequest(rendered, settings, { task, withFiles: withFilesOf });
}

/** Failures of a request that was not sent. */
const UNSENT = new Set(['connection_origin', 'blocked_address']);

/**
 * Returns true if the request was not carried out. `isHandedBack`: a file of its body could not be opened, so the body
 * was not sent. If the method must not be repeated, a failure is retryable only if the request was not carried out.
 */
function isUnsent(error: unknown, { method }: Rendered): boolean {
  if (isHandedBack(error)) return true;
  if (!(error instanceof NodeFailure) || wasPerformed(error)) return false;
  return UNSENT.has(error.code) || (error.isRetryable && !isRepeatable(method));
}

async function send(
  { client, connections, files }: AgentDeps,
  task: NodeTask,
  { request, claim }: { request: Rendered; claim: ToolClaim },
  connection: ActionTool['connection'],
): Promise<Pick<Answer, 'outcome' | 'text'>> {
  const { url } = request;
  const fileAnswer = createFileAnswer(files, task, { url, settings: FILE_SETTINGS });
  const mayRepeat = isRepeatable(request.method);
  const { answer, hide } = await connections.call(
    task,
    connection,
    async ({ credential, hide: masker, masker: both }) => {
      const sent = () =>
        client
          .send({
            ...request,
            consume: fileAnswer.consume,
            maxConsumedBytes: files.maxBytes + 1,
            authorize: credential?.authorize,
            reserve: (bytes) => task.memory.resize(READING_FACTOR * bytes),
          })
          .catch((error: unknown) => {
            if (task.signal.aborted || error instanceof NodeFailure || isHandedBack(error)) throw error;
            throw toFailure(error, { ...request, mayRepeat, masker: both });
          });
      const received = await claim.send(sent, (outcome) => {
        if ('error' in outcome) return isUnsent(outcome.error, request);
        return credential !== undefined && isCredentialRefused(request, outcome.value);
      });
      return { answer: received, hide: masker };
    },
    (outcome) => 'value' in outcome && isCredentialRefused(request, outcome.value.answer),
  );
  const file = fileAnswer.file();
  const { content } = await toOutput(answer, file);
  const text = cutText(hide.text(file === undefined ? content : ''), MAX_ANSWER_CHARACTERS);
  if (answer.status >= 400) {
    return { outcome: 'tool_error', text: `The server answered with status ${answer.status}: ${text}` };
  }
  const told = withFiles(text, file === undefined ? [] : [file]);
  return { outcome: 'result', text: told === '' ? '(no content)' : told };
}

const FILE_SETTINGS = { response: 'auto', fail_on_status: true } as Parameters<typeof createFileAnswer>[2]['settings'];
