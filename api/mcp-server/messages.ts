// Reads and writes the messages of MCP, which are those of JSON-RPC 2.0. No schema of the official SDK is used here,
// because it would copy the arguments of tools and drop a key `__proto__`.
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import { RawJson } from '../http/json-text.js';
import type { RouteResult } from '../http/route.js';

export { ErrorCode };

export type RequestId = string | number;

/** Limits ids and progress tokens, because the ids of events contain them. */
const MAX_ID_CHARACTERS = 128;
export const idSchema = z.union([z.string().max(MAX_ID_CHARACTERS), z.int()]);

export interface Request {
  id: RequestId;
  method: string;
  params: JsonObject;
}

/** A message that expects no answer. `method` is undefined for a response of the client, which the server ignores. */
export interface Notification {
  id?: undefined;
  method: string | undefined;
  params: JsonObject;
}

export class ProtocolError extends Error {
  override name = 'ProtocolError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Throws `ProtocolError` for anything but a single message, and for an id that `idSchema` refuses. The protocol dropped
 * batches in 2025.
 */
export function readMessage(body: unknown): Request | Notification {
  if (Array.isArray(body)) throw invalidRequest('Send one message at a time: batches are not taken.');
  if (!isObject(body) || ownValue(body, 'jsonrpc') !== '2.0')
    throw invalidRequest('This is no message of JSON-RPC 2.0.');
  const [id, method, params] = [ownValue(body, 'id'), ownValue(body, 'method'), ownValue(body, 'params') ?? {}];
  if (!isObject(params)) throw invalidRequest('The params of a message are an object.');
  if (method === undefined && ('result' in body || 'error' in body)) return { method: undefined, params };
  if (typeof method !== 'string') throw invalidRequest('A message names its method.');
  if (id === undefined) return { method, params };
  const parsed = idSchema.safeParse(id);
  if (parsed.success) return { id: parsed.data, method, params };
  throw invalidRequest(`The id of a request is an integer, or a string of at most ${MAX_ID_CHARACTERS} characters.`);
}

function invalidRequest(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidRequest, message);
}

export function toResponse(id: RequestId, result: JsonObject): string {
  return writeJson({ jsonrpc: '2.0', id, result });
}

export function answerResult(id: RequestId, result: JsonObject, headers: Record<string, string> = {}): RouteResult {
  return { status: 200, body: new RawJson(toResponse(id, result)), headers };
}

/** `id` is null if no request could be read, which is a 400. The answer to a request is a 200, even for an error. */
export function answerError(id: RequestId | null, { code, message }: ProtocolError): RouteResult {
  const text = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  return { status: id === null ? 400 : 200, body: new RawJson(text) };
}
