// Bodies with files: `{"$file": FILE}` sends the bytes of a file, `{"$form": {...}}` sends multipart/form-data (RFC
// 7578). The bytes are streamed.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { StoredFile } from '../../../db/files/files-repository.js';
import { StoreAwayError } from '../../../files/store-failures.js';
import { fileIdOf } from '../../../graph/file-values.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { writeJson } from '../../../graph/json-text.js';
import type { StreamedBody } from '../../../outgoing/outgoing-client.js';
import { handedBack, NodeFailure } from '../../node/failures.js';
import type { FileUse } from '../../files/file-use.js';
import type { NodeTask } from '../../node/node-step.js';

interface FileBody extends StreamedBody {
  /** The media type, including the boundary of a multipart body. */
  contentType: string;
}

/**
 * Returns undefined unless the body is an object with the single key `$file` or `$form`. Throws `invalid_body` and the
 * errors of `FileUse.find`.
 */
export async function toFileBody(files: FileUse, task: NodeTask, body: unknown): Promise<FileBody | undefined> {
  if (!isObject(body)) return undefined;
  const [[key, value] = ['', undefined], ...others] = Object.entries(body);
  if (others.length > 0) return undefined;
  if (key === '$file') return toWholeFile(files, task, value);
  if (key === '$form') return toForm(files, task, value);
  return undefined;
}

async function toWholeFile(files: FileUse, task: NodeTask, value: unknown): Promise<FileBody> {
  if (fileIdOf(value) === undefined) throw new NodeFailure('invalid_body', '`$file` needs a file.');
  const file = await files.find(task, value);
  const open = (): Promise<Readable> =>
    files.read(file, task.signal).catch((error: unknown) => {
      // Nothing was sent to this address, and a server that redirected the request has not executed it, so the node can
      // be attempted again when the store answers.
      throw error instanceof StoreAwayError ? handedBack() : error;
    });
  return { contentType: file.type, bytes: file.size, open };
}

interface Part {
  head: Buffer;
  content: Buffer | StoredFile;
}

const LINE_END = '\r\n';

async function toForm(files: FileUse, task: NodeTask, form: unknown): Promise<FileBody> {
  if (!isObject(form)) throw new NodeFailure('invalid_body', '`$form` needs an object of fields.');
  const boundary = `form-${randomUUID()}`;
  const parts: Part[] = [];
  for (const [name, value] of fieldsOf(form)) parts.push(await toPart(files, task, { boundary, name, value }));
  const end = Buffer.from(`--${boundary}--${LINE_END}`);
  const bytes = parts.reduce(
    (sum, { head, content }) => sum + head.length + sizeOf(content) + LINE_END.length,
    end.length,
  );
  const contents = async function* (): AsyncGenerator<Buffer> {
    for (const { head, content } of parts) {
      yield head;
      if (Buffer.isBuffer(content)) yield content;
      else yield* (await files.read(content, task.signal)) as AsyncIterable<Buffer>;
      yield Buffer.from(LINE_END);
    }
    yield end;
  };
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes,
    open: () => Promise.resolve(Readable.from(contents(), { objectMode: false })),
  };
}

/** A list adds one field for each of its items. */
function fieldsOf(form: JsonObject): [name: string, value: unknown][] {
  return Object.entries(form).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((item): [string, unknown] => [name, item]) : [[name, value] as [string, unknown]],
  );
}

interface Field {
  boundary: string;
  name: string;
  value: unknown;
}

async function toPart(files: FileUse, task: NodeTask, { boundary, name, value }: Field): Promise<Part> {
  const start = `--${boundary}${LINE_END}Content-Disposition: form-data; name="${escaped(name)}"`;
  if (fileIdOf(value) === undefined) {
    const text = typeof value === 'string' ? value : value === null || value === undefined ? '' : writeJson(value);
    return { head: Buffer.from(`${start}${LINE_END}${LINE_END}`), content: Buffer.from(text) };
  }
  const file = await files.find(task, value);
  const described = `; filename="${escaped(file.name)}"${LINE_END}Content-Type: ${file.type}`;
  return { head: Buffer.from(`${start}${described}${LINE_END}${LINE_END}`), content: file };
}

/** Browsers escape the names in forms like this. */
function escaped(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

function sizeOf(content: Part['content']): number {
  return Buffer.isBuffer(content) ? content.length : content.size;
}
