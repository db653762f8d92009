import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { buffer } from 'node:stream/consumers';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import Koa from 'koa';
import { readConsoleFiles } from '../../api/console/console-files.js';
import { serveConsole } from '../../api/console/serve-console.js';
import type { AppState } from '../../api/http/app-state.js';
import { ADDRESSES } from '../../console/service/addresses.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const BUILT = path.resolve(import.meta.dirname, '../../dist/console');
const FIRST_PAGE_LIMIT_BYTES = 250_000;

type Manifest = Record<string, { file: string; isEntry?: boolean; imports?: string[]; css?: string[] }>;

describe('the console as the API serves it', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  const get = (at: string, headers = {}, method = 'GET') => fetch(`${stack.apiUrl}${at}`, { headers, method });
  const asked = async (): Promise<string[]> => {
    const page = await (await get('/')).text();
    return [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, at]) => at!);
  };

  it('answers the page for each of its addresses, with and without the last slash, and for HEAD', async () => {
    const page = (await (await get('/')).text()).replace(/nonce="[^"]+"/, '');
    for (const address of Object.values(ADDRESSES)) {
      const at = address.replace(/:\w+/, 'a-1');
      for (const each of at === '/' ? ['/', '/?a=b'] : [at, `${at}/`, `${at}?status=failed`]) {
        const response = await get(each);
        assert.deepEqual(
          [response.status, response.headers.get('content-type')],
          [200, 'text/html; charset=utf-8'],
          each,
        );
        assert.equal((await response.text()).replace(/nonce="[^"]+"/, ''), page, each);
        const head = await get(each, {}, 'HEAD');
        assert.deepEqual([head.status, await head.text()], [200, ''], each);
      }
    }
  });

  it('leaves every other address to the interface: an unknown one is its JSON 404', async () => {
    const others = ['/nothing', '/workflows/1/2', '/Runs', '/assets', '/assets/', '/assets/index.html', '/index.html'];
    const hidden = [
      '/addresses.json',
      '/manifest.json',
      '/console',
      '/assets/..%2findex.html',
      '/assets/%2e%2e/index.html',
    ];
    const compressed = (await asked()).flatMap((at) => [`${at}.gz`, `${at}.br`, `${at}.map`]);
    for (const at of [...others, ...hidden, ...compressed]) {
      const response = await get(at);
      assert.deepEqual(
        [response.status, await response.json()],
        [404, { detail: 'Not found.', code: 'not_found' }],
        at,
      );
    }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      assert.equal((await get('/workflows', {}, method)).status, 404, method);
    }
    assert.equal((await get('/healthz')).headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal((await get('/api/v1/projects/')).status, 401);
    assert.match(await (await get('/docs')).text(), /swagger-ui/);
  });

  it('answers a person who has mistyped an address with the page, and a program with JSON', async () => {
    const html = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const at of ['/worklfows', '/workflows/1/2', '/api/v1/nothing/']) {
      const response = await get(at, html);
      assert.deepEqual(
        [response.status, response.headers.get('content-type'), /\bAccept\b/.test(response.headers.get('vary') ?? '')],
        [404, 'text/html; charset=utf-8', true],
        at,
      );
      assert.match(await response.text(), /<div id="console">/);
      for (const Accept of ['*/*', 'application/json']) {
        assert.deepEqual(await (await get(at, { Accept })).json(), { detail: 'Not found.', code: 'not_found' }, at);
      }
    }
    assert.match((await get('/worklfows', html, 'POST')).headers.get('content-type') ?? '', /json/);
    // A refusal of a known address still states its reason.
    assert.equal((await get('/api/v1/projects/', html)).status, 401);
  });

  it('closes the page to all but the service by its policy, with a new nonce for styles in each answer', async () => {
    const nonces = new Set<string>();
    for (const at of ['/', '/', '/workflows/1']) {
      const { headers, ...response } = await get(at).then(async (each) => ({
        headers: each.headers,
        body: await each.text(),
      }));
      const nonce = /<meta property="csp-nonce" nonce="([^"]+)"/.exec(response.body)?.[1] ?? '';
      nonces.add(nonce);
      assert.equal(
        headers.get('content-security-policy'),
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; media-src blob:; font-src 'self'; ` +
          "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
      assert.doesNotMatch(response.body, /<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=|https?:\/\/|%NONCE%/);
    }
    assert.equal(nonces.size, 3);
  });

  it('lets browsers keep the files for good, for their names change with their contents, and the page never', async () => {
    const files = await asked();
    assert.ok(files.length >= 3, files.join());
    for (const at of files) {
      assert.match(at, /-[\w-]{8}\.(?:js|css|svg)$/);
      const response = await get(at);
      assert.deepEqual(
        [response.status, response.headers.get('cache-control')],
        [200, 'public, max-age=31536000, immutable'],
        at,
      );
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    }
    assert.equal((await get('/')).headers.get('cache-control'), 'no-cache');
  });

  it('sends the files compressed as the browser takes them', async () => {
    const at = (await asked()).find((each) => each.endsWith('.js'))!;
    const plain = readFileSync(path.join(BUILT, at));
    const codings = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };
    for (const [coding, unpack] of Object.entries(codings)) {
      const { headers, body } = await getAsSent(`${stack.apiUrl}${at}`, coding);
      assert.equal(headers['content-encoding'] ?? 'identity', coding);
      assert.equal(headers['vary'], 'Accept-Encoding');
      assert.ok(unpack(body).equals(plain), coding);
    }
    const refused = await getAsSent(`${stack.apiUrl}${at}`, 'br;q=0, gzip;q=0');
    assert.equal(refused.headers['content-encoding'], undefined);
  });

  it('needs at most 250 kB of JavaScript (gzip) before the first page', () => {
    const manifest = JSON.parse(readFileSync(path.join(BUILT, 'manifest.json'), 'utf8')) as Manifest;
    const entry = Object.keys(manifest).find((name) => manifest[name]!.isEntry === true)!;
    const sizeOf = (names: string[]): number => {
      const files = new Set(names.flatMap((name) => withImports(manifest, name)));
      return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(path.join(BUILT, file))).length, 0);
    };
    for (const page of ['pages/sign-in/sign-in-page.tsx', 'pages/workflows/workflows-page.tsx']) {
      assert.ok(page in manifest, page);
      const size = sizeOf([entry, page]);
      assert.ok(size > 50_000 && size <= FIRST_PAGE_LIMIT_BYTES, `${page}: ${size} bytes`);
    }
  });

  it('says in plain words that it was not built, where it is missing, and the API still answers', async () => {
    const empty = mkdtempSync(path.join(tmpdir(), 'no-console-'));
    try {
      const files = readConsoleFiles(empty);
      assert.equal(files, undefined);
      const app = new Koa<AppState>().use(serveConsole(files)).use((ctx) => void (ctx.body = 'interface'));
      const server = app.listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
        const root = await fetch(url);
        assert.equal(root.status, 404);
        assert.match(await root.text(), /^The console is not built here: `npm run build` builds it\./);
        assert.equal(await (await fetch(`${url}/workflows`)).text(), 'interface');
      } finally {
        server.closeAllConnections();
        server.close();
      }
    } finally {
      rmSync(empty, { recursive: true });
    }
  });
});

function withImports(manifest: Manifest, name: string, seen = new Set<string>()): string[] {
  if (seen.has(name)) return [];
  seen.add(name);
  const { file, imports = [] } = manifest[name]!;
  return [file, ...imports.flatMap((each) => withImports(manifest, each, seen))];
}

/** Returns the body as it is sent; `fetch` would decompress it. */
function getAsSent(url: string, accepted: string): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { 'accept-encoding': accepted } }, (response) => {
      buffer(response).then((body) => resolve({ headers: response.headers, body }), reject);
    });
    asked.on('error', reject).end();
  });
}
