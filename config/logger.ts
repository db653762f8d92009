import { pino, type Logger, type LoggerOptions } from 'pino';
import { activeTraceIds } from './spans.js';

export type { Logger };

/** JSON lines on standard output. Nothing that may hold a credential is logged; the redaction is the second fence. */
export function createLogger(name: string, level: string, { isTracing = false } = {}): Logger {
  const options: LoggerOptions = {
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
  };
  // Written at once: a line that waits for a thread of the pool costs several times what the write does, and one that
  // waits in memory dies with the process that it tells of.
  return pino(options, pino.destination({ dest: 1, sync: true }));
}

/** Name, code, message and stack only: a database error also carries the row that it choked on. */
function toLoggableError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as Error & { code?: unknown };
  const facts = { type: error.name, code, message: error.message, stack: error.stack };
  return error.cause === undefined ? facts : { ...facts, cause: toLoggableError(error.cause) };
}
