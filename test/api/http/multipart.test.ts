import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { readMultipart } from '../../../api/http/multipart.js';
import type { InTurn } from '../../../api/http/heavy-work.js';
import { readParts } from '../../../api/runs/read-run-input.js';
import type { Files } from '../../../files/files.js';
import { ByteBudget } from '../../../memory/byte-budget.js';

const GBK = Buffer.from('d0d5c3fb', 'hex');

function bodyOf(parts: [name: string, type: string | undefined, content: Buffer | string][]): Readable {
  const written = parts.flatMap(([name, type, content]) => [
    `--x\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.csv"\r\n`,
    type === undefined ? '\r\n' : `content-TYPE: ${type}\r\n\r\n`,
    content,
    '\r\n',
  ]);
  const bytes = Buffer.concat([...written, '--x--\r\n'].map((piece) => Buffer.from(piece)));
  return Readable.from(
    [...bytes].map((byte) => Buffer.of(byte)),
    { objectMode: false },
  );
}

const atOnce: InTurn = async (_sizeBytes, work) => work();

describe('multipart bodies', () => {
  it('tell the media type of each part with its parameters', async () => {
    const types = ['text/csv; charset=gbk', undefined, 'Text/Plain;charset="Shift_JIS"; header=present', 'image/png'];
    const seen: string[] = [];
    await readMultipart(bodyOf(types.map((type, at) => [`part${at}`, type, GBK])), {
      contentType: 'multipart/form-data; boundary=x',
      maxParts: 10,
      async onPart({ type, bytes }) {
        seen.push(type);
        assert.ok((await buffer(bytes)).equals(GBK));
      },
    });
    assert.deepEqual(seen, [types[0], 'text/plain', types[2], types[3]]);
  });

  it('have at most as many parts as the caller allows', async () => {
    for (const maxParts of [1, 2, 100]) {
      const readOf = async (count: number): Promise<number> => {
        let seen = 0;
        await readMultipart(bodyOf(Array.from({ length: count }, (_, at) => [`part${at}`, 'text/csv', 'x'])), {
          contentType: 'multipart/form-data; boundary=x',
          maxParts,
          async onPart({ bytes }) {
            await buffer(bytes);
            seen += 1;
          },
        });
        return seen;
      };
      assert.equal(await readOf(maxParts), maxParts);
      const message = `The body has more than ${maxParts} parts.`;
      await assert.rejects(readOf(maxParts + 1), { status: 400, code: 'parse_error', message });
    }
  });

  it('that start a run have at most 100 parts, and the files of one with more are discarded', async () => {
    const discarded: unknown[] = [];
    const files = {
      bufferBytes: 0,
      save: async ({ name }: { name: string }, bytes: Readable) => {
        await buffer(bytes);
        return { file_id: name };
      },
      discard: (saved: unknown[]) => Promise.resolve(void discarded.push(...saved)),
    } as unknown as Files;
    const readOf = async (count: number) =>
      readParts(files, {
        body: bodyOf(Array.from({ length: count }, (_, at) => [`part${at}`, 'text/csv', 'x'])),
        contentType: 'multipart/form-data; boundary=x',
        owner: { projectId: 1 },
        limitBytes: 1_000,
        lease: new ByteBudget({ totalBytes: 1_000_000, uncountedBytes: 0 }).lease('user:1'),
        inTurn: atOnce,
        signal: new AbortController().signal,
      });
    assert.equal((await readOf(100)).uploads.length, 100);
    assert.deepEqual(discarded, []);
    const message = 'The body has more than 100 parts.';
    await assert.rejects(readOf(101), { status: 400, code: 'parse_error', message });
    assert.ok(discarded.length > 0 && discarded.length <= 100, `${discarded.length}`);
  });

  it('whose input is no object are refused, and their files are discarded', async () => {
    const discarded: unknown[] = [];
    const files = {
      bufferBytes: 0,
      save: async (_file: object, bytes: Readable) => {
        await buffer(bytes);
        return { file_id: 'f' };
      },
      discard: (saved: unknown[]) => Promise.resolve(void discarded.push(...saved)),
    } as unknown as Files;
    const inputs = ['[]', '[{"doc":"x"}]', 'null', '7', '"text"'];
    for (const input of inputs) {
      const read = readParts(files, {
        body: bodyOf([
          ['doc', 'text/csv', 'x'],
          ['input', 'application/json', input],
        ]),
        contentType: 'multipart/form-data; boundary=x',
        owner: { projectId: 1 },
        limitBytes: 1_000,
        lease: new ByteBudget({ totalBytes: 1_000_000, uncountedBytes: 0 }).lease('user:1'),
        inTurn: atOnce,
        signal: new AbortController().signal,
      });
      const message = 'The field `input` must be a JSON object.';
      await assert.rejects(read, { status: 400, code: 'invalid', message }, input);
    }
    assert.equal(discarded.length, inputs.length);
  });

  it('keep the charset of files; the input is decoded with the charset of its own part', async () => {
    const saved: (string | undefined)[] = [];
    const files = {
      bufferBytes: 0,
      save: async ({ type }: { type?: string }, bytes: Readable) => {
        saved.push(type);
        await buffer(bytes);
        return {};
      },
      discard: () => Promise.resolve(),
    } as unknown as Files;
    const read = (type: string, input: Buffer) =>
      readParts(files, {
        body: bodyOf([
          ['doc', 'text/csv; charset=gbk', GBK],
          ['input', type, input],
        ]),
        contentType: 'multipart/form-data; boundary=x',
        owner: { projectId: 1 },
        limitBytes: 1_000,
        lease: new ByteBudget({ totalBytes: 1_000_000, uncountedBytes: 0 }).lease('user:1'),
        inTurn: atOnce,
        signal: new AbortController().signal,
      });
    const json = (text: string | Buffer): Buffer =>
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from(text), Buffer.from('"}')]);
    assert.deepEqual((await read('application/json', json('ä'))).input, { a: 'ä' });
    assert.deepEqual((await read('application/json; charset=gbk', json(GBK))).input, { a: '姓名' });
    assert.deepEqual(saved, ['text/csv; charset=gbk', 'text/csv; charset=gbk']);
    for (const type of ['application/json', 'application/json; charset=shift_jis']) {
      await assert.rejects(read(type, json(Buffer.from('a0fdff', 'hex'))), { status: 400 }, type);
    }
  });
});
