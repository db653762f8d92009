import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createFileAnswer } from '../../../../activities/kinds/http/file-answer.js';
import { toFailure } from '../../../../activities/kinds/http/http-answer.js';
import type { FileUse } from '../../../../activities/files/file-use.js';
import type { NodeFailure } from '../../../../activities/node/failures.js';
import type { NodeTask } from '../../../../activities/node/node-step.js';
import { StoreAwayError } from '../../../../files/store-failures.js';
import { createMasker } from '../../../../graph/mask.js';
import type { HttpNodeData } from '../../../../graph/nodes/http.js';

const MOST = 10 * 1024 * 1024;
const PIECE = Buffer.alloc(1024 * 1024, 'text ');

/** Returns the body of an answer, and a count of the bytes that were read. */
function bodyOf(start: Buffer, sizeBytes: number) {
  const told = { bytes: 0 };
  const body = function* (): Generator<Buffer> {
    while (told.bytes < sizeBytes) {
      const piece = (told.bytes === 0 ? start : PIECE).subarray(0, sizeBytes - told.bytes);
      told.bytes += piece.length;
      yield piece;
    }
  };
  return { body: Readable.from(body(), { objectMode: false }), told };
}

describe('an answer without a type', () => {
  const saved: number[] = [];
  const files = {
    maxBytes: 100 * MOST,
    save: async (_task: unknown, _file: unknown, bytes: Readable) => {
      saved.push((await buffer(bytes)).length);
      return { file_id: 'x' };
    },
  } as unknown as FileUse;
  const take = (body: Readable) => {
    const settings = { response: 'auto' } as unknown as HttpNodeData['settings'];
    const answer = createFileAnswer(files, {} as NodeTask, { url: new URL('http://host/a'), settings });
    const taken = answer.consume({ status: 200, headers: {} })!(body);
    return taken.then((bytes) => ({ bytes, file: answer.file() }));
  };

  it('that is a text has at most 10 MiB, and not much more is read', async () => {
    const { bytes, file } = await take(bodyOf(PIECE, MOST).body);
    assert.deepEqual([bytes.length, file, saved], [MOST, undefined, []]);
    const { body, told } = bodyOf(PIECE, 10 * MOST);
    const tooLarge = { code: 'response_too_large', message: 'The response is larger than 10 MiB.' };
    await assert.rejects(take(body), tooLarge);
    assert.ok(told.bytes <= MOST + 4 * PIECE.length, `${told.bytes} bytes were read`);
    await assert.rejects(take(bodyOf(PIECE, MOST + 1).body), tooLarge);
    assert.deepEqual(saved, []);
  });

  it('that is none is a file, with the limit of files', async () => {
    const image = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const { bytes, file } = await take(bodyOf(image, MOST + 1).body);
    assert.deepEqual([bytes.length, file, saved], [0, { file_id: 'x' }, [MOST + 1]]);
  });
});

describe('the answer to a request that is sent again with a renewed credential', () => {
  it('is the output, although the refusal before it was saved as a file', async () => {
    const save = async (_task: unknown, _file: unknown, bytes: Readable) => {
      await buffer(bytes);
      return { file_id: 'refusal' };
    };
    const files = { maxBytes: MOST, save } as unknown as FileUse;
    const settings = { response: 'auto', fail_on_status: false } as unknown as HttpNodeData['settings'];
    const answer = createFileAnswer(files, {} as NodeTask, { url: new URL('http://host/a'), settings });
    await answer.consume({ status: 401, headers: { 'content-type': 'application/pdf' } })!(Readable.from([PIECE]));
    assert.deepEqual(answer.file(), { file_id: 'refusal' });
    const json = { status: 200, headers: { 'content-type': 'application/json' } };
    assert.equal(answer.consume(json), undefined);
    assert.equal(answer.file(), undefined);
  });
});

describe('an answer that becomes a file', () => {
  const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const called = { url: new URL('http://host/a'), hasSecretHost: false, masker: createMasker([]) };
  const failureOf = async (
    saving: (bytes: Readable) => Promise<unknown>,
    body: Readable = Readable.from([PIECE], { objectMode: false }),
  ): Promise<unknown> => {
    const files = { maxBytes: MOST, save: async (_task: unknown, _file: unknown, bytes: Readable) => saving(bytes) };
    const settings = { response: 'file' } as unknown as HttpNodeData['settings'];
    const answer = createFileAnswer(files as unknown as FileUse, {} as NodeTask, { ...called, settings });
    try {
      await answer.consume({ status: 200, headers: {} })!(body);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  const nodeFailure = async (error: unknown, mayRepeat = false): Promise<unknown> => {
    try {
      return toFailure(error, { ...called, mayRepeat });
    } catch (thrown) {
      return thrown;
    }
  };

  it('and cannot be saved is no failure to reach its server, whose POST was carried out', async () => {
    const error = await failureOf(() => Promise.reject(REFUSED));
    assert.equal(await nodeFailure(error), REFUSED);
    for (const mayRepeat of [true, false]) {
      const away = await failureOf(() => Promise.reject(new StoreAwayError(REFUSED)));
      const failure = (await nodeFailure(away, mayRepeat)) as NodeFailure;
      assert.deepEqual([failure.code, failure.isRetryable], ['files_unavailable', mayRepeat]);
    }
  });

  it('and breaks off is a failure of its server', async () => {
    const body = Readable.from(
      (function* () {
        yield PIECE;
        throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
      })(),
      { objectMode: false },
    );
    const failure = (await nodeFailure(await failureOf((bytes) => buffer(bytes), body))) as NodeFailure;
    assert.deepEqual([failure.code, failure.message], ['network_error', 'The request to host:80 failed: ECONNRESET.']);
  });
});
