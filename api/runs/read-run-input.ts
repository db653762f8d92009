// Reads the input in a body of run and re-run: flat with an API key, wrapped with a session token, or as multipart with
// files. Deliveries to hooks read multipart here, too. docs/use/api.md, "Start a run"; docs/use/files.md, "Files in the
// input of a run".
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { FileValue } from '../../files/file-value.js';
import { FileTooLargeError, type Files, type FileToSave } from '../../files/files.js';
import { parseApiKeyInput, parseSessionInput, type RunInput } from '../../graph/input.js';
import { isObject } from '../../graph/json.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { declaredEncoding, textOfBytes } from '../../outgoing/text-of-bytes.js';
import type { AppContext } from '../http/app-state.js';
import { ApiError, bodyTooLarge } from '../http/errors.js';
import { parseFields } from '../http/field-errors.js';
import type { InTurn } from '../http/heavy-work.js';
import { decodeJson, parseExactJsonBody } from '../http/json-body.js';
import { readBytes, readJsonBody, toFreeText, type BodyBounds } from '../http/middleware/read-body.js';
import { isMultipart, readMultipart, type BodyPart } from '../http/multipart.js';
import { openBody } from '../http/stream-body.js';

const wrapper = z.object({ input_data: z.unknown().optional() });

export interface ReceivedInput {
  /**
   * Undefined if no input was sent: an empty body, a wrapper without `input_data`, or multipart without the part
   * `input`. Without files, run treats that as `{}`, re-run as the original run's input. With files, both take an input
   * that consists of the files alone.
   */
  input: RunInput | undefined;
  /** Files that came with the request, in its order. They are stored, but nothing refers to them yet. */
  uploads: Upload[];
  /** True as soon as the handler is responsible for the uploads, which it keeps or deletes. */
  isTakenOver?: boolean;
}

interface Upload {
  /** The name of the part, which should be the id of a field of the trigger. It is not checked yet. */
  field: string;
  file: FileValue;
}

/**
 * The `body` of a route whose `bodyFormat` is `run-input`. zod must not copy it, because `__proto__` is an ordinary key
 * here.
 */
export const runInputBody = z.unknown() as z.ZodType<ReceivedInput>;

/**
 * Any caller may send multipart. Otherwise, a caller with an API key may send text of any media type, and a caller with
 * a session token a JSON object or an empty body: anything else is a 400, and another media type a 415.
 */
export async function readRunInput(ctx: AppContext, bounds: BodyBounds, files: Files): Promise<ReceivedInput> {
  if (isMultipart(ctx.get('content-type'))) return readWithFiles(ctx, bounds, files);
  if (ctx.state.caller?.credential === 'session') {
    const { input_data: inputData } = parseFields(wrapper, await readJsonBody(ctx, bounds, parseExactJsonBody));
    return { input: inputData === undefined ? undefined : parseSessionInput(inputData), uploads: [] };
  }
  const bytes = await readBytes(ctx, bounds);
  const input = await bounds.inTurn(bytes.length, () => {
    const text = toFreeText(bytes);
    return text.trim() === '' ? undefined : parseApiKeyInput(text);
  });
  return { input, uploads: [] };
}

const MAX_PARTS = 100;
const INPUT = 'input';
/** Bytes of memory per byte of an input: the bytes, their text and the parsed value. */
const INPUT_FACTOR = 3;

async function readWithFiles(ctx: AppContext, bounds: BodyBounds, files: Files): Promise<ReceivedInput> {
  const { access, caller, signal } = ctx.state;
  const owner = { projectId: access!.projectId, ...(caller !== undefined && { userId: caller.userId }) };
  const body = openBody(ctx, MAX_PARTS * files.maxBytes);
  return readParts(files, { ...bounds, body, contentType: ctx.get('content-type'), owner, signal });
}

interface PartsToRead {
  body: Readable;
  contentType: string;
  owner: Pick<FileToSave, 'projectId' | 'userId'>;
  limitBytes: number;
  /**
   * Grows with the bytes of the part `input`, and, until the body is read, by one buffer for all files, which are
   * streamed. What was leased before stays leased.
   */
  lease: ByteLease;
  inTurn: InTurn;
  signal: AbortSignal;
}

/** Reads a multipart body and stores its files. If that fails, deletes those that are stored already. */
export async function readParts(
  files: Files,
  { body, contentType, owner, limitBytes, lease, inTurn, signal }: PartsToRead,
): Promise<ReceivedInput> {
  const received: ReceivedInput = { input: undefined, uploads: [] };
  const heldBytes = lease.bytes + files.bufferBytes;
  await lease.resize(heldBytes);
  const onPart = async ({ field, name = '', type, bytes }: BodyPart): Promise<void> => {
    if (field === INPUT) {
      received.input = await readInput(bytes, {
        type,
        limitBytes,
        lease: { resize: (size) => lease.resize(heldBytes + size) },
        inTurn,
      });
      return;
    }
    received.uploads.push({ field, file: await files.save({ ...owner, name, type }, bytes, signal) });
  };
  try {
    await readMultipart(body, { contentType, maxParts: MAX_PARTS, onPart });
    await lease.resize(lease.bytes - files.bufferBytes);
    return received;
  } catch (error) {
    await discardUploads(files, received);
    throw error instanceof FileTooLargeError ? bodyTooLarge(error.limitBytes) : error;
  }
}

/** Deletes the files. Never throws: if that fails, the sweep removes them a day later. */
export async function discardUploads(files: Files, { uploads }: ReceivedInput): Promise<void> {
  await files.discard(uploads.map(({ file }) => file)).catch(() => undefined);
}

async function readInput(
  bytes: BodyPart['bytes'],
  {
    type,
    limitBytes,
    lease,
    inTurn,
  }: { type: string; limitBytes: number; lease: { resize(bytes: number): Promise<void> | undefined }; inTurn: InTurn },
): Promise<RunInput> {
  let sizeBytes = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of bytes as AsyncIterable<Buffer>) {
      sizeBytes += piece.length;
      if (sizeBytes > limitBytes) throw bodyTooLarge(limitBytes);
      await lease.resize(INPUT_FACTOR * sizeBytes);
      yield piece;
    }
  };
  const text = await decodePart(await buffer(counted()), type);
  if (text.trim() === '') return {};
  const input: unknown = await inTurn(sizeBytes, () => parseExactJsonBody(text));
  if (!isObject(input)) {
    throw new ApiError(400, 'invalid', 'The field `input` must be a JSON object.');
  }
  return parseSessionInput(input);
}

/** A part may declare another encoding than UTF-8, as the fields of old forms do. */
async function decodePart(bytes: Buffer, type: string): Promise<string> {
  const encoding = declaredEncoding(bytes, type) ?? 'utf-8';
  if (encoding === 'utf-8') return decodeJson(bytes);
  const { text, isExact } = await textOfBytes(bytes, type);
  if (isExact) return text;
  throw new ApiError(400, 'parse_error', `The field \`input\` is not valid ${encoding}.`);
}
