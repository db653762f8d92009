import type { Database } from '../../../db/core/client.js';
import { claimCall, markCallRefused } from '../../../db/nodes/provider-calls-repository.js';
import { readAction } from '../../../graph/actions/action.js';
import { UNKNOWN_ACTION } from '../../../graph/actions/check-values.js';
import { cutText } from '../../../graph/cut-text.js';
import type { FileValue } from '../../../graph/file-values.js';
import type { JsonObject } from '../../../graph/json.js';
import type { Masker } from '../../../graph/mask.js';
import {
  hasAction,
  httpActionSchema,
  httpNode,
  type ActionNodeData,
  type HttpNodeData,
} from '../../../graph/nodes/http.js';
import { renderJson, renderText } from '../../../graph/template.js';
import { wasPerformed } from '../../../outgoing/network-error.js';
import { isRepeatable, type OutgoingClient, type OutgoingResponse } from '../../../outgoing/outgoing-client.js';
import { retryAfterMs } from '../../../outgoing/retry-after.js';
import type { Logger } from '../../../telemetry/logger.js';
import type { CallWith, ConnectionUse } from '../../connections/use-connection.js';
import type { FileUse } from '../../files/file-use.js';
import { isHandedBack, NodeFailure } from '../../node/failures.js';
import type { NodeRunner, NodeOutcome, NodeTask } from '../../node/node-step.js';
import { READING_FACTOR, RECORDING_FACTOR, structureBytes } from '../../node/payload-weight.js';
import { persist } from '../../node/record.js';
import type { RunContexts } from '../../node/run-context.js';
import { toActionRequest } from './action-request.js';
import { createFileAnswer } from './file-answer.js';
import { toFileBody } from './file-body.js';
import { isCredentialRefused, toFailure, toOutput } from './http-answer.js';
import { toRequest, type Rendered, type RenderedRequest } from './http-request.js';
import { renderHeaders } from './request-headers.js';

type NodeData = HttpNodeData | ActionNodeData;

const MAX_ATTEMPTS = 4;
/** Temporary failures, after which a retry may succeed. */
const RETRYABLE_STATUS = (status: number) => status >= 500 || status === 408 || status === 429;
const QUOTED_BODY_CHARACTERS = 300;

interface HttpDeps {
  db: Database;
  contexts: RunContexts;
  client: OutgoingClient;
  connections: ConnectionUse;
  files: FileUse;
  logger: Logger;
}

export function createHttpRunner({ db, contexts, client, connections, files, logger }: HttpDeps): NodeRunner {
  /** Allows the next attempt to send a request that was not carried out. Does nothing for one that was not claimed. */
  async function release(task: NodeTask, attempt: number | undefined): Promise<void> {
    if (attempt !== undefined) await persist({ logger }, task, () => markCallRefused(db, { ...task, attempt }));
  }

  return {
    isClaimed: true,
    retry: { maxAttempts: MAX_ATTEMPTS, firstDelayMs: 500 },
    async run(task) {
      const { data: drawn } = task.node;
      const data: NodeData = hasAction(drawn) ? httpActionSchema.parse(drawn) : httpNode.schema.parse(drawn);
      const outgoing = await prepare({ db, contexts, files }, data, task);
      const fileAnswer = createFileAnswer(files, task, { url: outgoing.url, settings: data.settings });
      const mayRepeat = isRepeatable(outgoing.method) || data.settings.retry_unsafe;
      const send = async ({ credential, hide, masker }: CallWith): Promise<Answered> => {
        const attempt = mayRepeat ? undefined : await claimUnsafeCall(db, task);
        const answer = await client
          .send({
            ...outgoing,
            consume: fileAnswer.consume,
            maxConsumedBytes: files.maxBytes + 1,
            authorize: credential?.authorize,
          })
          .catch(async (error: unknown) => {
            if (task.signal.aborted) throw error;
            if (isHandedBack(error)) {
              await release(task, attempt);
              throw error;
            }
            const failure = error instanceof NodeFailure ? error : toFailure(error, { ...outgoing, mayRepeat, masker });
            const isUnsent = !wasPerformed(failure) && (failure.isRetryable || failure.code === 'connection_origin');
            if (isUnsent) await release(task, attempt);
            throw failure;
          });
        // A server that refuses the credential has not performed the request.
        if (credential !== undefined && isCredentialRefused(outgoing, answer)) await release(task, attempt);
        return { answer, hide, masker };
      };
      const { answer, ...masking } = await connections.call(task, data.connection, send, (outcome) => {
        return 'value' in outcome && isCredentialRefused(outgoing, outcome.value.answer);
      });
      // The answer has arrived. If the attempt must stop, the answer is recorded without waiting for memory, so the
      // rejection is ignored.
      const weightBytes = RECORDING_FACTOR * answer.body.length + structureBytes(answer.body);
      await task.memory.resize(weightBytes)?.catch(() => undefined);
      return toOutcome(answer, data, { mayRepeat, file: fileAnswer.file(), ...masking });
    },
  };
}

const STREAMED_BYTES = 256 * 1024;

interface Answered extends Pick<CallWith, 'hide' | 'masker'> {
  answer: OutgoingResponse;
}

/**
 * Returns only the rendered request, so that the values of its variables are not held while the request is in flight.
 */
async function prepare(
  deps: Pick<HttpDeps, 'db' | 'contexts' | 'files'>,
  data: NodeData,
  task: NodeTask,
): Promise<Rendered> {
  const rendered = hasAction(data)
    ? await renderActionOf(deps, task, data as ActionNodeData)
    : await renderNode(deps, task, data as HttpNodeData);
  const withFiles = await toFileBody(deps.files, task, rendered.body);
  const request = toRequest(rendered, data.settings, { task, withFiles });
  const heldBytes = READING_FACTOR * (typeof request.body === 'string' ? request.body.length : STREAMED_BYTES);
  await task.memory.resize(heldBytes);
  return { ...request, reserve: (bytes) => task.memory.resize(heldBytes + READING_FACTOR * bytes) };
}

async function renderNode(
  { contexts }: Pick<HttpDeps, 'contexts'>,
  task: NodeTask,
  { url, method, headers, body }: HttpNodeData,
): Promise<RenderedRequest> {
  const values = await contexts.loadValues(task, { url, method, headers, body });
  return {
    url: renderText(url, values).trim(),
    method: renderText(method, values),
    headers: renderHeaders(headers, values),
    body: renderJson(body, values),
    drawnUrl: url,
  };
}

async function renderActionOf(
  { db, contexts }: Pick<HttpDeps, 'db' | 'contexts'>,
  task: NodeTask,
  { action, values: given = {}, connection }: ActionNodeData,
): Promise<RenderedRequest> {
  const facts = readAction(action)?.facts;
  if (facts === undefined) throw new NodeFailure('action_missing', UNKNOWN_ACTION);
  const values = await contexts.loadValues(task, { values: given });
  const rendered = renderJson(given, values) as JsonObject;
  return toActionRequest(db, task, { facts, values: rendered, connection });
}

async function claimUnsafeCall(db: Database, task: NodeTask): Promise<number> {
  const claim = await claimCall(db, { ...task, provider: null, model: null, mayRepeat: false });
  if (claim.isAllowed) return claim.attempts;
  throw new NodeFailure(
    'outcome_unknown',
    'An earlier attempt sent the request and did not record its outcome; whether it was carried out is unknown, so it is not sent again.',
  );
}

async function toOutcome(
  answer: OutgoingResponse,
  data: Pick<HttpNodeData, 'settings'>,
  { mayRepeat, file, hide, masker }: { mayRepeat: boolean; file: FileValue | undefined; hide: Masker; masker: Masker },
): Promise<NodeOutcome> {
  const output = hide.json(await toOutput(answer, file));
  if (answer.status < 400 || !data.settings.fail_on_status) return { output };
  // The text is masked before it is cut, because the masker does not find a secret that was cut in two.
  const quoted = cutText(masker.text(output.content), QUOTED_BODY_CHARACTERS).trim();
  throw new NodeFailure(
    'http_status',
    `The server answered with status ${answer.status}${quoted === '' ? '.' : `: ${quoted}`}`,
    {
      isRetryable: mayRepeat && RETRYABLE_STATUS(answer.status),
      retryAfterMs: retryAfterMs(answer.headers['retry-after'], Date.now()),
    },
  );
}
