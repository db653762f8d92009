// Answers that become files. Extensions, section 12.
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FileValue } from '../../../graph/file-values.js';
import type { HttpNodeData } from '../../../graph/nodes/http.js';
import { OutgoingError, type AnswerHead, type TakeBody } from '../../../outgoing/outgoing-client.js';
import { ExpandedTooFarError } from '../../../outgoing/response-body.js';
import { fileTooLarge, type FileUse } from '../../node/file-use.js';
import type { NodeTask } from '../../node/node-step.js';

/** What is text has the limit of texts. */
const MAX_TEXT_BYTES = 10 * 1024 * 1024;
/** A body without a type is judged by so many bytes. */
const JUDGED_BYTES = 4_096;
const NO_BYTES = Buffer.alloc(0);

interface FileAnswer {
  /** As in `OutgoingRequest`. */
  take: (head: AnswerHead) => TakeBody | undefined;
  /** The file that the answer has become; undefined where it is a text. */
  file: () => FileValue | undefined;
}

/** `url`: of the request, whose path may name the file. */
export function createFileAnswer(
  files: FileUse,
  task: NodeTask,
  { url, settings }: { url: URL; settings: HttpNodeData['settings'] },
): FileAnswer {
  let file: FileValue | undefined;
  const save = async (bytes: Readable, headers: Record<string, string>): Promise<Buffer> => {
    const name = nameIn(headers['content-disposition']) ?? lastPartOf(url);
    file = await files.save(task, { name, type: headers['content-type'] }, bytes).catch((error: unknown) => {
      throw error instanceof ExpandedTooFarError ? fileTooLarge(files.maxBytes) : error;
    });
    return NO_BYTES;
  };
  return {
    file: () => file,
    take({ status, headers }) {
      // The node quotes an answer that makes it fail.
      if (settings.response === 'text' || (status >= 400 && settings.fail_on_status)) return undefined;
      const type = headers['content-type'];
      if (settings.response === 'file' || (type !== undefined && !isTextType(type)))
        return (body) => save(body, headers);
      if (type !== undefined) return undefined;
      return async (body) => {
        const [start, rest] = await peek(body);
        if (isBinary(start)) return save(rest, headers);
        return buffer(limited(rest));
      };
    },
  };
}

const TEXT_TYPE =
  /^(?:text\/.+|application\/(?:json|xml|javascript|ecmascript|x-javascript|x-ndjson|x-www-form-urlencoded)|application\/.+\+(?:json|xml))$/;

/** `text/*`, JSON, XML, JavaScript and forms. */
export function isTextType(type: string): boolean {
  const [name = ''] = type.toLowerCase().split(';');
  return TEXT_TYPE.test(name.trim());
}

function isBinary(start: Buffer): boolean {
  // A character may be cut off at the end.
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(start.subarray(0, start.length - cut)));
  return !isText || start.includes(0);
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

/** Returns the name in a `Content-Disposition`, with precedence to the one in Unicode. RFC 6266. */
function nameIn(disposition: string | undefined): string | undefined {
  const [, extended] = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition ?? '') ?? [];
  const decoded = extended === undefined ? undefined : decoded8(extended);
  if (decoded !== undefined) return decoded;
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(disposition ?? '') ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? token;
}

function lastPartOf({ pathname }: URL): string {
  return decoded8(pathname.split('/').findLast((part) => part !== '') ?? '') ?? '';
}

function decoded8(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
