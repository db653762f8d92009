import assert from 'node:assert/strict';
import { HeavyWork } from '../../../api/http/heavy-work.js';
import { discardUnlessTakenOver, keepIfAccepted } from '../../../api/runs/uploaded-input.js';
import type { ReceivedInput } from '../../../api/runs/read-run-input.js';
import { createGate } from '../../../harness/timing/gate.js';

describe('the files of a multipart start', () => {
  const failure = new Error('503');
  /** Returns the ids of the files that are deleted when `work` handles the request. */
  async function discardedBy(
    work: (files: never, received: ReceivedInput) => Promise<unknown>,
  ): Promise<(string | undefined)[]> {
    const discarded: (string | undefined)[] = [];
    const files = {
      discard(saved: { file_id?: string }[]) {
        discarded.push(...saved.map(({ file_id: id }) => id));
        return Promise.resolve();
      },
    } as never;
    const file = { file_id: 'f', name: 'f', type: 't', size: 1, sha256: 'x' };
    const received: ReceivedInput = { input: undefined, uploads: [{ field: 'file', file }] };
    await assert.rejects(
      discardUnlessTakenOver(files, received, () => work(files, received)),
      failure,
    );
    return discarded;
  }
  const accept = (status: number) => () => Promise.resolve({ envelope: { status } as never, isRepeat: false });

  it('are deleted if the request fails before its handler is called', async () => {
    assert.deepEqual(await discardedBy(() => Promise.reject(failure)), ['f']);
  });

  it('are kept if the run is accepted and the request fails after that', async () => {
    const discarded = await discardedBy(async (files, received) => {
      await keepIfAccepted({ files }, received, accept(201));
      throw failure;
    });
    assert.deepEqual(discarded, []);
  });

  it('are deleted once if the run is not accepted and the request fails after that', async () => {
    const discarded = await discardedBy(async (files, received) => {
      await keepIfAccepted({ files }, received, accept(422));
      throw failure;
    });
    assert.deepEqual(discarded, ['f']);
  });

  it('are deleted outside of the turn for large work, so that others do not wait for the store of files', async () => {
    const heavyWork = new HeavyWork();
    const { signal } = new AbortController();
    const large = 1024 * 1024;
    const slow = createGate();
    const files = { discard: () => slow.opened } as never;
    const file = { file_id: 'f', name: 'f', type: 't', size: 1, sha256: 'x' };
    const received: ReceivedInput = { input: undefined, uploads: [{ field: 'file', file }] };
    const refused = heavyWork.run({ tenant: 'a', signal }, large, () =>
      keepIfAccepted({ files }, received, accept(422)),
    );
    assert.equal(await heavyWork.run({ tenant: 'b', signal }, large, () => 'done'), 'done');
    slow.open();
    await refused;
  });
});
