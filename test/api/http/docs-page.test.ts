import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { eventually } from '../../../harness/timing/eventually.js';
import { startBrowser } from '../../support/browser.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';

const FILES = {
  'start.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

describe('the documentation page', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  const get = async (at: string): Promise<{ status: number; headers: Headers; body: string }> => {
    const response = await fetch(`${stack.apiUrl}${at}`);
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
      assert.doesNotMatch(body, /<script(?![^>]*\ssrc=)|\son\w+=|style=|https?:\/\/|["'(]\/\//);
      const asked = [...body.matchAll(/"\/docs\/([\w.-]+)"/g)].map(([, file]) => file);
      assert.deepEqual(new Set(asked), new Set(Object.keys(FILES)));
    }
  });

  it('every file of it is served with its type, and the library`s may be kept for a while', async () => {
    for (const [name, type] of Object.entries(FILES)) {
      const { status, headers } = await get(`/docs/${name}`);
      assert.deepEqual([status, headers.get('content-type')], [200, type], name);
      const caching = name === 'start.js' ? 'no-cache' : 'public, max-age=3600';
      assert.equal(headers.get('cache-control'), caching, name);
      assert.ok(headers.get('content-security-policy')?.includes("default-src 'none'"), name);
    }
  });

  it('nothing else can be read through it', async () => {
    const names = [
      '..%2fmain.js',
      '%2e%2e/main.js',
      'main.js',
      'page.html',
      'start.js%00',
      'package.json',
      'index.html',
    ];
    for (const name of [...names, 'swagger-ui-bundle.js.map', 'constructor', '__proto__']) {
      assert.equal((await get(`/docs/${name}`)).status, 404, name);
    }
  });

  describe('in a browser', () => {
    let browser: Browser;
    let page: Page;
    const complaints: string[] = [];
    const hosts = new Set<string>();

    before(async () => {
      browser = await startBrowser();
      page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('request', (request) => hosts.add(new URL(request.url()).protocol + new URL(request.url()).host));
    });
    after(() => browser.close());

    it('shows every operation of the document and keeps within its policy', async () => {
      await page.goto(`${stack.apiUrl}/docs`);
      await page.locator('.opblock').first().waitFor({ timeout: 60_000 });
      const document = JSON.parse((await get('/api/v1/openapi.json')).body) as { paths: Record<string, object> };
      const operations = Object.values(document.paths).flatMap((item) => Object.keys(item));
      // Swagger UI renders only the operations in view, so the page is scrolled to its end.
      const shown = new Set<string>();
      await eventually(
        async () => {
          const ids = await page.evaluate(`[...document.querySelectorAll('.opblock')].map(({ id }) => id)`);
          for (const id of ids as string[]) shown.add(id);
          const isAtEnd = await page.evaluate('scrollY + innerHeight >= document.body.scrollHeight - 1');
          if (isAtEnd === true && shown.size >= operations.length) return true;
          // An operation that was not rendered yet when the page scrolled past it is looked for again.
          if (isAtEnd === true) await page.evaluate('scrollTo(0, 0)');
          else await page.mouse.wheel(0, 700);
          throw new Error(`${shown.size} of ${operations.length} operations are shown`);
        },
        { timeoutMs: 90_000, intervalMs: 50 },
      );
      assert.equal(shown.size, operations.length);
    });

    it('tries an operation out with an API key, which is not there any more after a reload', async () => {
      const { apiKey, api } = await createAccount(stack);
      await api.createProject('shown by the page');
      await page.locator('button.authorize').first().click();
      const scheme = page.locator('.auth-container').filter({ hasText: 'X-Api-Key' });
      await scheme.locator('input').fill(apiKey);
      await scheme.getByRole('button', { name: 'Apply credentials' }).click();
      await page.locator('.modal-ux .close-modal, .modal-ux .btn-done').first().click();
      await page.locator('.operation-filter-input').fill('/api/v1/projects/');
      const list = page
        .locator('.opblock')
        .filter({ has: page.locator('[data-path="/api/v1/projects/"]') })
        .first();
      await list.locator('.opblock-summary').click();
      await list.getByRole('button', { name: 'Try it out' }).click();
      await list.getByRole('button', { name: 'Execute' }).click();
      const answer = list.locator('.live-responses-table');
      await answer.getByText('shown by the page').first().waitFor({ timeout: 30_000 });
      const kept = await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])');
      assert.equal(kept, '[{},{},""]');
      await page.reload();
      await page.locator('.opblock').first().waitFor({ timeout: 60_000 });
      assert.equal(await page.locator('button.authorize.locked').count(), 0);
    });

    it('has requested no other host, run no code that the policy forbids and logged no error', () => {
      assert.deepEqual(
        [...hosts].filter((host) => host !== 'data:' && host !== `http:${new URL(stack.apiUrl).host}`),
        [],
      );
      assert.deepEqual(complaints, []);
    });
  });
});
