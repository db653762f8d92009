// Checks arguments against the JSON Schema of a tool. The server of the tool has written the schema, and a hostile one can
// take for ever: it is checked in a thread of its own, which is ended when its time is over.
import { Worker } from 'node:worker_threads';
import { writeJson } from '../../graph/json-text.js';
import type { JsonObject } from '../../graph/json.js';
import { overloaded } from '../http/errors.js';

/** Both JSON text. */
export interface SchemaQuestion {
  schema: string;
  value: string;
}

/** `problem`: the first thing that does not fit. A schema that is not usable checks nothing. */
export type SchemaVerdict = { isUsable: true; problem: string | undefined } | { isUsable: false };

const CHECK_WITHIN_MS = 3_000;
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };
/** Threads of this process at once; whoever comes when all are taken is told to come again. */
const CHECKS_AT_ONCE = 4;

let running = 0;

/**
 * Returns what is wrong with the arguments, as `/items/0/price must be number`; undefined where they fit. Throws a 503 when
 * too many are being checked.
 */
export async function argumentsProblem(schema: JsonObject, given: JsonObject): Promise<string | undefined> {
  if (running >= CHECKS_AT_ONCE) throw overloaded();
  running += 1;
  try {
    const verdict = await ask({ schema: writeJson(schema), value: writeJson(given) });
    return verdict.isUsable ? verdict.problem : 'the schema of the tool cannot be used to check them';
  } finally {
    running -= 1;
  }
}

async function ask(question: SchemaQuestion): Promise<SchemaVerdict> {
  const thread = new Worker(new URL('schema-thread.js', import.meta.url), {
    workerData: question,
    resourceLimits: LIMITS,
    env: {},
    execArgv: [],
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve) => {
      const giveUp = (): void => resolve({ isUsable: false });
      thread.once('message', resolve);
      // Too much memory, most likely.
      thread.once('error', giveUp);
      thread.once('exit', giveUp);
      timer = setTimeout(giveUp, CHECK_WITHIN_MS);
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}
