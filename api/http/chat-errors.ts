// Converts errors to the shape of chat completions (docs/use/interface-notes/proxy.md).
import { z } from 'zod';
import type { ApiError } from './errors.js';

export const chatErrorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
    }),
  })
  .meta({ id: 'ChatError' });

type ChatError = z.infer<typeof chatErrorSchema>;

/**
 * Errors of the service on paths below `/v1/` have the shape of chat completions, also 404 and 405, except those that
 * client-error.ts answers.
 */
export function isChatPath(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/');
}

const CODES: Partial<Record<string, string>> = {
  not_authenticated: 'invalid_api_key',
  authentication_failed: 'invalid_api_key',
  throttled: 'rate_limit_exceeded',
};

export function toChatError(error: ApiError): ChatError {
  const wrong = Object.entries(error.fields ?? {})[0];
  if (wrong !== undefined) {
    const [field, sentences] = wrong;
    const isWhole = field === 'non_field_errors';
    const message = isWhole ? sentences.join(' ') : `Invalid '${field}': ${sentences.join(' ')}`;
    return toBody(error.status, message, { param: isWhole ? null : field, code: null });
  }
  return toBody(error.status, error.message, { param: error.param, code: CODES[error.code] ?? error.code });
}

function toBody(status: number, message: string, rest: { param: string | null; code: string | null }): ChatError {
  return { error: { message, type: typeOf(status), ...rest } };
}

function typeOf(status: number): string {
  if (status === 402) return 'insufficient_quota';
  if (status === 429) return 'rate_limit_error';
  if (status === 403) return 'permission_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
