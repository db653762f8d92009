import assert from 'node:assert/strict';
import { createStepText } from '../../../activities/live/step-text.js';
import { RunTexts } from '../../../api/live/run-texts.js';
import { TextReader, type TextDelta } from '../../../api/streams/text-reader.js';
import type { RunEvent } from '../../../db/runs/run-events-repository.js';
import type { RunDelta, StoredAnswer } from '../../../db/runs/run-deltas-repository.js';
import { createMasker } from '../../../graph/mask.js';
import { toStorableJson } from '../../../graph/storable-text.js';
import { cpuMilliseconds } from '../../support/cpu-time.js';
import { ByteBudget, type ByteLease } from '../../../memory/byte-budget.js';

const SECRETS = ['sk-live-0123456789', 'two\nlines', 'aaaaaab'];
const PIECES = [
  'word ',
  'a',
  'aaaa',
  '\n',
  '\\',
  '%',
  'sk-live-',
  '0123456789',
  'sk-live-0123456789',
  'c2stbGl2ZS0wMTIzNDU2Nzg5',
  'two',
  '\\nlines',
  '😀',
  '\ud83d',
  '\ude00',
  '\0',
  '',
];

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const memory = new ByteBudget({ totalBytes: 2 ** 30, uncountedBytes: 2 ** 20 });
const lease = (): ByteLease => memory.lease('test');
const RUN = { runId: 'r', path: '', nodeId: 'n' };

/** The text that a reader has of the last step since its last reset. */
function joined(deltas: TextDelta[]): string {
  const last = deltas.at(-1);
  const ofStep = deltas.filter(({ attempt, step }) => attempt === last?.attempt && step === last.step);
  const from = Math.max(
    0,
    ofStep.findLastIndex(({ reset }) => reset === true),
  );
  return ofStep
    .slice(from)
    .map(({ text = '' }) => text)
    .join('');
}

function nodeEnd(content: string): RunEvent {
  const result = JSON.stringify({ content, usage: {} });
  const node = { status: 'succeed', result, isReused: false, source: null };
  const told = { node, path: '' } as unknown as RunEvent['content'];
  return {
    version: 9,
    kind: 'node',
    path: '',
    subject: 'n',
    status: 'succeed',
    content: told,
    apartBytes: null,
    bytes: 0,
  };
}

describe('the deltas of a run', () => {
  it('make together the result, for 2,000 random streams, attempts, losses and readers', async () => {
    let late = 0;
    for (let seed = 1; seed <= 2_000; seed += 1) {
      const next = random(seed);
      const masker = createMasker(SECRETS);
      const texts = new RunTexts(lease());
      const table: RunDelta[] = [];
      const readers: { reader: TextReader; deltas: TextDelta[] }[] = [];
      let stored = undefined as StoredAnswer | undefined;
      const readAnswer = () => Promise.resolve(stored);
      const come = (): void => {
        const onNews = (): void => undefined;
        texts.enter(onNews);
        const reading = { texts, notify: onNews, readAnswer, since: 0, lease: lease() };
        readers.push({ reader: new TextReader(reading), deltas: [] });
      };
      if (next(2) === 0) come();
      let content = '';
      const attempts = 1 + next(2);
      for (let attempt = 1; attempt <= attempts; attempt += 1) {
        const steps = 1 + next(2);
        for (let step = 0; step < steps; step += 1) {
          const text = createStepText({ ...RUN, attempt, step, hasReaders: readers.length > 0, masker }, lease());
          const write = (): void => {
            const delta = text.next();
            if (delta === undefined) return;
            text.written();
            table.push(delta);
            // Some messages are lost. A reader that notices this reads the table, as at each new connection.
            if (next(12) > 0 && !texts.add(delta))
              texts.load(table.filter((row) => row.attempt === attempt && row.step === step));
          };
          content = '';
          for (let pieces = next(20); pieces > 0; pieces -= 1) {
            const piece = PIECES[next(PIECES.length)]!;
            content += piece;
            text.add(piece);
            if (next(4) === 0) write();
            if (next(15) === 0) come();
            for (const { reader, deltas } of readers) if (next(3) === 0) deltas.push(...reader.drain());
          }
          // A failed attempt may end anywhere.
          if (attempt < attempts && step === steps - 1) continue;
          text.end([]);
          if (next(5) > 0) write();
        }
      }
      if (readers.length === 0) come();
      const result = JSON.parse(toStorableJson(JSON.stringify(masker.text(content)))) as string;
      stored = { attempt: attempts, step: 1, content: result };
      for (const { reader, deltas } of readers) {
        deltas.push(...(await reader.close(nodeEnd(result))));
        if (deltas.some(({ reset }) => reset === true)) late += 1;
        assert.equal(joined(deltas), result, `seed ${seed}`);
        const ofLast = deltas.filter(
          ({ attempt, step }) => attempt === deltas.at(-1)!.attempt && step === deltas.at(-1)!.step,
        );
        assert.deepEqual(
          ofLast.map(({ index }) => index),
          [...ofLast.keys()],
        );
        const places = deltas.map(({ attempt, step }) => 1_000 * attempt + step);
        assert.deepEqual(
          places,
          places.toSorted((a, b) => a - b),
          'an older attempt or step is not told behind a later one',
        );
      }
    }
    assert.ok(late > 200, `${late} readers came late or again`);
  });

  const whole = (texts: RunTexts, since = 0) => {
    const notify = (): void => undefined;
    texts.enter(notify);
    return new TextReader({ texts, notify, readAnswer: () => Promise.resolve(undefined), since, lease: lease() });
  };

  it('are one delta for a reader that is slow, however many have come', () => {
    const texts = new RunTexts(lease());
    const slow = whole(texts);
    for (let number = 0; number < 1_000; number += 1) {
      texts.add({ ...RUN, attempt: 1, step: 0, number, body: { text: 'word ' } });
    }
    assert.deepEqual(slow.drain(), [{ id: 'n', path: '', attempt: 1, step: 0, index: 0, text: 'word '.repeat(1_000) }]);
    assert.deepEqual(slow.drain(), []);
  });

  it('come to a reader whose next piece is empty, however long the piece behind it is', () => {
    const texts = new RunTexts(lease());
    const reader = whole(texts);
    const long = 'x'.repeat(64 * 1024 + 1);
    for (const [number, text] of ['', long, '', 'end'].entries())
      texts.add({ ...RUN, attempt: 1, step: 0, number, body: { text } });
    const told = [reader.drain(), reader.drain(), reader.drain()].flat();
    assert.deepEqual(
      told.map(({ text }) => text),
      [long, 'end'],
    );
  });

  it('of a step come whole to a slow reader, with its tool calls, although the next step has begun', () => {
    const texts = new RunTexts(lease());
    const reader = whole(texts);
    const part = 'x'.repeat(40 * 1024);
    const toolCall = { id: 'c', name: 'note', arguments: '{}' };
    for (let number = 0; number < 3; number += 1)
      texts.add({ ...RUN, attempt: 1, step: 0, number, body: { text: part } });
    texts.add({ ...RUN, attempt: 1, step: 0, number: 3, body: { text: '', toolCalls: [toolCall], isLast: true } });
    texts.add({ ...RUN, attempt: 1, step: 1, number: 0, body: { text: 'next' } });
    const told: TextDelta[] = [];
    for (let more = reader.drain(); more.length > 0; more = reader.drain()) told.push(...more);
    assert.deepEqual(
      told.map(({ step, index, text, tool_call: call }) => [step, index, text?.length ?? call]),
      [
        [0, 0, part.length],
        [0, 1, part.length],
        [0, 2, part.length],
        [0, 3, toolCall],
        [1, 0, 4],
      ],
    );
  });

  it('are kept for a reader that has not reached the end of the node, whoever has left', async () => {
    const texts = new RunTexts(lease());
    const enter = () => {
      const notify = (): void => undefined;
      texts.enter(notify);
      const answer = { attempt: 1, step: 0, content: 'one two' };
      const reading = { texts, notify, readAnswer: () => Promise.resolve(answer), since: 0, lease: lease() };
      return { notify, reader: new TextReader(reading) };
    };
    const [gone, slow, quick] = [enter(), enter(), enter()];
    texts.add({ ...RUN, attempt: 1, step: 0, number: 0, body: { text: 'one' } });
    const begun = slow.reader.drain();
    texts.add({ ...RUN, attempt: 1, step: 0, number: 1, body: { text: ' two', isLast: true } });
    await gone.reader.close(nodeEnd('one two'));
    texts.leave(gone.notify);
    await quick.reader.close(nodeEnd('one two'));
    const rest = await slow.reader.close(nodeEnd('one two'));
    assert.deepEqual(
      [...begun, ...rest].map(({ index, text, reset }) => [index, text, reset]),
      [
        [0, 'one', undefined],
        [1, ' two', undefined],
      ],
    );
    assert.equal(texts.nodes.size, 0);
  });

  it('are freed when the only reader that has not reached the end of the node leaves', async () => {
    const texts = new RunTexts(lease());
    const [reader, other] = [(): void => undefined, (): void => undefined];
    for (const each of [reader, other]) texts.enter(each);
    texts.add({ ...RUN, attempt: 1, step: 0, number: 0, body: { text: 'one' } });
    texts.close(texts.get({ path: '', nodeId: 'n' })!, reader);
    assert.equal(texts.nodes.size, 1);
    assert.deepEqual([texts.leave(other), texts.leave(other), texts.nodes.size], [true, false, 0]);
  });

  it('are dropped when there is no memory for them, and the text comes with the result', async () => {
    const little = new ByteBudget({ totalBytes: 100_000, uncountedBytes: 0 });
    await little.lease('other').resize(90_000);
    const texts = new RunTexts(little.lease('run', AbortSignal.abort()));
    const reader = whole(texts);
    texts.add({ ...RUN, attempt: 1, step: 0, number: 0, body: { text: 'x'.repeat(60_000) } });
    await new Promise(setImmediate);
    assert.deepEqual(reader.drain(), []);
    assert.deepEqual(
      (await reader.close(nodeEnd('x'.repeat(60_001)))).map(({ text }) => text?.length),
      [60_001],
    );
  });

  it('of a large answer in single characters are written in time that is linear', () => {
    const text = createStepText(
      { ...RUN, attempt: 1, step: 0, hasReaders: true, masker: createMasker(SECRETS) },
      lease(),
    );
    const tookMs = cpuMilliseconds(() => {
      for (let at = 0; at < 1024 * 1024; at += 1) {
        text.add('x');
        if (at % 1_000 === 0 && text.next() !== undefined) text.written();
      }
      text.end([]);
      text.next();
    });
    assert.ok(tookMs < 3_000, `${tookMs} ms`);
  });
});
