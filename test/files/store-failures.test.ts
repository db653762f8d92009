import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { MissingBytesError, type FileStore } from '../../files/file-store.js';
import { StoreAwayError, tellingFailures } from '../../files/store-failures.js';

describe('the failures of a store of files', () => {
  const FAILED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const range = { start: 0, end: 1 };
  const fails = (): Promise<never> => Promise.reject(FAILED);
  const storeWith = (some: Partial<FileStore>): FileStore =>
    tellingFailures({ bufferBytes: 7, lateMs: 8, write: fails, read: fails, remove: fails, markedAs: fails, ...some });
  const readsAll: FileStore['write'] = async (_name, bytes) => {
    for await (const piece of bytes) assert.ok(piece.length > 0);
  };

  it('are errors of the type StoreAwayError, with their cause', async () => {
    const store = storeWith({});
    const calls = [
      store.write('a', Readable.from([Buffer.from('bytes')])),
      store.read('a', range),
      store.remove('a'),
      store.markedAs('mark'),
    ];
    for (const call of calls) {
      await assert.rejects(call, (error: unknown) => error instanceof StoreAwayError && error.cause === FAILED);
    }
    assert.deepEqual([store.bufferBytes, store.lateMs], [7, 8]);
  });

  it('do not include errors of the source of a write, missing bytes, and callers that give up', async () => {
    const broken = new PassThrough();
    broken.destroy(new Error('the source broke off'));
    await assert.rejects(storeWith({ write: readsAll }).write('a', broken), /the source broke off/);
    const missing = new MissingBytesError('a');
    await assert.rejects(storeWith({ read: () => Promise.reject(missing) }).read('a', range), missing);
    const stop = new AbortController();
    stop.abort(new Error('no longer wanted'));
    const store = storeWith({ read: () => Promise.reject(stop.signal.reason as Error) });
    await assert.rejects(store.read('a', range, stop.signal), /no longer wanted/);
  });

  it('include a write that fails after it has read its source to the end', async () => {
    const write: FileStore['write'] = async (name, bytes) => {
      await readsAll(name, bytes);
      throw FAILED;
    };
    await assert.rejects(storeWith({ write }).write('a', Readable.from([Buffer.from('bytes')])), StoreAwayError);
  });
});
