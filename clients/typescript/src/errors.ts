// What the service answers when it cannot do what was asked, as errors to catch.
import type { components } from './openapi.js';

type Envelope = components['schemas']['RunEnvelope'];

/** An answer with status 400 or above. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly status: number;
  /** A stable machine word such as `not_found` or `throttled`; `invalid` where the body names fields instead. */
  readonly code: string;
  /** A sentence for people; empty where the body holds none. */
  readonly detail: string;
  /** Sentences by field, where the body names fields. */
  readonly fields: Record<string, string[]> | undefined;
  /** Names the request in the service's logs. */
  readonly requestId: string | undefined;
  /** What the service asked to wait before the next try. */
  readonly retryAfterMs: number | undefined;
  readonly body: unknown;

  constructor(response: Response, body: unknown) {
    const { code, detail, fields } = readBody(body);
    super(`${response.status} ${code}: ${detail}`);
    this.status = response.status;
    this.code = code;
    this.detail = fields === undefined ? detail : '';
    this.fields = fields;
    this.requestId = response.headers.get('x-request-id') ?? undefined;
    this.retryAfterMs = readRetryAfter(response.headers);
    this.body = body;
  }
}

/** The drawing or its input is not valid: the run was not started. The HTTP status of such an answer is 200. */
export class RunRefusedError extends Error {
  override name = 'RunRefusedError';
  /** 400: the drawing's structure. 422: fields of its nodes. */
  readonly status: number;
  /** Of a 422: what is wrong, by node; field path -> sentence. */
  readonly nodeErrors: Record<string, Record<string, string>[]>;
  readonly envelope: Envelope;

  constructor(envelope: Envelope) {
    const nodeErrors = readNodeErrors(envelope);
    super(envelope.data.detail ?? `The workflow or its input is not valid: ${JSON.stringify(nodeErrors)}`);
    this.status = envelope.status;
    this.nodeErrors = nodeErrors;
    this.envelope = envelope;
  }
}

/** The run goes on; `waitForRun` with the same id waits for it again. */
export class RunTimeoutError extends Error {
  override name = 'RunTimeoutError';
  readonly runId: string;

  constructor(runId: string, waitedMs: number) {
    super(`The run ${runId} has not ended within ${waitedMs} ms.`);
    this.runId = runId;
  }
}

/** There is no such run, or its results have expired. */
export class RunNotFoundError extends Error {
  override name = 'RunNotFoundError';
  readonly runId: string;

  constructor(runId: string) {
    super(`The service has no results of a run ${runId}.`);
    this.runId = runId;
  }
}

/** Milliseconds from now, of the header's seconds or date. */
export function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * `{detail, code}`, `{field: [sentence]}`, or `{error: {message, code}}` of the chat proxy. A proxy on the way may send
 * anything.
 */
function readBody(body: unknown): { code: string; detail: string; fields: Record<string, string[]> | undefined } {
  const known = isObject(body) && isObject(body['error']) ? body['error'] : body;
  if (!isObject(known)) return { code: 'unknown', detail: typeof body === 'string' ? body : '', fields: undefined };
  const detail = known['detail'] ?? known['message'];
  const code = known['code'] ?? known['type'];
  if (typeof detail === 'string') {
    return { code: typeof code === 'string' ? code : 'unknown', detail, fields: undefined };
  }
  const fields = Object.fromEntries(Object.entries(known).filter(([, sentences]) => Array.isArray(sentences)));
  return { code: 'invalid', detail: JSON.stringify(fields), fields: fields as Record<string, string[]> };
}

function readNodeErrors({ data }: Envelope): RunRefusedError['nodeErrors'] {
  const nodes = Object.values(data.data ?? {}).filter(({ result }) => Array.isArray(result));
  return Object.fromEntries(nodes.map(({ id, result }) => [id, result as Record<string, string>[]]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
