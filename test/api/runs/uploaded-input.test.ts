import assert from 'node:assert/strict';
import { discardUnlessTakenOver, keepIfAccepted } from '../../../api/runs/uploaded-input.js';
import type { ReceivedInput } from '../../../api/runs/read-run-input.js';

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
});
