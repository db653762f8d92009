// `npm run check:vulnerabilities` with a fake registry.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Advisories in a registry's format; undefined: the registry has no such database. */
type Advisories = Record<
  string,
  { id: number; title: string; url: string; severity: string; vulnerable_versions: string }[]
>;

async function check(advisories: Advisories | undefined, env: Record<string, string> = {}): Promise<[number, string]> {
  const registry = createServer((request, response) => {
    const isAsked = request.method === 'POST' && request.url === '/-/npm/v1/security/advisories/bulk';
    if (isAsked && advisories !== undefined) response.end(JSON.stringify(advisories));
    else response.writeHead(request.method === 'POST' ? 405 : 404).end('{}');
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  // npm caches advisories, so each check has a new cache.
  const cache = mkdtempSync(path.join(tmpdir(), 'npm-cache-'));
  const url = `http://user:hidden@127.0.0.1:${(registry.address() as AddressInfo).port}/`;
  try {
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        ['scripts/check-vulnerabilities.mjs'],
        {
          cwd: ROOT,
          env: {
            PATH: process.env['PATH'],
            HOME: process.env['HOME'],
            npm_config_registry: url,
            npm_config_cache: cache,
            ...env,
          },
        },
        (error, stdout) => resolve([error === null ? 0 : Number(error.code), stdout]),
      );
    });
  } finally {
    registry.close();
    registry.closeAllConnections();
    rmSync(cache, { recursive: true, force: true });
  }
}

describe('the check for known vulnerabilities', function () {
  this.timeout(120_000);

  it('fails and names the package when production installs one that is vulnerable', async () => {
    const koa = {
      id: 1,
      title: 'It leaks',
      url: 'https://advisories.example/1',
      severity: 'high',
      vulnerable_versions: '>=0',
    };
    const [code, said] = await check({ koa: [koa] });
    assert.equal(code, 1, said);
    assert.match(said, /^high: koa \(It leaks, https:\/\/advisories\.example\/1\)$/m);
    // The router depends on koa, so it is counted, too.
    assert.match(said, /^Packages with known vulnerabilities: 2\.$/m);
  });

  it('leaves out what only development installs', async () => {
    const mocha = {
      id: 2,
      title: 'It leaks',
      url: 'https://advisories.example/1',
      severity: 'high',
      vulnerable_versions: '>=0',
    };
    assert.deepEqual(await check({ mocha: [mocha] }), [
      0,
      'No package that production installs has a known vulnerability.\n',
    ]);
  });

  it('says that it did not run where the registry has no advisories, and does not print its address', async () => {
    const [code, said] = await check(undefined);
    assert.equal(code, 0);
    assert.match(said, /^NOT RUN: the registry did not tell of vulnerabilities \(.*405/);
    assert.doesNotMatch(said, /127\.0\.0\.1|hidden/);
    const [required] = await check(undefined, { REQUIRE_PROGRAMS: '1' });
    assert.equal(required, 1);
  });
});
