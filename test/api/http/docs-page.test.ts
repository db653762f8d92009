import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { sharedStack } from '../../support/shared-stack.js';

const FOLDER = path.join(import.meta.dirname, '../../../api/http/docs-page');
const TYPES: Record<string, string> = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' };

describe('the documentation page', function () {
  this.timeout(90_000);
  let apiUrl: string;

  before(async () => {
    ({ apiUrl } = await sharedStack());
  });

  const get = async (at: string): Promise<{ status: number; headers: Headers; body: string }> => {
    const response = await fetch(`${apiUrl}${at}`);
    return { status: response.status, headers: response.headers, body: await response.text() };
  };

  it('is served with and without its slash, closed by its policy to everything but the service', async () => {
    for (const at of ['/docs', '/docs/']) {
      const { status, headers, body } = await get(at);
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', /^text\/html/);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      const policy = headers.get('content-security-policy') ?? '';
      for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]) {
        assert.ok(policy.includes(rule), rule);
      }
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
      assert.doesNotMatch(body, /<script(?![^>]*\ssrc=)|\son\w+=|style=/);
    }
  });

  it('every file of it is served with its type and refers to no other host', async () => {
    for (const name of readdirSync(FOLDER)) {
      const { status, headers, body } = await get(name === 'page.html' ? '/docs' : `/docs/${name}`);
      assert.equal(status, 200, name);
      assert.ok(headers.get('content-type')?.startsWith(TYPES[path.extname(name)] ?? 'none'), name);
      assert.doesNotMatch(body, /https?:\/\/|["'(]\/\//, name);
      for (const [, file] of body.matchAll(/(?:from '\.|"\/docs)\/([\w.-]+)['"]/g)) {
        assert.equal((await get(`/docs/${file}`)).status, 200, `${name} asks for ${file}`);
      }
    }
  });

  it('nothing else can be read through it', async () => {
    for (const name of ['..%2fmain.js', '%2e%2e/main.js', 'main.js', 'page.html', 'page.js%00', 'page.js.map']) {
      assert.equal((await get(`/docs/${name}`)).status, 404, name);
    }
  });
});
