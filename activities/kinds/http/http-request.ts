// Builds the request to send from its rendered parts.
import { isConnectionHeader } from '../../../outgoing/header-text.js';
import { OutgoingError, toUrl, type OutgoingRequest, type StreamedBody } from '../../../outgoing/outgoing-client.js';
import { toHttpMethod, type HttpNodeData } from '../../../graph/nodes/http.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';
import { toIdempotencyKey } from '../idempotency-key.js';
import { toHttpBody } from './http-body.js';

export interface RenderedRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: unknown;
  /** The address as drawn, or the server of an action. Lacks the host of `url` if that host comes from a variable. */
  drawnUrl: string;
}

export interface Rendered extends OutgoingRequest {
  /** True if the host was rendered from a secret, which `url` may spell differently. */
  hasSecretHost: boolean;
}

/** Throws a `NodeFailure` for a method, header or address that cannot be sent. */
export function toRequest(
  { url: text, method: word, headers, body: given, drawnUrl }: RenderedRequest,
  settings: Pick<HttpNodeData['settings'], 'timeout'>,
  { task, withFiles }: { task: NodeTask; withFiles: (StreamedBody & { contentType: string }) | undefined },
): Rendered {
  const method = toHttpMethod(word);
  if (method === undefined)
    throw new NodeFailure('invalid_method', 'The method is none of those that HTTP nodes know.');
  refuseConnectionHeaders(headers);
  const secretHeaders = Object.keys(headers).filter((name) => holdsSecret(task, headers[name]!));
  const body = withFiles ?? toHttpBody(method, given, headers);
  const has = (wanted: string) => Object.keys(headers).some((name) => name.toLowerCase() === wanted);
  if (withFiles !== undefined) setFileType(headers, withFiles.contentType);
  if (!has('idempotency-key')) headers['idempotency-key'] = toIdempotencyKey(task);
  if (!has('user-agent')) headers['user-agent'] = 'workflow-automation-service';
  if (!has('accept-encoding')) headers['accept-encoding'] = 'gzip, deflate, br';
  const url = renderedUrl(text);
  return {
    url,
    method,
    headers,
    body,
    timeoutMs: settings.timeout * 1000,
    signal: task.signal,
    tenant: String(task.run.projectId),
    secretHeaders,
    hasSecretHost: holdsSecret(task, /^\w+:[/\\]*([^/\\?#]*)/.exec(text)?.[1] ?? ''),
    hidesHost: !drawnUrl.toLowerCase().includes(url.hostname),
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

/** Throws `invalid_header` for a header that would be dropped or contradict the request that is sent. */
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
