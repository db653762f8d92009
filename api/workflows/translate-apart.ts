// Files of n8n are translated in a process of their own, because a large one takes longer than others can wait.
import type { JsonObject } from '../../graph/json.js';
import type { TranslatedFile } from '../../n8n/translate-n8n.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { ProcessesBusyError, type Processes } from '../../processes/processes.js';
import { overloaded } from '../http/errors.js';
import { tooLargeToTranslate, translateHere } from './import-body.js';

/** The translation of a smaller file takes less time than handing it over. */
const SMALL_CHARACTERS = 64 * 1024;
const WITHIN_MS = 60_000;
/** The imports of a user that may wait for their turn. */
const MAX_WAITING = 16;
/** Bytes of memory that file and drawing take here and in the process, for each character of the file's text. */
const COPIES = 12;

interface Importing {
  processes: Processes;
  userId: number;
  memory: ByteLease;
  signal: AbortSignal;
}

/** Throws the 400 for a file that becomes too large, and a 503 when too many files of the user are being translated. */
export async function translateApart(
  file: JsonObject,
  { processes, userId, memory, signal }: Importing,
): Promise<TranslatedFile> {
  const text = JSON.stringify(file);
  if (text.length <= SMALL_CHARACTERS) return translateHere(file);
  await memory.resize(memory.bytes + COPIES * text.length);
  const options = { owner: userId, signal, limitMs: WITHIN_MS, maxWaiting: MAX_WAITING };
  const reply = await processes.run({ kind: 'n8n', file: text }, options).catch((error: unknown) => {
    throw error instanceof ProcessesBusyError ? overloaded() : error;
  });
  if (reply?.kind === 'text') return JSON.parse(reply.text) as TranslatedFile;
  throw tooLargeToTranslate(reply?.kind === 'failed' ? reply.message : 'The file takes too long to be translated.');
}
