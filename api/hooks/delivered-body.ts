// Reads the body of a delivery: an input as with an API key, a form, multipart with files, or one file
// (docs/use/starts.md, "Hooks").
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Files, FileToSave } from '../../files/files.js';
import { fileFieldOf } from '../../graph/file-values.js';
import { inputFieldsOf, parseApiKeyInput, RAW_INPUT, type RunInput } from '../../graph/input.js';
import { isObject } from '../../graph/json.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { decodeName, saveUpload } from '../files/upload.js';
import type { InTurn } from '../http/heavy-work.js';
import { isMultipart } from '../http/multipart.js';
import { toFreeText } from '../http/middleware/read-body.js';
import { readParts, type ReceivedInput } from '../runs/read-run-input.js';
import { isForm, readForm } from './form-body.js';

export interface DeliveredBody {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The memory of the request, which already covers the body. */
  memory: ByteLease;
  inTurn: InTurn;
  signal: AbortSignal;
}

type Owner = Pick<FileToSave, 'projectId' | 'userId'>;

/**
 * Reads the input of a delivery and stores its files. Must be called only after the sender was verified. The caller
 * must discard the uploads if the start is refused or is a repeat.
 */
export async function readDelivered(
  files: Files,
  document: unknown,
  { headers, body, memory, inTurn, signal }: DeliveredBody,
  owner: Owner,
): Promise<ReceivedInput> {
  const contentType = headers['content-type'] ?? '';
  if (isMultipart(contentType)) {
    const parts = { contentType, owner, limitBytes: body.length, lease: memory, inTurn, signal };
    return readParts(files, { ...parts, body: Readable.from([body], { objectMode: false }) });
  }
  const field = isText(contentType) ? undefined : onlyFileField(document);
  if (field === undefined || body.length === 0) {
    const input = await inTurn(body.length, () => toInput(toFreeText(body), contentType));
    return { input, uploads: [] };
  }
  await memory.resize(memory.bytes + files.bufferBytes);
  const name = decodeName([headers['x-file-name']].flat()[0]);
  const bytes = Readable.from([body], { objectMode: false });
  const file = await saveUpload(files, { ...owner, name, type: contentType }, bytes, signal);
  return { input: {}, uploads: [{ field, file }] };
}

/**
 * Programs such as curl declare JSON, or any other text, as a form. Therefore only a text with a `=` that is no JSON
 * object or list is read as a form.
 */
function toInput(text: string, contentType: string): RunInput {
  const input = parseApiKeyInput(text);
  const isRaw = isObject(input) && Object.hasOwn(input, RAW_INPUT);
  return isRaw && isForm(contentType) && text.includes('=') ? readForm(text) : input;
}

function isText(contentType: string): boolean {
  const [type = ''] = contentType.toLowerCase().split(';');
  return /^(?:|text\/.+|application\/(?:json|xml|javascript|x-ndjson|x-www-form-urlencoded)|.+\+(?:json|xml))$/.test(
    type.trim(),
  );
}

/** Returns the id of the trigger's field for a single file, if there is exactly one such field. */
function onlyFileField(document: unknown): string | undefined {
  const [field, ...others] = inputFieldsOf(document).filter((each) => fileFieldOf(each) === 'file');
  return others.length === 0 && typeof field?.['id'] === 'string' ? field['id'] : undefined;
}
