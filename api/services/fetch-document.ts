// Fetches an OpenAPI document from the address that a person names. The server at that address is not trusted, so the
// texts of its errors are not quoted.
import { buffer } from 'node:stream/consumers';
import { addressOf, causeCode } from '../../outgoing/network-error.js';
import { OutgoingError, type OutgoingClient } from '../../outgoing/outgoing-client.js';
import { ExpandedTooFarError } from '../../outgoing/response-body.js';
import { MAX_DOCUMENT_BYTES } from '../../processes/read-openapi.js';
import { invalidFields, type ApiError } from '../http/errors.js';

const WITHIN_MS = 30_000;

interface Fetching {
  outgoing: OutgoingClient;
  signal: AbortSignal;
  /** Reserves memory for the largest possible document. */
  reserve: () => Promise<void> | undefined;
}

/** Thrown for a redirect that is not followed, before anything is sent to its address. */
class RefusedRedirectError extends Error {}

/**
 * Returns the document and the address that it came from. Throws a 400 on the field `openapi`. The request carries no
 * credential and no cookie; redirects stay on https.
 */
export async function fetchDocument(
  address: string,
  { outgoing, signal, reserve }: Fetching,
): Promise<{ bytes: Buffer; url: string }> {
  if (!URL.canParse(address)) throw refused('The address is not valid.');
  const url = new URL(address);
  if (url.username !== '' || url.password !== '') throw refused('The address holds a user name or password.');
  if (url.protocol !== 'https:') throw refused('The address of a document begins with https://.');
  let last = url;
  await reserve();
  try {
    const answer = await outgoing.send({
      url,
      method: 'GET',
      headers: {
        accept: 'application/json, application/yaml;q=0.9, */*;q=0.5',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': 'workflow-automation-service',
      },
      body: undefined,
      timeoutMs: WITHIN_MS,
      signal,
      consume: ({ status }) => (status < 300 ? (body) => buffer(body) : undefined),
      maxConsumedBytes: MAX_DOCUMENT_BYTES,
      authorize(request) {
        const { protocol, username, password } = request.url;
        if (protocol !== 'https:') throw new RefusedRedirectError('one that is not https');
        if (username !== '' || password !== '') throw new RefusedRedirectError('one with a user name or password');
        last = request.url;
        return request;
      },
    });
    if (answer.status >= 300) throw refused(`The server of the address answers with status ${answer.status}.`);
    return { bytes: answer.body, url: last.href };
  } catch (error) {
    signal.throwIfAborted();
    throw toRefusal(error);
  }
}

function toRefusal(error: unknown): unknown {
  if (error instanceof RefusedRedirectError) return refused(`The address redirects to ${error.message}.`);
  if (error instanceof ExpandedTooFarError) return refused(`The document is larger than ${MAX_DOCUMENT_BYTES} bytes.`);
  const code = causeCode(error);
  if (code === 'blocked_address') return refused('The address is not allowed: it is not public.');
  if (error instanceof OutgoingError) return refused(`The document could not be fetched: ${error.code}.`);
  if (/^[A-Z][A-Z0-9_]+$/.test(code)) return refused(`The document could not be fetched: ${code}.`);
  return addressOf(error) === undefined ? error : refused('The document could not be fetched.');
}

function refused(message: string): ApiError {
  return invalidFields({ openapi: [message] });
}
