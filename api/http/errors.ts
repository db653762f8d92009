// Constructs the errors that the service answers.
import type { TargetType } from '../../db/audit/subjects.js';

/** Maps each field to its messages, in the wording of Django REST Framework. */
export type FieldErrors = Record<string, string[]>;

/** The object that the caller may not use or see. The audit log records it even if the answer hides it. */
interface RefusedTarget {
  type: TargetType;
  id: number;
}

interface ApiErrorOptions {
  /** Logged if the status is 500 or above; never part of an answer. */
  cause?: unknown;
  /** Replaces the whole body of the answer; the chat proxy answers with the first field as its message. */
  fields?: FieldErrors;
  headers?: Record<string, string>;
  /** The wrong parameter, for the error shape of the chat proxy. */
  param?: string;
  /** The refused caller for the audit log, if authentication did not set one on the request. */
  caller?: { userId: number; keyId: number };
}

/** May be thrown anywhere below the `errors` middleware, which answers it. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly fields: FieldErrors | undefined;
  readonly headers: Record<string, string>;
  readonly param: string | null;
  refuses: RefusedTarget | undefined;
  readonly caller: ApiErrorOptions['caller'];

  constructor(status: number, code: string, publicMessage: string, options: ApiErrorOptions = {}) {
    super(publicMessage, { cause: options.cause });
    this.status = status;
    this.code = code;
    this.fields = options.fields;
    this.headers = options.headers ?? {};
    this.param = options.param ?? null;
    this.caller = options.caller;
  }

  toBody(): unknown {
    return this.fields ?? { detail: this.message, code: this.code };
  }
}

/** Makes the audit log record `error` as a refusal, whatever its status, if the route declares an audit rule. */
export function refusing(refuses: RefusedTarget, error: ApiError): ApiError {
  error.refuses = refuses;
  return error;
}

export function notFound(): ApiError {
  return new ApiError(404, 'not_found', 'Not found.');
}

export function orNotFound<T>(found: T | undefined): T {
  if (found === undefined) throw notFound();
  return found;
}

/** What the request concerns is over for good, for example the time to answer a callback. */
export function gone(message: string): ApiError {
  return new ApiError(410, 'gone', message);
}

export function permissionDenied(
  message = 'You do not have permission to perform this action.',
  headers: Record<string, string> = {},
): ApiError {
  return new ApiError(403, 'permission_denied', message, { headers });
}

export function foreignOrigin(): ApiError {
  return new ApiError(403, 'foreign_origin', 'This takes requests of pages of its own origin only.');
}

export function invalidFields(fields: FieldErrors): ApiError {
  return new ApiError(400, 'invalid', 'Invalid input.', { fields });
}

/** The body cannot be read; for one that should be JSON, see `jsonParseError`. */
export function parseError(message: string, cause?: unknown): ApiError {
  return new ApiError(400, 'parse_error', message, { cause });
}

/** `reason` begins with a small letter and ends with a full stop. */
export function jsonParseError(reason: string, cause?: unknown): ApiError {
  return parseError(`JSON parse error - ${reason}`, cause);
}

export function unsupportedMediaType(mediaType: string): ApiError {
  return new ApiError(415, 'unsupported_media_type', `Unsupported media type "${mediaType}" in request.`);
}

export function bodyTooLarge(limitBytes: number): ApiError {
  return new ApiError(413, 'body_too_large', `The request body exceeds ${limitBytes} bytes.`);
}

/** The project would store more than `MAX_PROJECT_BYTES`. */
export function quotaExceeded(): ApiError {
  return new ApiError(413, 'quota_exceeded', 'The project would store more bytes than it may.');
}

export function bodyTooSlow(): ApiError {
  return new ApiError(408, 'request_timeout', 'The request body came too slowly.', {
    headers: { Connection: 'close' },
  });
}

/** The caller may retry after `seconds`. */
export function throttled(seconds: number, headers: Record<string, string> = {}): ApiError {
  const message = `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  return new ApiError(429, 'throttled', message, { headers: { ...headers, 'Retry-After': String(seconds) } });
}

const RETRY_AFTER_SECONDS = 2;

/** The request exceeds the present capacity. */
export function overloaded(): ApiError {
  return new ApiError(503, 'overloaded', 'The service is busy. Please try again.', {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  });
}

const AWAY_RETRY_AFTER_SECONDS = 5;

/**
 * PostgreSQL or the store of files does not answer, or lacks disk space or another resource. If PostgreSQL does not
 * answer, the change may have been made all the same; in the other cases it has not been made.
 */
export function unavailable(cause?: unknown): ApiError {
  return new ApiError(503, 'unavailable', 'The storage of the service is not available at present. Please try again.', {
    cause,
    headers: { 'Retry-After': String(AWAY_RETRY_AFTER_SECONDS) },
  });
}
