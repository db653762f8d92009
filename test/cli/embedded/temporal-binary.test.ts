import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { findTemporalBinary, TEMPORAL_CLI_VERSION } from '../../../cli/embedded/temporal-binary.js';
import { ARCHIVE_HASHES, downloadTemporal } from '../../../cli/embedded/temporal-download.js';

describe('the way to the Temporal program', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'temporal-binary-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A program that says what the CLI says about its version. */
  function place(...segments: string[]): string {
    const file = path.join(folder, ...segments);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, '#!/bin/sh\necho "temporal version 1.5.1"\n', { mode: 0o755 });
    return file;
  }

  function find(configured?: string): Promise<string> {
    const env = { PATH: path.join(folder, 'path'), XDG_CACHE_HOME: path.join(folder, 'cache') };
    return findTemporalBinary({ configured, env, report: () => undefined, signal: AbortSignal.timeout(10_000) });
  }

  it('is TEMPORAL_CLI, then PATH, then the cache', async () => {
    const cached = place('cache', 'workflow-automation', 'bin', 'temporal');
    assert.equal(await find(), cached);
    const onPath = place('path', 'temporal');
    assert.equal(await find(), onPath);
    const configured = place('elsewhere', 'temporal-cli');
    assert.equal(await find(configured), configured);
  });

  it('passes by another program of the same name on PATH', async () => {
    const cached = place('cache', 'workflow-automation', 'bin', 'temporal');
    mkdirSync(path.join(folder, 'path'));
    writeFileSync(path.join(folder, 'path', 'temporal'), '#!/bin/sh\necho something else\n', { mode: 0o755 });
    assert.equal(await find(), cached);
  });

  it('has a pinned hash for each platform that the version in use is downloaded for', () => {
    const hashes = ARCHIVE_HASHES[TEMPORAL_CLI_VERSION] ?? {};
    const platforms = ['darwin_amd64', 'darwin_arm64', 'linux_amd64', 'linux_arm64'];
    assert.deepEqual(Object.keys(hashes).toSorted(), platforms);
    for (const hash of Object.values(hashes)) assert.match(hash, /^[0-9a-f]{64}$/);
  });

  describe('by download', () => {
    const archive = gzipSync(
      Buffer.concat([tarHeader('LICENSE', 3), tarBody('MIT'), tarHeader('temporal', 7), tarBody('program')]),
    );
    const archiveHash = createHash('sha256').update(archive).digest('hex');
    const arch = process.arch === 'x64' ? 'amd64' : process.arch;
    const pinArchive = () => (ARCHIVE_HASHES[TEMPORAL_CLI_VERSION] = { [`${process.platform}_${arch}`]: archiveHash });
    const [realFetch, realHashes] = [globalThis.fetch, { ...ARCHIVE_HASHES }];
    afterEach(() => {
      globalThis.fetch = realFetch;
      Object.assign(ARCHIVE_HASHES, realHashes);
    });

    async function download(version: string, fileToExtract = 'temporal'): Promise<string> {
      const info = { archiveUrl: 'https://temporal.download/assets/x.tar.gz', fileToExtract };
      globalThis.fetch = async (url) => new Response(url === info.archiveUrl ? archive : JSON.stringify(info));
      const target = path.join(folder, 'temporal');
      await downloadTemporal(version, target, { report: () => undefined, signal: AbortSignal.timeout(10_000) });
      return readFileSync(target, 'utf8');
    }

    it('takes the archive whose hash is pinned, and writes nothing of another one', async () => {
      await assert.rejects(
        download(TEMPORAL_CLI_VERSION),
        /^Error: the archive has the SHA-256 [0-9a-f]{64} instead of /,
      );
      assert.deepEqual(readdirSync(folder), []);
      pinArchive();
      assert.equal(await download(TEMPORAL_CLI_VERSION), 'program');
    });

    it('does not even ask for a version without a pinned hash', async () => {
      await assert.rejects(download('v0.0.1'), /no SHA-256 of v0\.0\.1 for/);
    });

    it('finds the program among the files of the archive, and says so where it is missing', async () => {
      pinArchive();
      assert.equal(await download(TEMPORAL_CLI_VERSION), 'program');
      await assert.rejects(download(TEMPORAL_CLI_VERSION, 'missing'), /no file missing/);
    });
  });
});

function tarHeader(name: string, sizeBytes: number): Buffer {
  const block = Buffer.alloc(512);
  block.write(name, 0);
  block.write(sizeBytes.toString(8).padStart(11, '0'), 124);
  return block;
}

function tarBody(text: string): Buffer {
  return Buffer.concat([Buffer.from(text), Buffer.alloc(512 - text.length)]);
}
