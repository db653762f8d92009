// Checks arguments against the JSON Schema of a tool. The server of the tool has written the schema, and a hostile one can
// take for ever.
import { writeJson } from '../../graph/json-text.js';
import type { JsonObject } from '../../graph/json.js';
import { ProcessesBusyError, type Processes } from '../../processes/processes.js';
import { overloaded } from '../http/errors.js';

const CHECK_WITHIN_MS = 3_000;
/** Checks of a user that wait; whoever asks for more is told to come again. */
const MAX_WAITING = 8;

interface Checking {
  processes: Processes;
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
  { processes, userId, signal }: Checking,
): Promise<string | undefined> {
  const work = { kind: 'schema', schema: writeJson(schema), value: writeJson(given) } as const;
  const options = { owner: userId, signal, limitMs: CHECK_WITHIN_MS, maxWaiting: MAX_WAITING };
  const reply = await processes.run(work, options).catch((error: unknown) => {
    throw error instanceof ProcessesBusyError ? overloaded() : error;
  });
  return reply?.kind === 'checked' ? reply.problem : 'the schema of the tool cannot be used to check them';
}
