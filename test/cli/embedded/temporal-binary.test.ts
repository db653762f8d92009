import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findTemporalBinary } from '../../../cli/embedded/temporal-binary.js';
import { extractTarEntry } from '../../../cli/embedded/temporal-download.js';

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

  it('finds the program inside a downloaded archive', () => {
    const archive = Buffer.concat([
      tarHeader('LICENSE', 3),
      tarBody('MIT'),
      tarHeader('temporal', 7),
      tarBody('program'),
    ]);
    assert.equal(extractTarEntry(archive, 'temporal').toString(), 'program');
    assert.throws(() => extractTarEntry(archive, 'missing'), /no file missing/);
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
