import { ConnectionOriginError } from '../../../connections/credential.js';
import type { Database } from '../../../db/core/client.js';
import { claimCall, markCallRefused } from '../../../db/nodes/provider-calls-repository.js';
import type { Masker } from '../../../graph/mask.js';
import { httpNode, toHttpMethod, type HttpNodeData } from '../../../graph/nodes/http.js';
import { MASK } from '../../../graph/mask-text.js';
import { renderJson, renderText, type NodeOutput, type VariableValues } from '../../../graph/template.js';
import { isConnectionHeader } from '../../../outgoing/header-text.js';
import { retryAfterMs } from '../../../outgoing/retry-after.js';
import { NodeFailure } from '../../node/failures.js';
import { createFileAnswer } from './file-answer.js';
import { toFileBody } from './file-body.js';
import { toHttpBody } from './http-body.js';
import { findShallowJson } from '../../../graph/shallow-json.js';
import { toIdempotencyKey } from '../idempotency-key.js';
import { READING_FACTOR, RECORDING_FACTOR, structureBytes } from '../../node/payload-weight.js';
import { renderHeaders } from './request-headers.js';
import { addressOf, causeCode, toAddress } from '../../../outgoing/network-error.js';
import {
  isRepeatable,
  OutgoingError,
  toUrl,
  type OutgoingClient,
  type OutgoingRequest,
  type OutgoingResponse,
  type StreamedBody,
} from '../../../outgoing/outgoing-client.js';
import { textOfBytes } from '../../../outgoing/text-of-bytes.js';
import type { FileUse } from '../../files/file-use.js';
import type { FileValue } from '../../../graph/file-values.js';
import { cutText } from '../../../graph/cut-text.js';
import type { RunContexts } from '../../node/run-context.js';
import type { CallWith, ConnectionUse } from '../../connections/use-connection.js';
import type { NodeRunner, NodeOutcome, NodeTask } from '../../node/node-step.js';

const MAX_ATTEMPTS = 4;
/** Temporary failures, after which a retry may succeed. */
const RETRYABLE_STATUS = (status: number) => status >= 500 || status === 408 || status === 429;
/** Errors that occur before the request is sent. Even a request that must not be repeated can be retried after them. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const QUOTED_BODY_CHARACTERS = 300;

interface HttpDeps {
  db: Database;
  contexts: RunContexts;
  client: OutgoingClient;
  connections: ConnectionUse;
  files: FileUse;
}

export function createHttpRunner({ db, contexts, client, connections, files }: HttpDeps): NodeRunner {
  return {
    isClaimed: true,
    retry: { maxAttempts: MAX_ATTEMPTS, firstDelayMs: 500 },
    async run(task) {
      const data = httpNode.schema.parse(task.node.data);
      const outgoing = await prepare({ contexts, files }, data, task);
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
            const failure = error instanceof NodeFailure ? error : toFailure(error, { ...outgoing, mayRepeat, masker });
            const isUnsent = failure.isRetryable || failure.code === 'connection_origin';
            if (attempt !== undefined && isUnsent) await markCallRefused(db, { ...task, attempt });
            throw failure;
          });
        // A server that refuses the credential has not performed the request.
        if (attempt !== undefined && credential !== undefined && answer.status === REFUSED) {
          await markCallRefused(db, { ...task, attempt });
        }
        return { answer, hide, masker };
      };
      const { answer, ...masking } = await connections.call(task, data.connection, send, (outcome) => {
        return 'value' in outcome && outcome.value.answer.status === REFUSED;
      });
      // The answer has arrived. Ignores the rejection when the worker stops: the answer is then
      // recorded without waiting for memory.
      const weightBytes = RECORDING_FACTOR * answer.body.length + structureBytes(answer.body);
      await task.memory.resize(weightBytes)?.catch(() => undefined);
      return toOutcome(answer, data, { mayRepeat, file: fileAnswer.file(), ...masking });
    },
  };
}

interface Rendered extends OutgoingRequest {
  /** True if the host was rendered from a secret, which `url` may spell differently. */
  hasSecretHost: boolean;
}

const STREAMED_BYTES = 256 * 1024;

const REFUSED = 401;

interface Answered extends Pick<CallWith, 'hide' | 'masker'> {
  answer: OutgoingResponse;
}

/**
 * Returns only the rendered request, so that the values of its variables are not held while the request is in flight.
 */
async function prepare(
  { contexts, files }: Pick<HttpDeps, 'contexts' | 'files'>,
  data: HttpNodeData,
  task: NodeTask,
): Promise<Rendered> {
  const { url, method, headers } = data;
  const values = await contexts.loadValues(task, { url, method, headers, body: data.body });
  const body = renderJson(data.body, values);
  const withFiles = await toFileBody(files, task, body);
  const request = toRequest({ ...data, body }, values, { task, withFiles });
  const heldBytes = READING_FACTOR * (typeof request.body === 'string' ? request.body.length : STREAMED_BYTES);
  await task.memory.resize(heldBytes);
  return { ...request, reserve: (bytes) => task.memory.resize(heldBytes + READING_FACTOR * bytes) };
}

async function claimUnsafeCall(db: Database, task: NodeTask): Promise<number> {
  const claim = await claimCall(db, { ...task, provider: null, model: null, mayRepeat: false });
  if (claim.isAllowed) return claim.attempts;
  throw new NodeFailure(
    'outcome_unknown',
    'The request was on its way when its worker died; whether it was carried out is unknown, so it is not sent again.',
  );
}

/** The `body` in `data` must be rendered. */
function toRequest(
  data: HttpNodeData,
  values: VariableValues,
  { task, withFiles }: { task: NodeTask; withFiles: (StreamedBody & { contentType: string }) | undefined },
): Rendered {
  const method = toHttpMethod(renderText(data.method, values));
  if (method === undefined)
    throw new NodeFailure('invalid_method', 'The method is none of those that HTTP nodes know.');
  const headers = renderHeaders(data.headers, values);
  refuseConnectionHeaders(headers);
  const secretHeaders = Object.keys(headers).filter((name) => holdsSecret(task, headers[name]!));
  const body = withFiles ?? toHttpBody(method, data.body, headers);
  const has = (wanted: string) => Object.keys(headers).some((name) => name.toLowerCase() === wanted);
  if (withFiles !== undefined) setFileType(headers, withFiles.contentType);
  if (!has('idempotency-key')) headers['idempotency-key'] = toIdempotencyKey(task);
  if (!has('user-agent')) headers['user-agent'] = 'workflow-automation-service';
  if (!has('accept-encoding')) headers['accept-encoding'] = 'gzip, deflate, br';
  const text = renderText(data.url, values).trim();
  const url = renderedUrl(text);
  return {
    url,
    method,
    headers,
    body,
    timeoutMs: data.settings.timeout * 1000,
    signal: task.signal,
    tenant: String(task.run.projectId),
    secretHeaders,
    hasSecretHost: holdsSecret(task, /^\w+:[/\\]*([^/\\?#]*)/.exec(text)?.[1] ?? ''),
    hidesHost: !data.url.toLowerCase().includes(url.hostname),
  };
}

/**
 * The content type of the node takes precedence over that of the file, except for a form, which
 * needs the boundary of its body.
 */
function setFileType(headers: Record<string, string>, contentType: string): void {
  const existing = Object.keys(headers).find((name) => name.toLowerCase() === 'content-type');
  if (existing !== undefined && !contentType.startsWith('multipart/')) return;
  if (existing !== undefined) Reflect.deleteProperty(headers, existing);
  headers['content-type'] = contentType;
}

function holdsSecret({ run }: NodeTask, value: string): boolean {
  return run.masker.text(value) !== value;
}

/** Fails the node, because the header would be dropped or contradict the request that is sent. */
function refuseConnectionHeaders(headers: Record<string, string>): void {
  const name = Object.keys(headers).find(isConnectionHeader);
  if (name === undefined) return;
  throw new NodeFailure('invalid_header', `Header "${name}" is set by the connection and cannot be given.`);
}

function renderedUrl(text: string): URL {
  const url = parsedUrl(text);
  if (url.username === '' && url.password === '') return url;
  const message = 'The URL holds a user name or password, which are not sent: they belong in a connection.';
  throw new NodeFailure('invalid_url', message);
}

function parsedUrl(text: string): URL {
  try {
    return toUrl(text);
  } catch (error) {
    throw error instanceof OutgoingError ? new NodeFailure(error.code, error.message) : error;
  }
}

async function toOutcome(
  answer: OutgoingResponse,
  data: HttpNodeData,
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

async function toOutput(
  { status, headers, setCookie, body }: OutgoingResponse,
  file: FileValue | undefined,
): Promise<NodeOutput> {
  const head = { status_code: status, headers, ...(setCookie.length > 0 && { set_cookie: setCookie }) };
  if (file !== undefined) return { content: file.name, ...head, file };
  const { text } = await textOfBytes(body, headers['content-type']);
  // PostgreSQL cannot store NUL.
  const content = text.replaceAll('\0', '\uFFFD');
  const json = findShallowJson(content);
  return { content, ...head, ...(json !== undefined && { json }) };
}

interface Failed extends Pick<Rendered, 'url' | 'hasSecretHost'> {
  mayRepeat: boolean;
  masker: Masker;
}

function toFailure(error: unknown, { url, hasSecretHost, mayRepeat, masker }: Failed): NodeFailure {
  const code = causeCode(error);
  if (error instanceof ConnectionOriginError) return new NodeFailure(error.code, error.message);
  if (code === 'blocked_address') return new NodeFailure(code, 'The address is not allowed: it is not public.');
  if (error instanceof OutgoingError) {
    return new NodeFailure(error.code, error.message, { isRetryable: mayRepeat && error.code === 'timeout' });
  }
  const isRetryable = mayRepeat || NEVER_CONNECTED.has(code);
  const address = addressOf(error) ?? toAddress(url);
  const masked = masker.text(address);
  const isUnmasked = hasSecretHost && masked === address && address === toAddress(url);
  const shown = isUnmasked ? address.replace(/^.*(?=:\d+$)/, MASK) : masked;
  const message = `The request to ${shown} failed: ${code}.`;
  return new NodeFailure('network_error', message, { isRetryable });
}
