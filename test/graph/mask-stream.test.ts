import assert from 'node:assert/strict';
import { createMasker, joinMaskers } from '../../graph/mask.js';
import { assertCostRatio, cpuMilliseconds } from '../support/cpu-time.js';

/** Returns the same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const SECRETS = [
  's3cr"et/ va+lüe\\?',
  'aaaaaaaab',
  'sk-live-0123456789abcdef',
  'two\nlines of it',
  '😀 secret 😀',
  'abcabcabd',
];

const ENCODINGS: ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  (text) => encodeURIComponent(Buffer.from(text).toString()),
  (text) => encodeURIComponent(encodeURIComponent(Buffer.from(text).toString())),
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(`x${text}`).toString('base64'),
  (text) => Buffer.from(`xy${text}z`).toString('base64url'),
  (text) => Buffer.from(text).toString('hex'),
  (text) => text.replace(/.{5}/gsu, '$&\r\n'),
  (text) => Array.from(text, (letter) => `&#${letter.codePointAt(0)};`).join(''),
  (text) => Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  (text) => text.replaceAll('"', '&quot;'),
  (text) => Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
];
const FILLERS = [
  'word ',
  'aaaa',
  'abcabc',
  '\n',
  '\r\n\r\n',
  '\\',
  '%',
  '&',
  '%C3',
  '\\u00',
  '&am',
  'p;',
  '5',
  '4142',
  'sk-live-01',
  's3cr',
  '😀',
  '\ud83d',
  '\0',
  '%5C',
  'c2Vj',
  '&#',
  '=',
];

function anyText(next: (below: number) => number, secrets: readonly string[]): string {
  const parts = Array.from({ length: 1 + next(14) }, () => {
    if (next(3) > 0) return FILLERS[next(FILLERS.length)]!;
    const encoded = ENCODINGS[next(ENCODINGS.length)]!(secrets[next(secrets.length)]!);
    return next(4) === 0 ? encoded.slice(0, next(encoded.length + 1)) : encoded;
  });
  return parts.join('');
}

function anyCut(next: (below: number) => number, text: string): string[] {
  const longest = [1, 3, 12, 60][next(4)]!;
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = from + 1 + next(longest);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

describe('a mask over a text that comes in pieces', () => {
  it('makes of 2,000 random texts, secrets, encodings and cuts what masking each text as a whole makes', () => {
    let masked = 0;
    for (let seed = 1; seed <= 2_000; seed += 1) {
      const next = random(seed);
      const secrets = SECRETS.slice(next(3), 3 + next(4));
      const one = createMasker(secrets);
      const masker = next(3) === 0 ? joinMaskers(one, createMasker(['sk-live-0123456789abcdef', 'lines of it'])) : one;
      const text = anyText(next, secrets);
      const stream = masker.stream();
      const told = [...anyCut(next, text).map((piece) => stream.push(piece)), stream.end()].join('');
      const whole = masker.text(text);
      if (whole !== text) masked += 1;
      assert.equal(told, whole, `seed ${seed}: ${JSON.stringify(text)}`);
    }
    assert.ok(masked > 800, `${masked} texts held a secret`);
  });

  it('tells no part of a secret that comes in single characters, and what is before it at once', () => {
    const stream = createMasker(['sk-live-0123456789abcdef']).stream();
    assert.equal(stream.push('The key is '), 'The key is');
    for (const letter of 'sk-live-0123456789abcdef') assert.equal(stream.push(letter), '');
    assert.equal(stream.push('. So'), ' ********. S');
    assert.equal(stream.end(), 'o');
  });

  it('tells what was held back once it is no secret', () => {
    const stream = createMasker(['sk-live-0123456789abcdef']).stream();
    assert.equal(stream.push('it is sk-live-0123'), 'it is');
    assert.equal(stream.push('x '), ' sk-live-0123x');
  });

  it('hides whatever follows a secret of which only the beginning is searched for', () => {
    const long = 'k'.repeat(140_000);
    const masker = createMasker([long]);
    const stream = masker.stream();
    const text = `before ${long.slice(0, 131_073)}${'after '.repeat(10)}`;
    const told = [...text.match(/.{1,40000}/gs)!.map((piece) => stream.push(piece)), stream.end()].join('');
    assert.equal(told, masker.text(text));
    assert.equal(told, 'before ********');
  });

  it('tells what follows a short secret in base64, however it is cut, also beside a secret that is too long', () => {
    const short = 'sk-live-0123456789abcdef';
    const masker = createMasker([short, 'k'.repeat(140_000)]);
    for (const before of ['', 'x', 'xy']) {
      const text = `It is ${Buffer.from(`${before}${short}`).toString('base64')}. And so on.`;
      const whole = masker.text(text);
      assert.match(whole, /^It is .*\*{8}.*\. And so on\.$/);
      for (let cut = 1; cut < text.length; cut += 1) {
        const stream = masker.stream();
        const told = stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.end();
        assert.equal(told, whole, `cut at ${cut} of ${text}`);
      }
    }
  });

  it('hides every text where there are too many secrets', () => {
    const masker = createMasker(Array.from({ length: 9_000 }, (_, index) => `secret-${index}`));
    const stream = masker.stream();
    assert.equal(['', 'any', 'thing'].map((piece) => stream.push(piece)).join('') + stream.end(), '********');
  });

  it('takes time in proportion to the text, however long it may be the beginning of a secret', async () => {
    const masker = createMasker([`${'a'.repeat(6_000)}b`, 'sk-live-0123456789abcdef']);
    const timeOf = (length: number): number =>
      cpuMilliseconds(() => {
        const stream = masker.stream();
        for (let at = 0; at < length; at += 16) stream.push('aaaaaaaaaaaaaaa\n');
        stream.end();
      });
    await assertCostRatio(timeOf, { small: 16_384, large: 8 * 16_384, limit: 24 });
  });
});
