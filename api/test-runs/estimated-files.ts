// Weighs the files of model calls: what each adds to the request that a call would send, to estimate its tokens.
import { buffer } from 'node:stream/consumers';
import { weighFiles } from '../../config/file-tokens.js';
import type { ResolvedModel } from '../../config/model-providers.js';
import { findFiles, type StoredFile } from '../../db/files/files-repository.js';
import { fileKindOf } from '../../files/file-kind.js';
import { MissingBytesError } from '../../files/file-store.js';
import { fileIdOf, MAX_MODEL_FILE_BYTES, MAX_MODEL_FILES, namedFiles } from '../../graph/file-values.js';
import type { JsonObject } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import { renderJson, type VariableValues } from '../../graph/template.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { textOfBytes } from '../../outgoing/text-of-bytes.js';
import { ProcessesBusyError } from '../../processes/processes.js';
import { endTurn, type InTurn } from '../http/heavy-work.js';
import type { TestDeps } from './deps.js';

/**
 * The content that the call would send is unknown: a value is no file, a file is missing or unreadable, the files are
 * too many or too large together, the model does not accept a file, or too much work of the user already waits for a
 * process that reads files.
 */
export class UnknownFileError extends Error {
  override name = 'UnknownFileError';
}

export interface Reading {
  projectId: number;
  userId: number;
  memory: ByteLease;
  inTurn: InTurn;
  signal: AbortSignal;
}

/** What remains of a file once it is read. */
export interface WeighedFile {
  /** The file's part of a message, without its bytes or its text. */
  part: JsonObject;
  /** The characters of its text in JSON; 0 if its bytes are sent. */
  characters: number;
  /** The tokens of its bytes; 0 if its text is sent. */
  tokens: number;
  sentBytes: number;
}

/** Bytes of memory per byte of a file: as it is read, and in base64 or as text. */
const HELD_FACTOR = 4;
const READ_WITHIN_MS = 30_000;
const MAX_WAITING = 8;

type Deps = Pick<TestDeps, 'db' | 'files' | 'documentProcesses'>;

/**
 * Returns the ids of the files of each message of a call. Throws `UnknownFileError` if a value is no file, or if the
 * call has more than `MAX_MODEL_FILES` files.
 */
export function namedFileIds(drawn: readonly JsonObject[], values: VariableValues): string[][] {
  const named = drawn.map(({ files }) => namedFiles(renderJson(files ?? null, values)));
  const ids = named.map((list) => list.flatMap((value) => fileIdOf(value) ?? []));
  if (ids.flat().length < named.flat().length || ids.flat().length > MAX_MODEL_FILES) throw new UnknownFileError();
  return ids;
}

/**
 * Returns a function that weighs the files of one call by the ids that `namedFileIds` returns. The function throws
 * `UnknownFileError`. A file that several calls name is read once for all models that accept the same kinds of files.
 * Only one file is in memory at a time. The first reading ends the turn of the calling work in the queue for large work
 * (`endTurn`), because the store of files and the processes that read documents may be slow.
 */
export function createWeighing(deps: Deps, reading: Reading) {
  const weighed = new Map<string, Promise<WeighedFile>>();

  function weighOnce(file: StoredFile, { accepts }: ResolvedModel): Promise<WeighedFile> {
    const key = [file.id, ...accepts].join();
    const found = weighed.get(key) ?? inMemory(file, reading.memory, () => weigh(deps, file, accepts, reading));
    weighed.set(key, found);
    return found;
  }

  return async (ids: readonly string[][], model: ResolvedModel): Promise<WeighedFile[][]> => {
    if (ids.flat().length === 0) return ids.map(() => []);
    const found = new Map((await findFiles(deps.db, reading.projectId, ids.flat())).map((file) => [file.id, file]));
    const files = ids.map((ofMessage) =>
      ofMessage.map((id) => {
        const file = found.get(id);
        if (file === undefined) throw new UnknownFileError();
        return file;
      }),
    );
    // A document may have much more text than bytes, so the bytes read and the bytes sent are each limited.
    limitBytes(files.flat().map(({ size }) => size));
    const made: WeighedFile[][] = [];
    for (const ofMessage of files) {
      const ofThis: WeighedFile[] = [];
      made.push(ofThis);
      for (const file of ofMessage) {
        ofThis.push(await weighOnce(file, model));
        limitBytes(made.flat().map(({ sentBytes }) => sentBytes));
      }
    }
    return made;
  };
}

/**
 * Returns the characters that the files of a message add to its JSON. The content of a message without files is a text;
 * files may turn it into a list of parts.
 */
export function charactersAddedBy(files: readonly WeighedFile[]): number {
  const parts = [{ type: 'text', text: '' }, ...files.map(({ part }) => part)];
  const isText = parts.every(({ type }) => type === 'text');
  const content = isText ? parts.map((part) => part['text']).join('\n\n') : parts;
  const frame = writeJson(content).length - writeJson('').length;
  return files.reduce((sum, { characters }) => sum + characters, frame);
}

function limitBytes(sizes: readonly number[]): void {
  if (sizes.reduce((sum, size) => sum + size, 0) > MAX_MODEL_FILE_BYTES) throw new UnknownFileError();
}

async function inMemory<T>(file: StoredFile, memory: ByteLease, work: () => Promise<T>): Promise<T> {
  const before = memory.bytes;
  try {
    await memory.resize(before + HELD_FACTOR * file.size);
    return await work();
  } finally {
    await memory.resize(before);
  }
}

async function weigh(
  deps: Deps,
  file: StoredFile,
  accepts: ResolvedModel['accepts'],
  reading: Reading,
): Promise<WeighedFile> {
  endTurn();
  const { name } = file;
  const { inTurn } = reading;
  const bytes = await read(deps, file, reading.signal);
  const found = fileKindOf(bytes);
  if (found.kind === 'image' && accepts.includes('image')) return weighBytes(file, { type: 'image_url' });
  if (found.kind === 'audio' && accepts.includes('audio')) {
    return inTurn(bytes.length, () => {
      const audio = { data: bytes.toString('base64'), format: found.format };
      return weighBytes(file, { type: 'input_audio', input_audio: audio });
    });
  }
  if (found.kind === 'pdf' && accepts.includes('pdf')) {
    return inTurn(bytes.length, () => {
      const data = `data:application/pdf;base64,${bytes.toString('base64')}`;
      return weighBytes(file, { type: 'file', file: { filename: name, file_data: data } });
    });
  }
  if (found.kind === 'image' || found.kind === 'audio' || found.kind === 'old_office') throw new UnknownFileError();
  if (found.kind === 'other') {
    return inTurn(bytes.length, async () => weighText(`${name}:\n${await plainTextOf(bytes, file.type)}`));
  }
  const text = await textOf(deps, { kind: 'document', format: found.kind, bytes }, reading);
  return inTurn(text.length, () => weighText(`${name}:\n${text}`));
}

function weighBytes({ size }: StoredFile, part: JsonObject): WeighedFile {
  const { messages, tokens } = weighFiles([{ content: [part] }]);
  const [{ content }] = messages as [{ content: [JsonObject] }];
  return { part: content[0], characters: 0, tokens, sentBytes: size };
}

function weighText(text: string): WeighedFile {
  const characters = writeJson(text).length - writeJson('').length;
  return { part: { type: 'text', text: '' }, characters, tokens: 0, sentBytes: Buffer.byteLength(text) };
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
  { documentProcesses }: Deps,
  work: Parameters<Deps['documentProcesses']['run']>[0],
  { userId: owner, signal }: Pick<Reading, 'userId' | 'signal'>,
): Promise<string> {
  const options = { owner, signal, limitMs: READ_WITHIN_MS, maxWaiting: MAX_WAITING };
  const reply = await documentProcesses.run(work, options).catch((error: unknown) => {
    throw error instanceof ProcessesBusyError ? new UnknownFileError() : error;
  });
  if (reply?.kind !== 'text') throw new UnknownFileError();
  return reply.text;
}
