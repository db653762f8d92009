// Reads OpenAPI documents, which are not trusted: JSON or YAML of any shape (docs/use/services.md).
import { CORE_SCHEMA, load } from 'js-yaml';
import { isObject } from '../graph/json.js';
import { toStorableJson } from '../graph/storable-text.js';
import { OpenapiError } from '../openapi/document.js';
import { readOpenapi, type ReadService } from '../openapi/read-openapi.js';
import { toServer, type ServerRules } from '../openapi/servers.js';
import { namesRefusedAddress, type AddressRules } from '../outgoing/refused-addresses.js';

export interface OpenapiWork {
  /** A request body `{openapi, name?, server_url?}`, or the document itself; UTF-8. */
  bytes: Uint8Array;
  isBody: boolean;
  /**
   * `documentUrl` is the address from which the document came. `serverUrl` replaces the server that the document names.
   * Both are set only if `isBody` is false.
   */
  documentUrl?: string;
  serverUrl?: string | undefined;
  addressRules: AddressRules;
}

export type OpenapiReply =
  /** The body has the address of a document instead of the document. */
  | { kind: 'openapi-address'; address: string; name?: string; serverUrl?: string }
  | {
      kind: 'openapi-service';
      service: Omit<ReadService, 'actions'>;
      actionCount: number;
      /** The actions as texts of JSON lists, each of about a megabyte, which the API passes on to the database. */
      lists: string[];
    }
  | { kind: 'openapi-refused'; field: 'openapi' | 'name' | 'server_url' | 'body'; message: string };

/** The limit on the size of a document, after decompression. */
export const MAX_DOCUMENT_BYTES = 20 * 1024 * 1024;
/**
 * The limit on the characters of all actions: `MORE_CHARACTERS`, and `CHARACTERS_OF_BYTE` for each byte of the work.
 * Actions may be larger than their document, because many of them may refer to one part of it.
 */
export const CHARACTERS_OF_BYTE = 3;
export const MORE_CHARACTERS = 4 * 1024 * 1024;
const MAX_NAME = 200;
const MAX_ADDRESS = 2_000;
const LIST_CHARACTERS = 1024 * 1024;
/** The limit on YAML aliases. An alias repeats a part without repeating its text, so a small text could grow large. */
const MOST_ALIASES = 10_000;
const MOST_LEVELS = 500;

class Refusal extends Error {
  readonly field: 'openapi' | 'name' | 'server_url' | 'body';

  constructor(field: Refusal['field'], message: string) {
    super(message);
    this.field = field;
  }
}

export function readOpenapiWork({ bytes, isBody, documentUrl, serverUrl, addressRules }: OpenapiWork): OpenapiReply {
  const rules: ServerRules = {
    documentUrl,
    serverUrl,
    allowsHttp: addressRules.allowPrivateNetwork,
    isRefused: (url) => namesRefusedAddress(url, addressRules),
  };
  try {
    const text = decode(bytes, isBody);
    const reply = isBody ? readBody(text, rules) : toReply(readOpenapi(parseText(text), rules));
    if (reply.kind === 'openapi-service') refuseLarge(reply.lists, bytes.length);
    return reply;
  } catch (error) {
    if (error instanceof OpenapiError) return { kind: 'openapi-refused', field: 'openapi', message: error.message };
    if (error instanceof Refusal) return { kind: 'openapi-refused', field: error.field, message: error.message };
    throw error;
  }
}

function decode(bytes: Uint8Array, isBody: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(isBody ? 'body' : 'openapi', 'The document is not valid UTF-8.');
  }
}

function refuseLarge(lists: readonly string[], documentBytes: number): void {
  const most = MORE_CHARACTERS + CHARACTERS_OF_BYTE * documentBytes;
  if (lists.reduce((sum, list) => sum + list.length, 0) <= most) return;
  throw new OpenapiError('paths', `the actions of the document have more than ${most} characters together.`);
}

function readBody(text: string, rules: ServerRules): OpenapiReply {
  const body = parseBody(text);
  const { name, server_url: given, openapi } = body;
  const shown = toName(name);
  const serverUrl = toServerUrl(given, rules);
  if (openapi === undefined) throw new Refusal('openapi', 'This field is required.');
  if (openapi === null) throw new Refusal('openapi', 'This field may not be null.');
  const own = { ...rules, serverUrl };
  if (isObject(openapi)) {
    const mayBeLarge = Buffer.byteLength(text) > MAX_DOCUMENT_BYTES;
    if (mayBeLarge && Buffer.byteLength(JSON.stringify(openapi)) > MAX_DOCUMENT_BYTES) throw tooLarge();
    return toReply(readOpenapi(openapi, own), shown);
  }
  if (typeof openapi !== 'string') {
    throw new Refusal('openapi', 'Expected a document as an object, as text in JSON or YAML, or its https address.');
  }
  const address = openapi.trim();
  if (address === '') throw new Refusal('openapi', 'This field may not be blank.');
  if (/^[a-z][a-z\d+.-]*:\/\/\S*$/i.test(address)) {
    if (address.length > MAX_ADDRESS) throw new Refusal('openapi', 'The address is too long.');
    return {
      kind: 'openapi-address',
      address,
      ...(shown !== undefined && { name: shown }),
      ...(serverUrl !== undefined && { serverUrl }),
    };
  }
  if (openapi.length > MAX_DOCUMENT_BYTES || Buffer.byteLength(openapi) > MAX_DOCUMENT_BYTES) throw tooLarge();
  return toReply(readOpenapi(parseText(openapi), own), shown);
}

function tooLarge(): Refusal {
  return new Refusal('openapi', `The document is larger than ${MAX_DOCUMENT_BYTES} bytes.`);
}

function parseBody(text: string): Record<string, unknown> {
  try {
    const body: unknown = text === '' ? {} : JSON.parse(text);
    if (isObject(body)) return body;
  } catch (error) {
    const position = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    throw new Refusal('body', `the body is not valid JSON${position === undefined ? '' : ` at ${position}`}.`);
  }
  throw new Refusal('body', 'the body is not a JSON object.');
}

function toName(name: unknown): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name !== 'string') throw new Refusal('name', 'Not a valid string.');
  if (name.trim() === '') throw new Refusal('name', 'This field may not be blank.');
  if (name.trim().length > MAX_NAME)
    throw new Refusal('name', `Ensure this field has no more than ${MAX_NAME} characters.`);
  return name.trim();
}

function toServerUrl(given: unknown, rules: ServerRules): string | undefined {
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given !== 'string' || given.length > MAX_ADDRESS) throw new Refusal('server_url', 'Enter a valid URL.');
  const found = toServer(given.trim(), { ...rules, documentUrl: undefined });
  if ('problem' in found) throw new Refusal('server_url', `Enter a valid URL: ${found.problem}.`);
  return found.server;
}

/** A text that begins like JSON is first parsed as JSON, because YAML parsers are slow. */
function parseText(text: string): unknown {
  if (/^\s*\{/.test(text)) {
    try {
      return JSON.parse(text);
    } catch (error) {
      const position = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0];
      // The text may be YAML with braces. A long text is refused at once, because YAML parsers are slow.
      if (text.length > LIST_CHARACTERS) throw notParsed('JSON', position);
      return parseYaml(text, () => notParsed('JSON', position));
    }
  }
  return parseYaml(text, (place) => notParsed('YAML', place));
}

function parseYaml(text: string, problem: (place: string | undefined) => OpenapiError): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA, json: true, maxAliases: MOST_ALIASES, maxDepth: MOST_LEVELS });
  } catch (error) {
    const line = (error as { mark?: { line?: unknown } }).mark?.line;
    throw problem(typeof line === 'number' ? `line ${line + 1}` : undefined);
  }
}

function notParsed(format: string, place: string | undefined): OpenapiError {
  return new OpenapiError('', `The document is not valid ${format}${place === undefined ? '' : `: look at ${place}`}.`);
}

function toReply({ actions, ...service }: ReadService, name: string = service.name): OpenapiReply {
  const lists: string[] = [];
  let open: string[] = [];
  let characters = 0;
  const close = (): void => {
    if (open.length > 0) lists.push(`[${open.join(',')}]`);
    open = [];
    characters = 0;
  };
  for (const [position, action] of actions.entries()) {
    const text = toStorableJson(JSON.stringify({ ...action, position }));
    open.push(text);
    characters += text.length;
    if (characters > LIST_CHARACTERS) close();
  }
  close();
  const storable = JSON.parse(toStorableJson(JSON.stringify({ ...service, name }))) as Omit<ReadService, 'actions'>;
  return { kind: 'openapi-service', service: storable, actionCount: actions.length, lists };
}
