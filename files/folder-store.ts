import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { MARK, MissingBytesError, type FileStore } from './file-store.js';

/** So often, and after so long, a mark is read again that another process is writing. */
const MARK_READS = 20;
const MARK_AGAIN_MS = 50;

/** Keeps files in a folder, as FOLDER/ab/abcdef. The folder is made when it is needed. */
export function createFolderStore(folder: string): FileStore {
  const pathOf = (name: string): string => path.join(folder, name.slice(0, 2), name);
  const partOf = (name: string): string => `${pathOf(name)}.part`;
  return {
    bufferBytes: 256 * 1024,
    async write(name, bytes, signal) {
      await mkdir(path.dirname(pathOf(name)), { recursive: true, mode: 0o700 });
      try {
        await writeWhole(partOf(name), bytes, signal);
        await rename(partOf(name), pathOf(name));
        await syncFolder(path.dirname(pathOf(name)));
      } catch (error) {
        await rm(partOf(name), { force: true });
        throw error;
      }
    },
    async read(name, { start, end }, signal) {
      const stream = createReadStream(pathOf(name), { start, end: end - 1, ...(signal !== undefined && { signal }) });
      return opened(stream, name);
    },
    async remove(name) {
      await rm(partOf(name), { force: true });
      await rm(pathOf(name), { force: true });
    },
    async markedAs(mark) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = path.join(folder, MARK);
      await writeFile(file, mark, { flag: 'wx', mode: 0o600, flush: true }).catch(unless('EEXIST'));
      for (let reads = 1; reads <= MARK_READS; reads++) {
        const found = (await readFile(file, 'utf8')).trim();
        if (found !== '') return found;
        // Another process has made the file in this moment, and has not written yet.
        await pause(MARK_AGAIN_MS);
      }
      throw new Error(`${file} is empty. Remove it if it stays so.`);
    },
  };
}

async function writeWhole(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    for await (const piece of bytes) {
      signal?.throwIfAborted();
      await handle.appendFile(piece);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A file that was renamed is there after a loss of power only when its folder was written, too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function opened(stream: Readable, name: string): Promise<Readable> {
  return new Promise((resolve, reject) => {
    stream.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? new MissingBytesError(name) : error);
    });
    stream.once('open', () => resolve(stream));
  });
}

function unless(code: string): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
