// The rules that every answer must follow, whatever the request was.
import { request, type Agent, type IncomingHttpHeaders } from 'node:http';
import type { FuzzRequest } from './requests.js';

interface FuzzAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

const TIMEOUT_MS = 20_000;
/** Texts that reveal the implementation: stack traces, SQL, and messages of PostgreSQL and JavaScript. */
const INNARDS =
  /\bat .{1,200}\.[jt]s:\d+|node_modules|\b(?:SELECT|INSERT INTO|UPDATE) .{1,200}(?:FROM|VALUES|SET)|syntax error|violates|TypeError|RangeError/;

/** Sends the request. Returns a description of what is wrong with the answer, or undefined. */
export async function complaint(apiUrl: string, agent: Agent, sent: FuzzRequest): Promise<string | undefined> {
  try {
    return judge(sent, await send(apiUrl, agent, sent));
  } catch (error) {
    return `no answer: ${String(error)}`;
  }
}

function send(apiUrl: string, agent: Agent, { method, target, headers, body }: FuzzRequest): Promise<FuzzAnswer> {
  const { hostname, port } = new URL(apiUrl);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, method, path: target, agent, headers: { ...headers, 'content-length': body?.length ?? 0 } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error(`nothing within ${TIMEOUT_MS} ms`)));
    outgoing.on('error', reject).end(body);
  });
}

function judge({ method, target }: FuzzRequest, { status, headers, text }: FuzzAnswer): string | undefined {
  // On a busy machine the readiness checks of the other services may take too long.
  const isUnready = status === 503 && target.startsWith('/readyz');
  if (status >= 500 && !isUnready) return `${status}: ${text.slice(0, 500)}`;
  if (headers['x-request-id'] === undefined) return `${status} without X-Request-Id`;
  if (method === 'HEAD' || status === 204) return text === '' ? undefined : `${status} with a body`;
  const isJson = headers['content-type']?.startsWith('application/json') ?? false;
  if (status < 400 || isUnready) return isJson && parse(text) === undefined ? `${status} that is no JSON` : undefined;
  if (INNARDS.test(text)) return `${status} tells of innards: ${text.slice(0, 500)}`;
  if (!isJson || !isError(target, parse(text))) return `${status} in no documented shape: ${text.slice(0, 500)}`;
  return undefined;
}

function isError(target: string, body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  if (/^\/v1(?:[/?]|$)/.test(target) && 'error' in body) return isChatError(body.error);
  if (/^\/mcp(?:[/?]|$)/.test(target) && 'error' in body) return isProtocolError(body.error);
  if ('detail' in body) return typeof body.detail === 'string' && 'code' in body && typeof body.code === 'string';
  const fields: unknown[] = Object.values(body);
  return fields.length > 0 && fields.every((sentences) => Array.isArray(sentences) && sentences.every(isText));
}

function isChatError(error: unknown): boolean {
  const { message, type, param, code } = (error ?? {}) as Record<string, unknown>;
  return isText(message) && isText(type) && [param, code].every((value) => value === null || isText(value));
}

/** Returns true for an error of JSON-RPC. */
function isProtocolError(error: unknown): boolean {
  const { code, message } = (error ?? {}) as Record<string, unknown>;
  return Number.isInteger(code) && isText(message);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
