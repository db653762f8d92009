// A server that records requests, and a comparison of two requests. Equivalent spellings are no difference: `+` and
// `%20`, needless escapes, the order of query parameters with different names, and the order of keys in JSON.
import { isDeepStrictEqual } from 'node:util';
import { buffer } from 'node:stream/consumers';
import { startHttpServer } from '../../../cli/sandbox/http-server.js';
import { isFormType, isJsonType } from '../../../graph/actions/render-request.js';
import { NUMBER_OF_OPERATION } from './chosen-operations.js';

export interface CaughtRequest {
  method: string;
  /** The segments, decoded. */
  path: string[];
  query: Pairs;
  headers: Record<string, string>;
  mediaType: string;
  body: unknown;
}

type Pairs = [name: string, value: unknown][];

export interface Catcher {
  url: string;
  /** Returns the last request and forgets it. */
  take: () => CaughtRequest | undefined;
  close: () => Promise<void>;
}

export async function startCatcher(): Promise<Catcher> {
  let caught: CaughtRequest | undefined;
  const server = await startHttpServer(async (request, response) => {
    const [path = '', ...query] = (request.url ?? '').replace(NUMBER_OF_OPERATION, '').split('?');
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const type = headers['content-type'] ?? '';
    caught = {
      method: request.method ?? '',
      path: path.split('/').map(decoded),
      query: toPairs(query.join('?')),
      headers,
      mediaType: type.split(';', 1)[0]!.trim().toLowerCase(),
      body: await toBody(await buffer(request), type),
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  return {
    url: server.url,
    take() {
      const taken = caught;
      caught = undefined;
      return taken;
    },
    close: () => server.close(),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Sorted by name; the values of one name stay in their order. */
function toPairs(text: string): Pairs {
  const pairs = text.split('&').flatMap((part): Pairs => {
    const [name = '', ...value] = part.replaceAll('+', '%20').split('=');
    return part === '' ? [] : [[decoded(name), decoded(value.join('='))]];
  });
  return sorted(pairs);
}

function sorted(pairs: Pairs): Pairs {
  return pairs.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}

async function toBody(bytes: Buffer, type: string): Promise<unknown> {
  const text = bytes.toString();
  if (text === '') return undefined;
  if (isJsonType(type)) return parsed(text);
  if (isFormType(type)) return toPairs(text);
  if (!type.startsWith('multipart/form-data')) return text;
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
  const parts: Pairs = [];
  for (const [name, value] of form) parts.push([name, typeof value === 'string' ? value : await value.text()]);
  return sorted(parts);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Describes the differences; undefined if there is none. Of the headers, only those in `headers` are compared. */
export function differenceOf(
  ours: CaughtRequest,
  theirs: CaughtRequest,
  headers: readonly string[],
): string | undefined {
  const tests: [string, unknown, unknown][] = [
    ['method', ours.method, theirs.method],
    ['path', ours.path, theirs.path],
    ['query', ours.query, theirs.query],
    ...headers.map((name): [string, unknown, unknown] => [`header ${name}`, ours.headers[name], theirs.headers[name]]),
    // Clients also name the type of a body that they do not send.
    ['content type', typeOf(ours), typeOf(theirs)],
    ['body', ours.body, theirs.body],
  ];
  const differing = tests.filter(([, one, other]) => !isDeepStrictEqual(one, other));
  if (differing.length === 0) return undefined;
  return differing.map(([what, one, other]) => `${what}: ${shown(one)} and theirs ${shown(other)}`).join('; ');
}

function typeOf({ body, mediaType }: CaughtRequest): string | undefined {
  return body === undefined ? undefined : mediaType;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'none';
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
}
