// Builds the messages of a model call with their files, as the call would send them, to estimate its tokens.
import { buffer } from 'node:stream/consumers';
import type { ResolvedModel } from '../../config/model-providers.js';
import { findFiles, type StoredFile } from '../../db/files/files-repository.js';
import { fileKindOf } from '../../files/file-kind.js';
import { MissingBytesError } from '../../files/file-store.js';
import { fileIdOf, MAX_MODEL_FILE_BYTES, MAX_MODEL_FILES, namedFiles } from '../../graph/file-values.js';
import type { JsonObject } from '../../graph/json.js';
import { renderJson, renderText, type VariableValues } from '../../graph/template.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { textOfBytes } from '../../outgoing/text-of-bytes.js';
import { ProcessesBusyError } from '../../processes/processes.js';
import type { TestDeps } from './deps.js';

/**
 * The content that the call would send is unknown: a file is missing, unreadable or too large, there are too many
 * files, the model does not accept a file, or too much work of the user already waits for a process that reads files.
 */
export class UnknownFileError extends Error {
  override name = 'UnknownFileError';
}

interface Reading {
  projectId: number;
  userId: number;
  model: ResolvedModel;
  values: VariableValues;
  memory: ByteLease;
  signal: AbortSignal;
}

/** Bytes of memory per byte of a file: as it is read, and in base64 or as text. */
const HELD_FACTOR = 4;
const READ_WITHIN_MS = 30_000;
const MAX_WAITING = 8;

type Deps = Pick<TestDeps, 'db' | 'files' | 'processes'>;

/** Returns the messages of one call; the limit on files applies to all of them together. Throws `UnknownFileError`. */
export async function toMessages(deps: Deps, drawn: readonly JsonObject[], reading: Reading): Promise<JsonObject[]> {
  const { projectId, values, memory } = reading;
  const made: JsonObject[] = [];
  const [stored, sent] = [createSum(), createSum()];
  let count = 0;
  for (const { role, message, files } of drawn) {
    const text = typeof message === 'string' ? renderText(message, values) : '';
    const named = namedFiles(renderJson(files ?? null, values));
    count += named.length;
    const ids = named.flatMap((value) => fileIdOf(value) ?? []);
    if (ids.length < named.length || count > MAX_MODEL_FILES) throw new UnknownFileError();
    const found = new Map((await findFiles(deps.db, projectId, ids)).map((file) => [file.id, file]));
    const parts: JsonObject[] = [{ type: 'text', text }];
    for (const id of ids) {
      const file = found.get(id);
      if (file === undefined) throw new UnknownFileError();
      stored.add(file.size);
      await memory.resize(memory.bytes + HELD_FACTOR * file.size);
      const part = await toPart(deps, file, reading);
      const { text: partText } = part;
      sent.add(typeof partText === 'string' ? Buffer.byteLength(partText) : file.size);
      parts.push(part);
    }
    const isText = parts.every(({ type }) => type === 'text');
    made.push({ role, content: isText ? parts.map((part) => part['text']).join('\n\n') : parts });
  }
  return made;
}

/** A document may have much more text than bytes, so the bytes read and the bytes sent are each limited. */
function createSum(): { add: (bytes: number) => void } {
  let sum = 0;
  return {
    add(bytes) {
      sum += bytes;
      if (sum > MAX_MODEL_FILE_BYTES) throw new UnknownFileError();
    },
  };
}

async function toPart(deps: Deps, file: StoredFile, { model: { accepts }, ...reading }: Reading): Promise<JsonObject> {
  const { name } = file;
  const bytes = await read(deps, file, reading.signal);
  const found = fileKindOf(bytes);
  if (found.kind === 'image' && accepts.includes('image')) return { type: 'image_url' };
  if (found.kind === 'audio' && accepts.includes('audio')) {
    return { type: 'input_audio', input_audio: { data: bytes.toString('base64'), format: found.format } };
  }
  if (found.kind === 'pdf' && accepts.includes('pdf')) {
    return {
      type: 'file',
      file: { filename: name, file_data: `data:application/pdf;base64,${bytes.toString('base64')}` },
    };
  }
  if (found.kind === 'image' || found.kind === 'audio' || found.kind === 'old_office') throw new UnknownFileError();
  const text =
    found.kind === 'other'
      ? await plainTextOf(bytes, file.type)
      : await textOf(deps, { kind: 'document', format: found.kind, bytes }, reading);
  return { type: 'text', text: `${name}:\n${text}` };
}

async function plainTextOf(bytes: Buffer, type: string): Promise<string> {
  const { text, isExact } = await textOfBytes(bytes, type);
  if (!isExact || text.includes('\0')) throw new UnknownFileError();
  return text;
}

async function read({ files }: Deps, file: StoredFile, signal: AbortSignal): Promise<Buffer> {
  const stream = await files.read(file, undefined, signal).catch((error: unknown) => {
    throw error instanceof MissingBytesError ? new UnknownFileError() : error;
  });
  return buffer(stream);
}

async function textOf(
  { processes }: Deps,
  work: Parameters<Deps['processes']['run']>[0],
  { userId: owner, signal }: Pick<Reading, 'userId' | 'signal'>,
): Promise<string> {
  const options = { owner, signal, limitMs: READ_WITHIN_MS, maxWaiting: MAX_WAITING };
  const reply = await processes.run(work, options).catch((error: unknown) => {
    throw error instanceof ProcessesBusyError ? new UnknownFileError() : error;
  });
  if (reply?.kind !== 'text') throw new UnknownFileError();
  return reply.text;
}
