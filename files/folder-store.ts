import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { MARK, MissingBytesError, type FileStore } from './file-store.js';

/** The number of reads, and their interval, of a mark that another process is still writing. */
const MARK_READS = 20;
const MARK_AGAIN_MS = 50;

/** Stores files in a folder, as FOLDER/ab/abcdef. Creates the folder when it is needed. */
export function createFolderStore(folder: string): FileStore {
  const pathOf = (name: string): string => path.join(folder, name.slice(0, 2), name);
  const partOf = (name: string): string => `${pathOf(name)}.part`;
  return {
    bufferBytes: 256 * 1024,
    lateMs: 0,
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
        // Another process has just created the file, and has not written to it yet.
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

/** Syncs the folder, because otherwise a rename may be lost in a power failure. */
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
