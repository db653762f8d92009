import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { ApiError } from '../../../api/http/errors.js';
import { readMultipart, type BodyPart } from '../../../api/http/multipart.js';

const contentType = 'multipart/form-data; boundary=xx';
const partOf = (field: string, content: string): string =>
  `--xx\r\nContent-Disposition: form-data; name="${field}"; filename="${field}"\r\n\r\n${content}\r\n`;
const names = ['a', 'b', 'c', 'd', 'e'];
const END = '--xx--\r\n';

const read = (pieces: Iterable<string> | AsyncIterable<string>, onPart: (part: BodyPart) => Promise<void>) =>
  readMultipart(Readable.from(pieces, { objectMode: false }), { contentType, maxParts: 100, onPart });

async function turns(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await turn();
}

describe('the parts of a multipart body', () => {
  for (const [how, pieces] of [
    ['at once', [names.map((name) => partOf(name, name.repeat(10))).join('') + END]],
    ['each by itself', [...names.map((name) => partOf(name, name.repeat(100_000))), END]],
  ] as const) {
    it(`are read in their order, one after the other, where they come ${how}`, async () => {
      const ended: string[] = [];
      let open = 0;
      await read(pieces, async ({ field, bytes }) => {
        open += 1;
        assert.equal(open, 1);
        const content = await text(bytes);
        assert.equal(content, field.repeat(content.length));
        // Earlier parts take longer to save.
        await turns(5 * (names.length - names.indexOf(field)));
        open -= 1;
        ended.push(field);
      });
      assert.deepEqual(ended, names);
    });
  }

  it('are not taken from the sender while an earlier one is saved', async () => {
    let taken = 0;
    async function* sent(): AsyncGenerator<string> {
      for (taken = 1; taken <= 50; taken += 1) yield partOf('p', 'x'.repeat(2_000));
      yield END;
    }
    let takenMeanwhile: number | undefined;
    let saved = 0;
    await read(sent(), async ({ bytes }) => {
      await text(bytes);
      if (takenMeanwhile === undefined) {
        await turns(1_000);
        takenMeanwhile = taken;
      }
      saved += 1;
    });
    assert.equal(saved, 50);
    // A few parts are taken in advance: the next one, and those that streams buffer.
    assert.ok(takenMeanwhile! < 20, `${takenMeanwhile} parts were taken`);
  });

  it('of a body that breaks off end with its failure, and the parts behind it are not read', async () => {
    async function* broken(): AsyncGenerator<string> {
      yield partOf('a', 'x') + partOf('b', 'half').trimEnd();
      await turns(20);
      throw new ApiError(408, 'timeout', 'Too slow.');
    }
    const ended: string[] = [];
    const reading = read(broken(), async ({ field, bytes }) => {
      await text(bytes);
      ended.push(field);
    });
    await assert.rejects(reading, { code: 'timeout' });
    assert.deepEqual(ended, ['a']);
  });

  it('are not read behind one that is refused', async () => {
    const begun: string[] = [];
    const reading = read([names.map((name) => partOf(name, name)).join('') + END], async ({ field, bytes }) => {
      begun.push(field);
      await text(bytes);
      if (field === 'b') throw new RangeError('too large');
    });
    await assert.rejects(reading, RangeError);
    assert.deepEqual(begun, ['a', 'b']);
  });
});
