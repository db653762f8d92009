// Saving the answer of a call that must not be repeated, while the store or PostgreSQL is away.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createFileUse } from '../../../activities/files/file-use.js';
import type { Database } from '../../../db/core/client.js';
import type { Files } from '../../../files/files.js';
import { StoreAwayError } from '../../../files/store-failures.js';
import type { FileValue } from '../../../graph/file-values.js';
import { createMasker } from '../../../graph/mask.js';

const SAVED = { file_id: 'f', name: 'a.txt' } as unknown as FileValue;
const LONG_MS = 60_000;
const db = {} as Database;
type Save = (signal: AbortSignal) => Promise<FileValue>;

/** Saves one answer. `saves` are called in turn, the last one again and again. */
async function saveAnswer(saves: Save[], limits: { store?: number; database?: number }, signal?: AbortSignal) {
  let calls = 0;
  const save = (_file: unknown, _bytes: unknown, given: AbortSignal): Promise<FileValue> => {
    calls += 1;
    return saves[Math.min(calls, saves.length) - 1]!(given);
  };
  const use = createFileUse(db, { maxBytes: 1, save } as unknown as Files, {
    store: LONG_MS,
    database: LONG_MS,
    pause: 1,
    ...limits,
  });
  const task = {
    run: { projectId: 1, masker: createMasker([]) },
    runId: 'r',
    signal: signal ?? new AbortController().signal,
  } as unknown as Parameters<typeof use.saveAnswer>[0];
  const ended = use.saveAnswer(task, { name: 'a.txt', type: undefined }, Buffer.from('a'));
  return { value: await ended.catch((error: unknown) => error), calls };
}

const storeAway: Save = () => Promise.reject(new StoreAwayError(new Error('no store')));
const databaseAway: Save = () => Promise.reject(Object.assign(new Error('terminating connection'), { code: '57P01' }));
const saved: Save = () => Promise.resolve(SAVED);
/** Behaves like an S3 server that accepts a request and never answers it. */
const silent: Save = async (signal) => {
  await once(signal, 'abort');
  throw signal.reason;
};

describe('the answer of a call that must not be repeated', () => {
  it('is saved when the store and PostgreSQL are back', async () => {
    assert.deepEqual(await saveAnswer([databaseAway, storeAway, databaseAway, saved], {}), { value: SAVED, calls: 4 });
  });

  it('is files_unavailable when the store was away for the limit, with PostgreSQL not waited for', async () => {
    const { value } = await saveAnswer([storeAway], { store: 20 });
    assert.equal((value as { code: string }).code, 'files_unavailable');
  });

  it('waits longer for PostgreSQL than for the store', async () => {
    const { value, calls } = await saveAnswer([...Array<Save>(30).fill(databaseAway), saved], { store: 0 });
    assert.deepEqual([value, calls], [SAVED, 31]);
    const late = await saveAnswer([databaseAway], { database: 20 });
    assert.equal((late.value as { code: string }).code, '57P01');
  });

  it('does not wait longer for a store that takes the bytes and does not answer', async () => {
    const { value } = await saveAnswer([silent], { store: 20 });
    assert.equal((value as { code: string }).code, 'files_unavailable');
  });

  it('is given up at once when the attempt is stopped', async () => {
    const { value, calls } = await saveAnswer([storeAway, saved], {}, AbortSignal.abort());
    assert.deepEqual([(value as Error).name, calls], ['AbortError', 1]);
  });
});
