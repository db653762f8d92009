import { pino, type Logger } from 'pino';
import { activeTraceIds } from './spans.js';

export type { Logger };

/** JSON lines on standard output. Nothing that may hold a credential is logged; the redaction is the second fence. */
export function createLogger(name: string, level: string, { isTracing = false } = {}): Logger {
  return pino({
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: toLoggableError },
    // Which span the line belongs to.
    ...(isTracing ? { mixin: () => activeTraceIds() ?? {} } : {}),
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['*.authorization', '*.cookie', '*["x-api-key"]', 'headers', '*.headers', 'input', 'body', 'api_key'],
      censor: '********',
    },
  });
}

/** Name, code, message and stack only: a database error also carries the row that it choked on. */
function toLoggableError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as Error & { code?: unknown };
  const facts = { type: error.name, code, message: error.message, stack: error.stack };
  return error.cause === undefined ? facts : { ...facts, cause: toLoggableError(error.cause) };
}
