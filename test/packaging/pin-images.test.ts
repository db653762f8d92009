// `npm run images:pin`, with a stand-in for docker.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { ROOT, type ComposeFile } from './compose-file.js';

const FILES = ['docker-compose.yml', 'Dockerfile', 'scripts/pin-images.mjs'];

describe('the script that pins images', () => {
  let folder: string;
  const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'pin-images-'));
    for (const file of FILES) cpSync(path.join(ROOT, file), path.join(folder, file));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs the command with a `docker` that executes `script`. */
  function pin(script: string): void {
    mkdirSync(path.join(folder, 'bin'), { recursive: true });
    writeFileSync(path.join(folder, 'bin/docker'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const PATH = `${path.join(folder, 'bin')}:${process.env['PATH']}`;
    execFileSync(process.execPath, ['scripts/pin-images.mjs'], { cwd: folder, env: { PATH }, stdio: 'pipe' });
  }

  const digestBy = (letter: string): string => `printf 'sha256:%064d\\n' 0 | tr 0 ${letter}`;

  it('writes the digest behind each foreign image, again with newer ones, and changes nothing else', () => {
    const before = FILES.map(read);
    for (const letter of ['a', 'b']) {
      pin(digestBy(letter));
      const { services } = parse(read('docker-compose.yml'), { merge: true }) as ComposeFile;
      for (const [name, { image, build }] of Object.entries(services)) {
        if (build === undefined && !image.startsWith('workflow-automation')) {
          assert.match(image, new RegExp(`:[\\w.-]+@sha256:${letter}{64}$`), name);
        } else assert.doesNotMatch(image, /@/, name);
      }
      assert.equal(
        [...read('Dockerfile').matchAll(new RegExp(`^FROM node:\\S+@sha256:${letter}{64} AS`, 'gm'))].length,
        2,
      );
    }
    assert.deepEqual(
      FILES.map((file) => read(file).replaceAll(/@sha256:[0-9a-f]{64}/g, '')),
      before,
    );
  });

  it('writes nothing when a registry does not answer, or answers with no digest', () => {
    const before = FILES.map(read);
    assert.throws(() => pin(`case "$*" in *temporalio/ui*) exit 1;; esac; ${digestBy('a')}`));
    assert.throws(() => pin('echo latest'));
    assert.deepEqual(FILES.map(read), before);
  });
});
