import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { MAX_FILE_CALLS, type FileRequest } from '../../../../activities/kinds/code/child/messages.js';
import { serveFiles, type CodeFilesDeps } from '../../../../activities/kinds/code/code-files.js';
import type { NodeTask } from '../../../../activities/node/node-step.js';

const { signal } = new AbortController();

/** Serves files of one byte each. */
function oneByteFiles() {
  const files = {
    find: () => Promise.resolve({ size: 1 }),
    read: () => Promise.resolve(Readable.from([Buffer.from('x')])),
  };
  const task = { memory: { bytes: 0, resize: () => undefined } };
  return serveFiles({ files } as unknown as CodeFilesDeps, task as unknown as NodeTask);
}

describe('the files of code', () => {
  it('are read and saved at most 1,000 times', async () => {
    const serve = oneByteFiles();
    const request: FileRequest = { status: 'read', fileId: 'a', as: 'bytes' };
    const receive = () => Promise.reject(new Error('nothing is saved'));
    for (let call = 0; call < MAX_FILE_CALLS; call += 1) {
      assert.deepEqual(await serve(request, receive, signal), Buffer.from('x'), `call ${call}`);
    }
    const refused = await serve(request, receive, signal);
    assert.ok('answer' in refused && refused.answer === 'failed');
    assert.equal(refused.code, 'file_too_large');
    assert.equal(MAX_FILE_CALLS, 1_000);
  });
});
