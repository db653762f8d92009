// Uploads files. `fetch` reports no upload progress, so this uses XMLHttpRequest, which streams the file from disk.
import { ServiceError } from '../../clients/typescript/src/index.js';
import type { FileValue } from './file-value.js';
import { tokens } from './session.js';

interface Sending {
  projectId: number;
  file: File;
  signal: AbortSignal;
  /** Called with the sent fraction, from 0 to 1. */
  onProgress: (part: number) => void;
}

interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Rejects like calls of `api`: with a ServiceError, or with a TypeError if the service cannot be reached. */
export async function uploadFile(sending: Sending): Promise<FileValue> {
  const token = await tokens.current();
  let answer = await send(sending, token);
  if (answer.status === 401 && token !== undefined) {
    const renewed = await tokens.renew(token);
    if (renewed !== undefined) answer = await send(sending, renewed);
  }
  const { status, headers, body } = answer;
  if (status !== 201) throw new ServiceError(new Response(null, { status, headers }), body);
  return body as FileValue;
}

async function send({ projectId, file, signal, onProgress }: Sending, token: string | undefined): Promise<Answer> {
  // If the upload was aborted while the token was being fetched, the listener below would never be called.
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = (): void => request.abort();
    request.open('POST', `/api/v1/projects/${projectId}/files/`);
    if (token !== undefined) request.setRequestHeader('Authorization', `Bearer ${token}`);
    request.setRequestHeader('Content-Type', typeOf(file));
    request.setRequestHeader('X-File-Name', encodeURIComponent(file.name.replace(/\p{Cs}/gu, '\ufffd')));
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total));
    request.addEventListener('load', () => {
      resolve({
        status: request.status,
        headers: new Headers({ 'x-request-id': request.getResponseHeader('x-request-id') ?? '' }),
        body: parse(request.responseText),
      });
    });
    request.addEventListener('error', () => reject(new TypeError('The upload has lost its connection.')));
    request.addEventListener('abort', () => reject(signal.reason as Error));
    request.addEventListener('loadend', () => signal.removeEventListener('abort', stop));
    signal.addEventListener('abort', stop);
    request.send(file);
  });
}

/**
 * The body is the raw file, so a file of a multipart type is sent as unknown bytes, lest the service
 * parse it as a form.
 */
function typeOf({ type }: File): string {
  return type === '' || /^multipart\//i.test(type) ? 'application/octet-stream' : type;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
