// Checks arguments against the JSON Schema of a tool. The server of the tool has written the schema, and a hostile one can
// take for ever.
import { writeJson } from '../../graph/json-text.js';
import type { JsonObject } from '../../graph/json.js';
import { ThreadsBusyError, type Threads } from '../../threads/threads.js';
import { overloaded } from '../http/errors.js';

const CHECK_WITHIN_MS = 3_000;
/** Checks of a user that wait; whoever asks for more is told to come again. */
const MAX_WAITING = 8;

interface Checking {
  threads: Threads;
  /** The user who gives the arguments. */
  userId: number;
  signal: AbortSignal;
}

/**
 * Returns what is wrong with the arguments, as `/items/0/price must be number`; undefined where they fit. Throws a 503 when
 * too many of the user are being checked.
 */
export async function argumentsProblem(
  schema: JsonObject,
  given: JsonObject,
  { threads, userId, signal }: Checking,
): Promise<string | undefined> {
  const work = { kind: 'schema', schema: writeJson(schema), value: writeJson(given) } as const;
  const options = { owner: userId, signal, limitMs: CHECK_WITHIN_MS, maxWaiting: MAX_WAITING };
  const reply = await threads.run(work, options).catch((error: unknown) => {
    throw error instanceof ThreadsBusyError ? overloaded() : error;
  });
  return reply?.kind === 'checked' ? reply.problem : 'the schema of the tool cannot be used to check them';
}
