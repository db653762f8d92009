// Decrypts and encrypts payloads with TEMPORAL_PAYLOAD_KEY, for Temporal's UI and CLI (docs/operate/security.md).
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { PayloadCodec } from '@temporalio/common';
import getRawBody from 'raw-body';
import { PayloadKeyError } from '../../config/payload-encryption.js';
import { parsePayloads, toBody } from './protocol.js';

interface CodecServerOptions {
  codec: PayloadCodec;
  /** The bearer of this token can read all encrypted payloads. */
  token: string;
  /** The origin of the Temporal UI, the only pages that may read the responses; undefined admits no page. */
  allowedOrigin: string | undefined;
  /** Receives internal errors, which never contain payloads. */
  onError: (error: unknown) => void;
}

/** Far above a page of history, which has up to 4 MiB; base64 and JSON add a third. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;

class Refusal extends Error {
  override name = 'Refusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function createCodecServer(options: CodecServerOptions): Server {
  const server = createServer((request, response) => {
    void answer(request, response, options);
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  return server;
}

async function answer(request: IncomingMessage, response: ServerResponse, options: CodecServerOptions): Promise<void> {
  try {
    allowOrigin(request, response, options.allowedOrigin);
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    const body = await handle(request, options);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  } catch (error) {
    refuse(response, error, options.onError);
  }
}

/** Refuses requests of other pages before processing them: a browser would only hide the finished response. */
function allowOrigin({ headers }: IncomingMessage, response: ServerResponse, allowed: string | undefined): void {
  const { origin } = headers;
  if (origin === undefined) return;
  response.setHeader('vary', 'Origin');
  if (origin !== allowed) throw new Refusal(403, 'origin_refused', 'Requests from this origin are not answered.');
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-allow-methods', 'POST');
  response.setHeader('access-control-allow-headers', 'authorization, content-type, x-namespace');
  response.setHeader('access-control-allow-credentials', 'true');
}

async function handle(request: IncomingMessage, { codec, token }: CodecServerOptions): Promise<string> {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const step = /\/(encode|decode)\/?$/.exec(path)?.[1];
  if (step === undefined) throw new Refusal(404, 'not_found', 'There are /encode and /decode.');
  if (request.method !== 'POST') throw new Refusal(405, 'method_not_allowed', 'Only POST is answered.');
  checkToken(request.headers.authorization, token);
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Refusal(415, 'unsupported_media_type', 'The body must be application/json.');
  }
  const payloads = parsePayloads(await readBody(request));
  if (payloads === undefined) {
    throw new Refusal(400, 'invalid_body', 'The body must be {"payloads": [...]}, with bytes in base64.');
  }
  return toBody(await codec[step as 'encode' | 'decode'](payloads));
}

/** Compares hashes, because the constant-time comparison needs equal lengths. */
function checkToken(authorization: string | undefined, token: string): void {
  const presented = /^bearer +(.*)$/i.exec(authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(sha256(presented), sha256(token))) {
    throw new Refusal(401, 'authentication_failed', 'The bearer token is missing or wrong.');
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  try {
    return await getRawBody(request, {
      limit: MAX_BODY_BYTES,
      length: request.headers['content-length'] ?? null,
      encoding: 'utf8',
    });
  } catch (error) {
    if ((error as { type?: unknown }).type === 'entity.too.large') {
      throw new Refusal(413, 'body_too_large', `The request body exceeds ${MAX_BODY_BYTES} bytes.`);
    }
    throw new Refusal(400, 'invalid_body', 'The body broke off.');
  }
}

function refuse(response: ServerResponse, error: unknown, onError: (error: unknown) => void): void {
  const refusal = toRefusal(error);
  if (refusal.status >= 500) onError(error);
  // The rest of the request is not read, so the connection cannot be reused.
  response.writeHead(refusal.status, {
    'content-type': 'application/json',
    connection: 'close',
    ...(refusal.status === 401 ? { 'www-authenticate': 'Bearer realm="codec"' } : {}),
    ...(refusal.status === 405 ? { allow: 'POST, OPTIONS' } : {}),
  });
  response.end(JSON.stringify({ detail: refusal.message, code: refusal.code }));
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof PayloadKeyError) return new Refusal(400, 'payload_unreadable', error.message);
  return new Refusal(500, 'error', 'A server error occurred.');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
