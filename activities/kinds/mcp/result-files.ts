// Saves the images, sounds and binary resources in the result of a tool as files.
import { isObject, ownValue, type JsonObject } from '../../../graph/json.js';
import type { FileValue } from '../../../graph/file-values.js';
import type { McpToolResult } from '../../../outgoing/mcp-types.js';
import type { FileUse } from '../../files/file-use.js';
import type { NodeTask } from '../../node/node-step.js';

export interface ResultParts {
  /** The texts of the tool and of its resources, joined with a newline. */
  text: string;
  files: FileValue[];
  /** The parts that are neither text nor bytes, unchanged. */
  others: unknown[];
}

interface FileInResult {
  name: string;
  type: string | undefined;
  base64: string;
}

/** Saves the files of a result one after another. Throws like `FileUse.saveAnswer`. */
export async function storeResultFiles(
  files: FileUse,
  task: NodeTask,
  { parts }: McpToolResult,
  toolName: string,
): Promise<ResultParts> {
  const found: ResultParts = { text: '', files: [], others: [] };
  const texts: string[] = [];
  for (const part of parts) {
    const [text, file] = [textOf(part), fileOf(part, `${toolName}-${found.files.length + 1}`)];
    if (text !== undefined) texts.push(text);
    else if (file === undefined) found.others.push(part);
    else found.files.push(await save(files, task, file));
  }
  return { ...found, text: texts.join('\n') };
}

function save(files: FileUse, task: NodeTask, { name, type, base64 }: FileInResult): Promise<FileValue> {
  return files.saveAnswer(task, { name, type }, Buffer.from(base64, 'base64'));
}

function textOf(part: unknown): string | undefined {
  if (!isObject(part)) return undefined;
  const { type } = part;
  if (type === 'text') return stringIn(part, 'text') ?? '';
  const resource = resourceOf(part);
  return resource && stringIn(resource, 'blob') === undefined ? stringIn(resource, 'text') : undefined;
}

function fileOf(part: unknown, name: string): FileInResult | undefined {
  if (!isObject(part)) return undefined;
  const { type } = part;
  const resource = resourceOf(part);
  const base64 = resource === undefined ? stringIn(part, 'data') : stringIn(resource, 'blob');
  if (base64 === undefined || (resource === undefined && type !== 'image' && type !== 'audio')) return undefined;
  const mime = stringIn(resource ?? part, 'mimeType');
  const named = resource === undefined ? undefined : lastPartOf(stringIn(resource, 'uri') ?? '');
  return { name: named ?? `${name}${extensionOf(mime)}`, type: mime, base64 };
}

function resourceOf(part: JsonObject): JsonObject | undefined {
  const resource = part['type'] === 'resource' ? ownValue(part, 'resource') : undefined;
  return isObject(resource) ? resource : undefined;
}

function stringIn(value: JsonObject, key: string): string | undefined {
  const found = ownValue(value, key);
  return typeof found === 'string' ? found : undefined;
}

function lastPartOf(uri: string): string | undefined {
  const [path = ''] = uri.replace(/^[a-z][\w+.-]*:\/*/i, '').split(/[?#]/);
  const last = path.split('/').findLast((part) => part !== '');
  try {
    return last && decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** Returns, for example, `.svg` for `image/svg+xml`, and an empty text if the type gives no extension. */
function extensionOf(type = ''): string {
  const [, extension] = /^\w+\/(?:x-)?([a-z0-9]{1,8})(?:\+[a-z]+)?(?:;|$)/i.exec(type) ?? [];
  return extension === undefined ? '' : `.${extension.toLowerCase()}`;
}
