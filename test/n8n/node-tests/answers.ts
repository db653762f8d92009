// Answers requests as the servers of n8n's tests do: with the replies that those tests give to the library `nock`. The
// replies are read by executing the set-up of the test files.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { transformSync } from 'esbuild';
import { isObject, type JsonObject } from '../../../graph/json.js';
import type { NodeOutput } from '../../../graph/template.js';

interface Reply {
  method: string;
  origin: string;
  path: string;
  /** Undefined if the reply is for every query. */
  query: string | undefined;
  answer: (this: object, uri: string, body: unknown) => [number, unknown, Record<string, string>?];
}

const nodeRequire = createRequire(import.meta.url);

/** Returns a function that answers the requests of the tests in the folder of the workflow `file`. */
export async function answersFor(file: string): Promise<(request: JsonObject) => NodeOutput> {
  const folder = path.dirname(file);
  const tests = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  const replies = (await Promise.all(tests.map((name) => repliesOf(path.join(folder, name))))).flat();
  return (request) => {
    const url = new URL(String(request['url']));
    const method = typeof request['method'] === 'string' ? request['method'] : 'GET';
    const reply = replies.find(
      (each) =>
        each.method === method &&
        each.origin === url.origin &&
        each.path === url.pathname &&
        (each.query === undefined || each.query === url.search),
    );
    if (reply === undefined) throw new Error(`Nobody answers ${method} ${url.href}.`);
    const headers = Object.fromEntries(
      Object.entries((request['headers'] ?? {}) as JsonObject).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const [status, body, answered = {}] = reply.answer.call(
      { req: { headers } },
      `${url.pathname}${url.search}`,
      toSent(request['body']),
    );
    const { fail_on_status: fails = true } = (request['settings'] ?? {}) as JsonObject;
    if (fails === true && status >= 300)
      throw Object.assign(new Error(`The server answered ${status}.`), { code: 'http_status' });
    return toOutput(status, body, answered);
  };
}

/** Returns the body as the server gets it: a form becomes text with boundaries. */
function toSent(body: unknown): unknown {
  const form = isObject(body) ? body['$form'] : undefined;
  if (!isObject(form)) return body;
  return Object.entries(form)
    .map(([name, value]) => `---\r\nname="${name}"\r\n\r\n${String(value)}\r\n---`)
    .join('');
}

function toOutput(status: number, body: unknown, headers: Record<string, string>): NodeOutput {
  const isJson = typeof body === 'object' && body !== null && !Buffer.isBuffer(body);
  const content = isJson ? JSON.stringify(body) : Buffer.isBuffer(body) ? body.toString('latin1') : String(body);
  const type = headers['content-type'] ?? (isJson ? 'application/json' : 'text/plain');
  return { content, status_code: status, headers: { 'content-type': type, ...headers }, ...(isJson && { json: body }) };
}

async function repliesOf(file: string): Promise<Reply[]> {
  const replies: Reply[] = [];
  const started: unknown[] = [];
  const { code } = transformSync(readFileSync(file, 'utf8'), { loader: 'ts', format: 'cjs' });
  const nothing = (): unknown[] => [];
  const hooks = {
    describe: (_: string, run: () => void) => run(),
    beforeAll: (run: () => unknown) => void started.push(run()),
  };
  const rest = { afterAll: nothing, beforeEach: nothing, afterEach: nothing, test: nothing, it: nothing };
  const stubs = new Proxy({ initBinaryDataService: nothing }, { get: () => nothing });
  const load = (name: string): unknown => {
    if (name === 'nock') return { __esModule: true, default: fakeNock(replies) };
    return ['url', 'fs', 'path'].includes(name) ? (nodeRequire(`node:${name}`) as unknown) : stubs;
  };
  const context = {
    ...hooks,
    ...rest,
    require: load,
    exports: {},
    Buffer,
    __dirname: path.dirname(file),
    expect: nothing,
  };
  try {
    runInNewContext(code, context);
    await Promise.all(started);
  } catch {
    // If the set-up needs more than these stubs, only the replies before the error are known.
  }
  return replies;
}

function fakeNock(replies: Reply[]) {
  const nock = (origin: string) => {
    const open = { method: '', path: '', query: '' as string | undefined };
    const on = (method: string) => (target: string) => {
      const [pathname = '', search] = target.split('?');
      Object.assign(open, { method, path: pathname, query: search === undefined ? '' : `?${search}` });
      return chain;
    };
    const chain = {
      persist: () => chain,
      matchHeader: () => chain,
      query: () => Object.assign(chain, void (open.query = undefined)),
      get: on('GET'),
      post: on('POST'),
      put: on('PUT'),
      patch: on('PATCH'),
      delete: on('DELETE'),
      reply: (status: unknown, body?: unknown, headers?: Record<string, string>) => {
        const answer =
          typeof status === 'function'
            ? (status as Reply['answer'])
            : () => [Number(status), body, headers] as ReturnType<Reply['answer']>;
        replies.push({ ...open, origin, answer });
        return chain;
      },
    };
    return chain;
  };
  return Object.assign(nock, { disableNetConnect: () => undefined, restore: () => undefined });
}
