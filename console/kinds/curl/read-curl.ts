// Reads a cURL command as the data of an HTTP request node.
import { splitAddress } from '../../../graph/address-credentials.js';
import { isCredentialHeader } from '../../../graph/credential-headers.js';
import type { JsonObject } from '../../../graph/json.js';
import { pushTo } from '../../../graph/push-to.js';
import { BODY_KEYS } from '../body.js';
import { queryRows, withQuery, type QueryRow } from '../query.js';
import { readOptions, type Option } from './options.js';
import { splitCommand, UnreadableCommand } from './split-command.js';

interface ReadRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** Absent for a request without a body. */
  body?: unknown;
  /** The longest time of an attempt in seconds. */
  timeout?: number;
  /** Sentences about the parts that were not read or need attention. */
  remarks: string[];
}

const FORM = 'application/x-www-form-urlencoded';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Throws an `UnreadableCommand` if the text is no cURL command with an address. */
export function readCurl(text: string): ReadRequest {
  const { words, rest } = splitCommand(text.trim().replace(/^\$\s+/, ''));
  if (!/^(?:.*\/)?curl(?:\.exe)?$/.test(words[0] ?? ''))
    throw new UnreadableCommand('The command must begin with curl.');
  const { options, addresses, unknown } = readOptions(words.slice(1));
  const remarks = unknown.map((option) => `The option ${option} was not read.`);
  if (rest !== '') remarks.push(`What follows the command was not read: ${rest.split('\n', 1)[0] ?? ''}`);
  const urls = [...options.filter(({ name }) => name === 'url').map(({ value }) => value), ...addresses];
  const [first] = urls;
  if (first === undefined) throw new UnreadableCommand('The command has no address.');
  if (urls.length > 1) remarks.push(`Only the first of ${urls.length} addresses was read.`);
  const request = { url: withScheme(first), headers: new Map<string, string>(), remarks };
  takeHeaders(options, request);
  const body = bodyOf(options, request);
  takeAddress(request);
  const method = methodOf(options, body !== undefined);
  if (!METHODS.includes(method)) remarks.push(`The method ${method} is not known here.`);
  const timeout = Number(options.findLast(({ name }) => name === 'max-time')?.value);
  for (const { name } of options) if (NOT_READ.has(name)) remarks.push(NOT_READ.get(name)!);
  return {
    url: request.url,
    method: METHODS.includes(method) ? method : 'GET',
    headers: Object.fromEntries(request.headers),
    ...(body !== undefined && { body }),
    ...(timeout > 0 && { timeout: Math.min(timeout, 300) }),
    remarks: [...new Set(remarks)],
  };
}

const ALWAYS_CHECKED = 'Certificates are those of the service, and are always checked.';
const NOT_READ: ReadonlyMap<string, string> = new Map([
  ['proxy', 'The proxy was not read.'],
  ['cert', ALWAYS_CHECKED],
  ['key', ALWAYS_CHECKED],
  ['cacert', ALWAYS_CHECKED],
  ['cookie-jar', 'The file of cookies was not read.'],
  ['connect-timeout', 'The time for connecting was not read.'],
  ['retry', 'Retries were not read. They are set under Errors, retries and start.'],
  ['retry-delay', 'Retries were not read. They are set under Errors, retries and start.'],
  ['aws-sigv4', 'The signature for AWS was not read.'],
  ['config', 'The file of options was not read.'],
  ['upload-file', 'The file was not read. Choose it under Body.'],
]);

interface Request {
  url: string;
  headers: Map<string, string>;
  remarks: string[];
}

function withScheme(address: string): string {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(address) || address.startsWith('{{') ? address : `http://${address}`;
}

function takeHeaders(options: readonly Option[], { headers, remarks }: Request): void {
  for (const { name, value } of options) {
    if (name === 'header') {
      const [, key, text] = /^([^:;]+)[:;]\s*(.*)$/s.exec(value) ?? [];
      if (key === undefined) remarks.push(`The header ${value} was not read.`);
      // `Accept:` without a value removes a header that curl would send.
      else if (text !== '') addHeader({ headers, remarks }, key.trim(), text?.trim() ?? '');
    } else if (name === 'user') setHeader(headers, 'Authorization', basic(value));
    else if (name === 'oauth2-bearer') setHeader(headers, 'Authorization', `Bearer ${value}`);
    else if (name === 'user-agent') setHeader(headers, 'User-Agent', value);
    else if (name === 'referer') setHeader(headers, 'Referer', value);
    else if (name === 'range') setHeader(headers, 'Range', `bytes=${value}`);
    else if (name === 'cookie') {
      const before = headerOf({ headers }, 'cookie');
      if (value.includes('=')) setHeader(headers, 'Cookie', before === undefined ? value : `${before}; ${value}`);
      else remarks.push(`The file of cookies ${value} was not read.`);
    }
  }
}

/** curl sends a repeated header twice. A node has each header once. */
function addHeader({ headers, remarks }: Pick<Request, 'headers' | 'remarks'>, name: string, value: string): void {
  const before = headerOf({ headers }, name.toLowerCase());
  if (before !== undefined && before !== value)
    remarks.push(`The header ${name} is there twice; the last one was taken.`);
  setHeader(headers, name, value);
}

/** Header names are case-insensitive, so a header with the same name in other letters is replaced. */
function setHeader(headers: Map<string, string>, name: string, value: string): void {
  const written = [...headers.keys()].find((each) => each.toLowerCase() === name.toLowerCase());
  headers.set(written ?? name, value);
}

function headerOf({ headers }: Pick<Request, 'headers'>, name: string): string | undefined {
  return [...headers].find(([each]) => each.toLowerCase() === name)?.[1];
}

function basic(user: string): string {
  const bytes = new TextEncoder().encode(user);
  return `Basic ${btoa(String.fromCodePoint(...bytes))}`;
}

/**
 * Moves a user name and password from the address to the header `Authorization`, because the service refuses them in
 * addresses. Adds remarks about credentials in the query.
 */
function takeAddress(request: Request): void {
  const split = splitAddress(request.url);
  if (split !== undefined) {
    request.url = split.before + split.after;
    setHeader(request.headers, 'Authorization', basic(decoded(split.credentials)));
  }
  const keys = queryRows(request.url).filter(({ name }) => isCredentialHeader(name));
  for (const { name } of keys) {
    request.remarks.push(`The query holds ${name}, which looks like a credential. Better put it into a connection.`);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const DATA = ['data', 'data-raw', 'data-binary', 'data-urlencode', 'json'];

function bodyOf(options: readonly Option[], request: Request): unknown {
  const forms = options.filter(({ name }) => name === 'form' || name === 'form-string');
  if (forms.length > 0) return formOf(forms, request);
  const parts = options.filter(({ name }) => DATA.includes(name)).flatMap((option) => partOf(option, request));
  const toQuery = [
    ...options.filter(({ name }) => name === 'url-query').flatMap((option) => partOf(option, request)),
    ...(options.some(({ name }) => name === 'get') ? parts : []),
  ];
  if (toQuery.length > 0) {
    const added = toQuery.join('&').split('&').map(toRow);
    request.url = withQuery(request.url, [...queryRows(request.url), ...added]);
  }
  if (options.some(({ name }) => name === 'get') || parts.length === 0) return undefined;
  const isJson = options.some(({ name }) => name === 'json');
  return typedBody(parts.join(isJson ? '' : '&'), isJson, request);
}

function toRow(pair: string): QueryRow {
  const [name = '', ...value] = pair.split('=');
  return { name, value: value.join('='), written: pair };
}

/** Returns no part for a file, because the page cannot read it. */
function partOf({ name, value }: Option, { remarks }: Request): string[] {
  // A part of the query is encoded like `--data-urlencode`, unless it begins with a plus.
  if (name === 'url-query' && value.startsWith('+')) return [value.slice(1)];
  const isEncoded = name === 'data-urlencode' || name === 'url-query';
  // As in curl, an encoded text with an equals sign names no file.
  const [, key = '', file] = isEncoded ? (/^([^=@]*)@([^=]+)$/.exec(value) ?? []) : [];
  const path = file ?? (name !== 'data-raw' && !isEncoded && value.startsWith('@') ? value.slice(1) : '');
  if (path !== '') {
    const remedy = name === 'url-query' ? '' : '. Choose it under Body';
    remarks.push(`The file ${path} was not read${key === '' ? remedy : ` for ${key}`}.`);
    return [];
  }
  if (name === 'data') return [value.replaceAll(/[\r\n]/g, '')];
  if (!isEncoded) return [value];
  const [first = '', ...rest] = value.split('=');
  if (rest.length === 0) return [encodeURIComponent(first)];
  return [`${first === '' ? '' : `${first}=`}${encodeURIComponent(rest.join('='))}`];
}

/** Returns the body as JSON, as a form or as text, by its type, and adds headers for this type if they are missing. */
function typedBody(text: string, isJson: boolean, request: Request): unknown {
  const type = headerOf(request, 'content-type')?.toLowerCase();
  if (isJson && type === undefined) setHeader(request.headers, 'Content-Type', 'application/json');
  if (isJson && headerOf(request, 'accept') === undefined) setHeader(request.headers, 'Accept', 'application/json');
  const value = parsed(text);
  const isStructure = typeof value === 'object' && value !== null;
  if (isJson || type?.includes('json') === true) return isStructure ? value : text;
  if (type === undefined) {
    // By default curl declares any data to be a form. A JSON object or array is still read as JSON.
    if (isStructure) return value;
    setHeader(request.headers, 'Content-Type', FORM);
  } else if (!type.startsWith(FORM)) return text;
  return formFields(text) ?? text;
}

/** Returns undefined if the text is not JSON, or has 16 digits in a row, because JavaScript may round such a number. */
function parsed(text: string): unknown {
  if (/\d{16}/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns undefined if the text is no form, or has a name twice, which an object cannot hold. */
function formFields(text: string): JsonObject | undefined {
  const rows = text.split('&').map((pair) => pair.split('='));
  if (rows.some((row) => row.length < 2)) return undefined;
  const fields = rows.map(([name = '', ...value]) => [fromForm(name), fromForm(value.join('='))] as const);
  const names = new Set(fields.map(([name]) => name));
  return names.size === fields.length ? Object.fromEntries(fields) : undefined;
}

function fromForm(text: string): string {
  return decoded(text.replaceAll('+', ' '));
}

function formOf(forms: readonly Option[], { remarks }: Request): JsonObject {
  const fields = new Map<string, string[]>();
  for (const { name, value } of forms) {
    const [key = '', ...rest] = value.split('=');
    const text = rest.join('=');
    const isFile = name === 'form' && /^[@<]/.test(text);
    if (isFile)
      remarks.push(`The file ${text.slice(1).split(';', 1)[0] ?? ''} was not read. Choose it for ${key} under Body.`);
    pushTo(fields, key, isFile ? '' : text.replace(/;type=[^;]*$/, ''));
  }
  // The service sends a list as one field for each of its items.
  const entries = [...fields].map(([key, texts]) => [key, texts.length === 1 ? texts[0] : texts] as const);
  return { [BODY_KEYS['form-files']]: Object.fromEntries(entries) };
}

function methodOf(options: readonly Option[], hasBody: boolean): string {
  const written = options.findLast(({ name }) => name === 'request')?.value;
  if (written !== undefined && written !== '') return written.toUpperCase();
  const has = (name: string): boolean => options.some((option) => option.name === name);
  if (has('head')) return 'HEAD';
  if (has('get')) return 'GET';
  if (has('upload-file')) return 'PUT';
  return hasBody || DATA.some(has) ? 'POST' : 'GET';
}
