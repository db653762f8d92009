import { pino, type Logger, type LoggerOptions } from 'pino';
import { activeTraceIds } from './spans.js';

export type { Logger };

/** These fields are redacted in the logged object and one level below. */
const CREDENTIALS = ['authorization', 'cookie', 'headers', 'password', 'token', 'access_token'];

/** Writes JSON lines to standard output. Callers must not log credentials; the redaction is a second safeguard. */
export function createLogger(name: string, level: string, { isTracing = false } = {}): Logger {
  const options: LoggerOptions = {
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: toLoggableError },
    // Adds the ids of the active span.
    ...(isTracing ? { mixin: () => activeTraceIds() ?? {} } : {}),
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: [
        ...CREDENTIALS.flatMap((key) => [key, `*.${key}`]),
        '*["x-api-key"]',
        '*["set-cookie"]',
        'input',
        'body',
        'api_key',
      ],
      censor: '********',
    },
  };
  // Writes are synchronous. Handing a line to the thread pool costs several times as much as the write, and a buffered
  // line is lost when the process dies.
  return pino(options, pino.destination({ dest: 1, sync: true }));
}

/**
 * Logs only name, code, message and stack of an error and of its causes, because a database error also contains the row
 * that caused it.
 */
function toLoggableError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as Error & { code?: unknown };
  const facts = { type: error.name, code, message: error.message, stack: error.stack };
  return error.cause === undefined ? facts : { ...facts, cause: toLoggableError(error.cause) };
}
