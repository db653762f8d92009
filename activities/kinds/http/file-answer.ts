// HTTP answers that become files (docs/use/files.md, "Files in nodes").
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { watchSource } from '../../../files/watched-source.js';
import type { FileValue } from '../../../graph/file-values.js';
import type { HttpNodeData } from '../../../graph/nodes/http.js';
import { OutgoingError, type AnswerHead, type ConsumeBody } from '../../../outgoing/outgoing-client.js';
import { ExpandedTooFarError } from '../../../outgoing/response-body.js';
import { isText, isTextType } from '../../../outgoing/text-of-bytes.js';
import { dispositionName } from '../../../outgoing/disposition-name.js';
import { fileTooLarge, type FileUse } from '../../files/file-use.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';

const MAX_TEXT_BYTES = 10 * 1024 * 1024;
/** How many of the first bytes of a body without a content type decide if the body is text. */
const JUDGED_BYTES = 4_096;
const NO_BYTES = Buffer.alloc(0);

/** This service has failed to save an answer. That is no fault of the target, which has carried out the request. */
export class AnswerNotSavedError extends Error {
  override name = 'AnswerNotSavedError';

  constructor(cause: unknown) {
    super('An answer could not be saved.', { cause });
  }
}

interface FileAnswer {
  /** See `OutgoingRequest.consume`. */
  consume: (head: AnswerHead) => ConsumeBody | undefined;
  /** Returns the file that the answer has become; undefined if the answer is text. */
  file: () => FileValue | undefined;
}

/** `url` is the address of the request; its path may name the file. */
export function createFileAnswer(
  files: FileUse,
  task: NodeTask,
  { url, settings }: { url: URL; settings: HttpNodeData['settings'] },
): FileAnswer {
  let file: FileValue | undefined;
  const save = async (bytes: Readable, headers: Record<string, string>): Promise<Buffer> => {
    const name = dispositionName(headers['content-disposition']) ?? lastPartOf(url);
    const answer = watchSource(bytes);
    const read = Readable.from(answer.bytes, { objectMode: false });
    file = await files.save(task, { name, type: headers['content-type'] }, read).catch((error: unknown) => {
      if (error instanceof ExpandedTooFarError) throw fileTooLarge(files.maxBytes);
      throw answer.broken() !== undefined || error instanceof NodeFailure ? error : new AnswerNotSavedError(error);
    });
    return NO_BYTES;
  };
  return {
    file: () => file,
    consume({ status, headers }) {
      // The request may have been sent before, with a credential that was refused.
      file = undefined;
      // An answer that fails the node stays text, because the error message quotes it.
      if (settings.response === 'text' || (status >= 400 && settings.fail_on_status)) return undefined;
      const type = headers['content-type'];
      if (settings.response === 'file' || (type !== undefined && !isTextType(type)))
        return (body) => save(body, headers);
      if (type !== undefined) return undefined;
      return async (body) => {
        const [start, rest] = await peek(body);
        // The sample is decoded before it is searched for null characters, because text in UTF-16 has null bytes.
        if (await isText(start, start.length < JUDGED_BYTES)) return buffer(limited(rest));
        return save(rest, headers);
      };
    },
  };
}

/** Returns the first bytes, and a stream of all bytes. */
async function peek(body: Readable): Promise<[Buffer, Readable]> {
  const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const seen: Buffer[] = [];
  let sizeBytes = 0;
  while (sizeBytes < JUDGED_BYTES) {
    const next = await pieces.next();
    if (next.done === true) break;
    seen.push(next.value);
    sizeBytes += next.value.length;
  }
  const all = async function* (): AsyncGenerator<Buffer> {
    yield* seen;
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value;
  };
  return [Buffer.concat(seen).subarray(0, JUDGED_BYTES), Readable.from(all(), { objectMode: false })];
}

async function* limited(body: Readable): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    sizeBytes += piece.length;
    if (sizeBytes > MAX_TEXT_BYTES)
      throw new OutgoingError('response_too_large', 'The response is larger than 10 MiB.');
    yield piece;
  }
}

function lastPartOf({ pathname }: URL): string {
  const last = pathname.split('/').findLast((part) => part !== '') ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return '';
  }
}
