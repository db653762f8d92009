import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { MAX_FILE_CALLS, type FileRequest } from '../../../../activities/kinds/code/child/messages.js';
import { serveFiles, type CodeFilesDeps } from '../../../../activities/kinds/code/code-files.js';
import type { DocumentTexts } from '../../../../activities/files/document-texts.js';
import type { NodeTask } from '../../../../activities/node/node-step.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import { createGate } from '../../../../harness/timing/gate.js';

/** A limit that counts the waits that do not count as time of the program. */
function createLimit() {
  let pauses = 0;
  return {
    signal: new AbortController().signal,
    outside<T>(wait: Promise<T>): Promise<T> {
      pauses += 1;
      return wait;
    },
    pauses: () => pauses,
  };
}

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
    const [serve, limit] = [oneByteFiles(), createLimit()];
    const request: FileRequest = { status: 'read', fileId: 'a', as: 'bytes' };
    const receive = () => Promise.reject(new Error('nothing is saved'));
    for (let call = 0; call < MAX_FILE_CALLS; call += 1) {
      assert.deepEqual(await serve(request, receive, limit), Buffer.from('x'), `call ${call}`);
    }
    const refused = await serve(request, receive, limit);
    assert.ok('answer' in refused && refused.answer === 'failed');
    assert.equal(refused.code, 'file_too_large');
    assert.equal(MAX_FILE_CALLS, 1_000);
    assert.equal(limit.pauses(), 0, 'nothing has waited');
  });

  it('take none of the time of the code while they wait for memory or for a process that reads documents', async () => {
    const [memory, turn] = [createGate(), createGate()];
    const files = {
      find: () => Promise.resolve({ size: 1 }),
      read: () => Promise.resolve(Readable.from([Buffer.from('%')])),
    };
    const texts: DocumentTexts = {
      async textOf(_bytes, { outside }) {
        await outside!(turn.opened);
        return 'the text';
      },
    };
    const task = { memory: { bytes: 0, resize: () => memory.opened }, run: { projectId: 1 } };
    const serve = serveFiles({ files, texts } as unknown as CodeFilesDeps, task as unknown as NodeTask);
    const limit = createLimit();
    const served = serve({ status: 'read', fileId: 'a', as: 'text' }, () => Promise.reject(new Error()), limit);
    await eventually(() => limit.pauses() === 1);
    memory.open();
    await eventually(() => limit.pauses() === 2);
    turn.open();
    assert.deepEqual(await served, Buffer.from('the text'));
  });
});
