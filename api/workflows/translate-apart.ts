// Translates files of n8n in a separate process, because a large one would delay other requests for too long.
import type { JsonObject } from '../../graph/json.js';
import type { TranslatedFile } from '../../n8n/translate-n8n.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { ProcessesBusyError, type Processes } from '../../processes/processes.js';
import { overloaded } from '../http/errors.js';
import { tooLargeToTranslate, translateHere } from './import-body.js';

/** The translation of a smaller file takes less time than sending it to the process. */
const SMALL_CHARACTERS = 64 * 1024;
const WITHIN_MS = 60_000;
/** An import is refused if this much work of its user waits for the processes. */
const MAX_WAITING = 16;
/** Bytes of memory per character of the file's text, for file and drawing here and in the process. */
const COPIES = 12;

interface Importing {
  processes: Processes;
  userId: number;
  memory: ByteLease;
  signal: AbortSignal;
  /** Does `work` in the queue for large work, because writing or parsing a large text takes long. */
  inTurn: <T>(work: () => T) => Promise<T>;
}

/**
 * Throws 400 for a file whose translation is too large, or takes too long or too much memory, and 503 if too much work
 * of the user waits or no process can be started.
 */
export async function translateApart(
  file: JsonObject,
  { processes, userId, memory, signal, inTurn }: Importing,
): Promise<TranslatedFile> {
  const text = await inTurn(() => JSON.stringify(file));
  if (text.length <= SMALL_CHARACTERS) return translateHere(file);
  await memory.resize(memory.bytes + COPIES * text.length);
  const options = { owner: userId, signal, limitMs: WITHIN_MS, maxWaiting: MAX_WAITING };
  const reply = await processes.run({ kind: 'n8n', file: text }, options).catch((error: unknown) => {
    throw error instanceof ProcessesBusyError ? overloaded() : error;
  });
  if (reply?.kind === 'text') return inTurn(() => JSON.parse(reply.text) as TranslatedFile);
  throw tooLargeToTranslate(reply?.kind === 'failed' ? reply.message : 'The file takes too long to be translated.');
}
