import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { cleanFileName, cleanFileType } from '../../files/file-value.js';
import { createFolderStore } from '../../files/folder-store.js';
import { createFileSealer, sealedRange, type CopyKey } from '../../files/sealed-copy.js';
import { createRandom } from '../openapi/requests/random.js';
import { cpuMillisecondsUntil } from '../support/cpu-time.js';

/** `FILES_SEED=7` tries other parts. */
const SEED = Number(process.env['FILES_SEED'] ?? 1);
const CHUNK = 64 * 1024;
const keys = [randomBytes(32), randomBytes(32)];
const sealer = createFileSealer(keys);
const copyOf = (projectId = 7): CopyKey => ({ projectId, copyId: crypto.randomUUID(), seal: sealer.newSeal() });

async function seal(copy: CopyKey, plain: Buffer, pieceBytes = 10_007): Promise<Buffer> {
  const pieces = Array.from({ length: Math.ceil(plain.length / pieceBytes) }, (_, at) =>
    plain.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );
  return buffer(Readable.from(pieces, { objectMode: false }).pipe(sealer.sealing(copy)));
}

async function open(copy: CopyKey, sealed: Buffer, size: number, range = { start: 0, end: size }, from = sealer) {
  const part = sealedRange(size, range);
  const pieces = Readable.from([sealed.subarray(part.start, part.end)], { objectMode: false });
  return buffer(pieces.pipe(from.opening(copy, size, range)));
}

describe('the sealed bytes of a file', () => {
  it(`open as they were, whatever their size, and in every part (seed ${SEED})`, async () => {
    const random = createRandom(SEED);
    for (const size of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 17]) {
      const plain = randomBytes(size);
      const copy = copyOf();
      const sealed = await seal(copy, plain);
      assert.deepEqual(await open(copy, sealed, size), plain, `${size}`);
      if (size === 0) continue;
      for (let time = 0; time < 20; time += 1) {
        const start = random.integer(size);
        const end = start + 1 + random.integer(size - start);
        const part = await open(copy, sealed, size, { start, end });
        assert.deepEqual(part, plain.subarray(start, end), `${start}-${end} of ${size}`);
      }
    }
  });

  it('are sealed and opened in a time that grows with their size, even where they come in one piece', async () => {
    const size = 128 * 1024 * 1024;
    const copy = copyOf();
    const tookMs = await cpuMillisecondsUntil(async () => {
      const sealed = await seal(copy, Buffer.alloc(size), size);
      assert.equal((await open(copy, sealed, size)).length, size);
    });
    assert.ok(tookMs < 20_000, `${tookMs} ms`);
  });

  it('reveal nothing of the plain bytes', async () => {
    const plain = Buffer.alloc(3 * CHUNK, 'secret');
    const [one, other] = [await seal(copyOf(), plain), await seal(copyOf(), plain)];
    assert.equal(one.includes('secret'), false);
    assert.notDeepEqual(one.subarray(0, CHUNK), one.subarray(CHUNK + 16, 2 * CHUNK + 16));
    assert.notDeepEqual(one, other);
  });

  it('do not open when they were changed, moved, cut off, or belong to another copy or project', async () => {
    const size = 3 * CHUNK;
    const copy = copyOf();
    const sealed = await seal(copy, randomBytes(size));
    const one = CHUNK + 16;
    const flipped = Buffer.from(sealed);
    flipped[CHUNK + 99]! ^= 1;
    const swapped = Buffer.concat([sealed.subarray(one, 2 * one), sealed.subarray(0, one), sealed.subarray(2 * one)]);
    const attempts: [string, Promise<Buffer>][] = [
      ['changed', open(copy, flipped, size)],
      ['moved', open(copy, swapped, size)],
      ['cut off', open(copy, sealed.subarray(0, -1), size)],
      ['cut off after a chunk', open(copy, sealed.subarray(0, 2 * one), size)],
      ['cut off after a chunk, with the size to match', open(copy, sealed.subarray(0, 2 * one), 2 * CHUNK)],
      ['of another copy', open({ ...copy, copyId: crypto.randomUUID() }, sealed, size)],
      ['of another project', open({ ...copy, projectId: 8 }, sealed, size)],
    ];
    for (const [name, attempt] of attempts) await assert.rejects(attempt, Error, name);
  });

  it('open with any of the keys, and throw MissingKeyError without theirs', async () => {
    const old = createFileSealer([keys[1]!]);
    const copy = { projectId: 7, copyId: crypto.randomUUID(), seal: old.newSeal() };
    const sealed = await buffer(Readable.from([Buffer.from('x')], { objectMode: false }).pipe(old.sealing(copy)));
    assert.equal(String(await open(copy, sealed, 1)), 'x');
    assert.throws(() => createFileSealer([randomBytes(32)]).opening(copy, 1, { start: 0, end: 1 }), {
      name: 'MissingKeyError',
    });
  });
});

describe('the folder of files', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(path.join(os.tmpdir(), 'files-'))));
  afterEach(() => rm(folder, { recursive: true }));

  const all = async (): Promise<string[]> =>
    (await readdir(folder, { recursive: true, withFileTypes: true })).filter((e) => e.isFile()).map((e) => e.name);

  it('keeps bytes, gives parts of them, and removes them', async () => {
    const store = createFolderStore(folder);
    await store.write('abcd', Readable.from([Buffer.from('hello '), Buffer.from('world')]));
    assert.equal(String(await buffer(await store.read('abcd', { start: 0, end: 11 }))), 'hello world');
    assert.equal(String(await buffer(await store.read('abcd', { start: 4, end: 7 }))), 'o w');
    await store.remove('abcd');
    await store.remove('abcd');
    assert.deepEqual(await all(), []);
    await assert.rejects(store.read('abcd', { start: 0, end: 1 }), { name: 'MissingBytesError' });
  });

  it('keeps nothing of a write that failed, and removes the partial file of an earlier process', async () => {
    const store = createFolderStore(folder);
    const broken = Readable.from(
      (function* () {
        yield Buffer.from('half');
        throw new Error('gone');
      })(),
    );
    await assert.rejects(store.write('abcd', broken), /gone/);
    assert.deepEqual(await all(), []);
    await store.write('abcd', Readable.from([Buffer.from('x')]));
    await writeFile(path.join(folder, 'ab', 'abcd.part'), 'y');
    await store.remove('abcd');
    assert.deepEqual(await all(), []);
  });

  it('has one mark, whoever comes first', async () => {
    const [one, other] = [createFolderStore(folder), createFolderStore(folder)];
    const marks = await Promise.all([one.markedAs('a'), other.markedAs('b')]);
    assert.equal(marks[0], marks[1]);
    assert.equal(await readFile(path.join(folder, 'store-mark'), 'utf8'), marks[0]);
  });

  it('waits for a mark that another process is writing, and takes none that is empty', async () => {
    const file = path.join(folder, 'store-mark');
    await mkdir(folder, { recursive: true });
    await writeFile(file, '');
    const store = createFolderStore(folder);
    const found = store.markedAs('mine');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await writeFile(file, 'theirs');
    assert.equal(await found, 'theirs');
    await writeFile(file, '');
    await assert.rejects(store.markedAs('mine'), /store-mark is empty/);
  });
});

describe('the name and the type of a file', () => {
  it('have no path, no control character and no bidirectional text mark in the name', () => {
    const names: [string, string][] = [
      ['report.pdf', 'report.pdf'],
      ['../../etc/passwd', 'passwd'],
      [String.raw`C:\Users\me\a.txt`, 'a.txt'],
      ['a\r\nX-Evil: 1.txt', 'a  X-Evil: 1.txt'],
      ['exe.\u202Etxt.pdf', 'exe. txt.pdf'],
      ['..', 'file'],
      ['', 'file'],
      ['a/', 'file'],
      ['\u0000', 'file'],
      ['ä'.repeat(300), 'ä'.repeat(255)],
      ['\ud800x', '\ufffdx'],
    ];
    for (const [given, cleaned] of names) assert.equal(cleanFileName(given), cleaned, JSON.stringify(given));
  });

  it('are, for the type, the declared media type if that is valid', () => {
    assert.equal(cleanFileType('Image/PNG'), 'image/png');
    assert.equal(cleanFileType('text/plain; charset=utf-8'), 'text/plain; charset=utf-8');
    for (const given of [undefined, '', 'png', 'a/b\r\nX: y', 'a/b\r\n\r\n;x', `a/${'b'.repeat(300)}`])
      assert.equal(cleanFileType(given), 'application/octet-stream');
  });
});
