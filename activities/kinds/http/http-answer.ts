// Turns the answer to a request into the output of a node, and the error of a request into the failure of a node.
import { ConnectionOriginError } from '../../../connections/credential.js';
import type { FileValue } from '../../../graph/file-values.js';
import type { Masker } from '../../../graph/mask.js';
import { MASK } from '../../../graph/mask-text.js';
import { findShallowJson } from '../../../graph/shallow-json.js';
import type { NodeOutput } from '../../../graph/template.js';
import {
  addressOf,
  causeCode,
  causesOf,
  notePerformed,
  toAddress,
  wasPerformed,
} from '../../../outgoing/network-error.js';
import { isRepeatable, OutgoingError, type OutgoingResponse } from '../../../outgoing/outgoing-client.js';
import { textOfBytes } from '../../../outgoing/text-of-bytes.js';
import { StoreAwayError } from '../../../files/store-failures.js';
import { filesUnavailable } from '../../files/file-use.js';
import { NodeFailure } from '../../node/failures.js';
import { AnswerNotSavedError } from './file-answer.js';
import type { Rendered } from './http-request.js';

/**
 * Errors of a connection that was not opened, so nothing was sent over it. After them, even a request that must not be
 * repeated is retried, unless a server has carried it out before a redirect (`wasPerformed`).
 */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const UNAUTHORIZED = 401;

/**
 * Returns true if the server has refused the credential, and the request was not carried out or may be repeated. After
 * a redirect that turned a POST into a GET, a 401 is about the GET only.
 */
export function isCredentialRefused(
  { method }: Pick<Rendered, 'method'>,
  { status, isPerformed }: Pick<OutgoingResponse, 'status' | 'isPerformed'>,
): boolean {
  return status === UNAUTHORIZED && (!isPerformed || isRepeatable(method));
}

export async function toOutput(
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

/**
 * Throws the cause of an `AnswerNotSavedError`, because this service has failed and not the node, unless the cause is a
 * `StoreAwayError`. `wasPerformed` holds for the failure if it holds for the error.
 */
export function toFailure(error: unknown, failed: Failed): NodeFailure {
  const failure = failureOf(error, failed);
  if (wasPerformed(error)) notePerformed(failure);
  return failure;
}

function failureOf(error: unknown, { url, hasSecretHost, mayRepeat, masker }: Failed): NodeFailure {
  const code = causeCode(error);
  // These two checks come first: `code` may be that of the store or of PostgreSQL, and then does not show that the
  // request was not sent.
  if ([...causesOf(error)].some((cause) => cause instanceof StoreAwayError)) return filesUnavailable({ mayRepeat });
  if (error instanceof AnswerNotSavedError) throw error.cause;
  if (error instanceof ConnectionOriginError) return new NodeFailure(error.code, error.message);
  if (code === 'blocked_address') return new NodeFailure(code, 'The address is not allowed: it is not public.');
  if (error instanceof OutgoingError) {
    return new NodeFailure(error.code, error.message, { isRetryable: mayRepeat && error.code === 'timeout' });
  }
  const isRetryable = mayRepeat || (NEVER_CONNECTED.has(code) && !wasPerformed(error));
  const address = addressOf(error) ?? toAddress(url);
  const masked = masker.text(address);
  const isUnmasked = hasSecretHost && masked === address && address === toAddress(url);
  const shown = isUnmasked ? address.replace(/^.*(?=:\d+$)/, MASK) : masked;
  const message = `The request to ${shown} failed: ${code}.`;
  return new NodeFailure('network_error', message, { isRetryable });
}
