// Converts the messages of a chat completion to the input of a run.
import { Readable } from 'node:stream';
import type { FileValue } from '../../files/file-value.js';
import type { Files, FileToSave } from '../../files/files.js';
import type { RunInput } from '../../graph/input.js';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { messageFiles } from '../files/message-files.js';
import { saveUpload } from '../files/upload.js';
import { ApiError } from '../http/errors.js';

/**
 * The part of the request that becomes the trigger's input. `toRunInput` takes `message` and `messages` from here, but
 * in place of `files` it takes the files as saved, to which `{{ input.files }}` refers.
 */
export interface ChatInput {
  /** The user's last message. */
  message: string;
  messages: { role: string; content: string }[];
  files: DataUri[];
}

interface DataUri {
  name: string;
  type: string;
  isBase64: boolean;
  /** The text after the comma. */
  data: string;
  /** The path in the request, for errors. */
  param: string;
}

const MAX_MESSAGES = 10_000;
const MAX_FILES = 100;
/**
 * The limit on the texts of all messages together: as many UTF-16 code units as the body of other starts may have bytes
 * (`MAX_BODY_BYTES`).
 */
const MAX_CHARACTERS = 10 * 1024 * 1024;
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Throws a 400 that names the path of an unacceptable value. */
export function readChatInput(sent: readonly unknown[]): ChatInput {
  if (sent.length > MAX_MESSAGES) throw wrong('messages', `A workflow takes at most ${MAX_MESSAGES} messages.`);
  const files: DataUri[] = [];
  const messages = sent.map((message, index) => readMessage(message, `messages[${index}]`, files));
  const last = messages.findLast(({ role }) => role === 'user');
  if (last === undefined) throw wrong('messages', 'One of the messages must have the role user.');
  if (files.length > MAX_FILES) throw wrong('messages', `A workflow takes at most ${MAX_FILES} files.`);
  const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
  if (characters > MAX_CHARACTERS)
    throw wrong('messages', `A workflow takes at most ${MAX_CHARACTERS} characters of text.`);
  return { message: last.content, messages, files };
}

function readMessage(message: unknown, place: string, files: DataUri[]): { role: string; content: string } {
  if (!isObject(message)) throw wrong(place, 'A message is an object.');
  const [role, content] = [ownValue(message, 'role'), ownValue(message, 'content')];
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    throw wrong(`${place}.role`, `The role of a message is one of ${ROLES.join(', ')}.`);
  }
  if (role === 'assistant' && (content === undefined || content === null)) return { role, content: '' };
  return { role, content: readContent(content, `${place}.content`, files) };
}

function readContent(content: unknown, place: string, files: DataUri[]): string {
  if (typeof content === 'string') return storable(content, place);
  if (!Array.isArray(content)) throw wrong(place, 'The content of a message is a text or a list of parts.');
  return content.flatMap((part: unknown, index) => readPart(part, `${place}[${index}]`, files)).join('\n');
}

/** Returns the text of the part; an empty list for a file, which is appended to `files`. */
function readPart(part: unknown, place: string, files: DataUri[]): string[] {
  const type = isObject(part) ? ownValue(part, 'type') : undefined;
  if (type === 'text' || type === 'refusal') {
    const text = ownValue(part, type);
    if (typeof text === 'string') return [storable(text, `${place}.${type}`)];
    throw wrong(`${place}.${type}`, 'The text of a part is a text.');
  }
  if (type === 'image_url') {
    const image = ownValue(part, 'image_url');
    const url = isObject(image) ? ownValue(image, 'url') : image;
    files.push(readUri(url, undefined, `${place}.image_url.url`));
    return [];
  }
  if (type === 'file') {
    const file = ownValue(part, 'file');
    const { file_data: data, filename: name } = isObject(file) ? file : ({} as JsonObject);
    files.push(readUri(data, typeof name === 'string' ? name : undefined, `${place}.file.file_data`));
    return [];
  }
  throw wrong(`${place}.type`, 'A workflow takes parts of the types text, image_url and file.');
}

const HEAD = /^data:([^,;]*)((?:;[^,;]*)*),/i;
const MAX_HEAD_CHARACTERS = 1_000;

function readUri(uri: unknown, name: string | undefined, param: string): DataUri {
  const head = typeof uri === 'string' ? HEAD.exec(uri.slice(0, MAX_HEAD_CHARACTERS)) : null;
  if (typeof uri !== 'string' || head === null) {
    throw wrong(param, 'A workflow takes files as data URIs, and fetches no other address.');
  }
  const [prefix, mediaType = '', parameters = ''] = head;
  const type = mediaType.trim() === '' ? 'text/plain' : mediaType.trim();
  const isBase64 = /;\s*base64\s*$/i.test(parameters);
  return { name: name ?? nameFor(type), type: storable(type, param), isBase64, data: uri.slice(prefix.length), param };
}

function nameFor(type: string): string {
  const [kind = '', subtype = ''] = type.toLowerCase().split('/');
  const ending = /^[a-z0-9]+/.exec(subtype)?.[0] ?? 'bin';
  return `${kind === 'image' ? 'image' : 'file'}.${ending}`;
}

function decode({ isBase64, data, param }: DataUri): Buffer {
  try {
    if (!isBase64) return Buffer.from(decodeURIComponent(data));
  } catch {
    throw wrong(param, 'The data URI is not percent-encoded.');
  }
  if (!/^[\w+/=\-\s]*$/.test(data)) throw wrong(param, 'The data URI is not base64.');
  return Buffer.from(data, 'base64');
}

/** Saves the files one after the other, which bounds their memory. If one cannot be saved, the others are deleted. */
export async function saveChatFiles(
  files: Files,
  { files: uris }: ChatInput,
  {
    owner,
    memory,
    signal,
  }: { owner: Pick<FileToSave, 'projectId' | 'userId'>; memory: ByteLease; signal: AbortSignal },
): Promise<FileValue[]> {
  const heldBytes = memory.bytes;
  const saved: FileValue[] = [];
  try {
    for (const uri of uris) {
      await memory.resize(heldBytes + files.bufferBytes + uri.data.length);
      const bytes = Readable.from([decode(uri)], { objectMode: false });
      saved.push(await saveUpload(files, { ...owner, name: uri.name, type: uri.type }, bytes, signal));
    }
    return saved;
  } catch (error) {
    await files.discard(saved).catch(() => undefined);
    throw error;
  } finally {
    void memory.resize(heldBytes);
  }
}

export function toRunInput({ message, messages }: ChatInput, saved: readonly FileValue[], document: unknown): RunInput {
  return { message, messages, ...(saved.length > 0 && { files: messageFiles(saved, document) }) };
}

function storable(text: string, param: string): string {
  if (!text.includes('\0') && !/\p{Surrogate}/u.test(text)) return text;
  throw wrong(param, 'Null characters and lone surrogates are not allowed.');
}

function wrong(param: string, message: string): ApiError {
  return new ApiError(400, 'invalid_value', message, { param });
}
