// Error responses of the service as exceptions.
import type { components } from './openapi.js';

type Envelope = components['schemas']['RunEnvelope'];

/** A response with status 400 or above. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly status: number;
  /** Stable code such as `not_found` or `throttled`; `invalid` if the body has errors by field. */
  readonly code: string;
  /** Sentence for people; empty if the body has none. */
  readonly detail: string;
  /** Sentences by field, if the body has errors by field. */
  readonly fields: Record<string, string[]> | undefined;
  /** Identifies the request in the service's logs. */
  readonly requestId: string | undefined;
  /** Delay requested by the service's `Retry-After`, in milliseconds. */
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

/** The drawing or its input is invalid, so the run was not started. The HTTP status of such a response is 200. */
export class RunRefusedError extends Error {
  override name = 'RunRefusedError';
  /** 400: the structure of the drawing is invalid. 422: fields of its nodes are invalid. */
  readonly status: number;
  /** For a 422: sentences by node id and field path. */
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

/** The run continues; call `waitForRun` with the same id to wait again. */
export class RunTimeoutError extends Error {
  override name = 'RunTimeoutError';
  readonly runId: string;

  constructor(runId: string, waitedMs: number) {
    super(`The run ${runId} has not ended within ${waitedMs} ms.`);
    this.runId = runId;
  }
}

/** The run does not exist, or its results have expired. */
export class RunNotFoundError extends Error {
  override name = 'RunNotFoundError';
  readonly runId: string;

  constructor(runId: string) {
    super(`The service has no results of a run ${runId}.`);
    this.runId = runId;
  }
}

/** A single event of a run is larger than `maxEventCharacters`. The results are in the polls of the run, too. */
export class EventTooLargeError extends Error {
  override name = 'EventTooLargeError';

  constructor(maxCharacters: number) {
    super(`An event of the run is larger than ${maxCharacters} characters.`);
  }
}

/** Parses `Retry-After`, seconds or date, to milliseconds from now. */
export function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * Known bodies: `{detail, code}`, `{field: [sentence]}`, and `{error: {message, code}}` of the chat proxy. Proxies may
 * send anything else.
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
