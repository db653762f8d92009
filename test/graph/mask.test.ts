import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createMasker } from '../../graph/mask.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

const SECRET = 's3cr"et/ va+lüe\\?';
const masker = createMasker([SECRET]);

describe('createMasker', () => {
  const encodings: [title: string, encode: (secret: string) => string][] = [
    ['plain', (secret) => secret],
    ['trimmed', (secret) => secret.trim()],
    ['JSON-escaped', (secret) => JSON.stringify(secret).slice(1, -1)],
    ['JSON-escaped twice', (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    [
      'JSON-escaped to ASCII',
      (secret) =>
        JSON.stringify(secret)
          .slice(1, -1)
          .replace(/[^ -~]/g, toUnicodeEscape),
    ],
    ['JSON-escaped with slashes', (secret) => JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
    ['URL-encoded', encodeURIComponent],
    ['URL-encoded in lower case', (secret) => encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase())],
    [
      'URL-encoded as a whole',
      (secret) => Array.from(Buffer.from(secret), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    ],
    ['URL-encoded twice', (secret) => encodeURIComponent(encodeURIComponent(secret))],
    ['in a form', (secret) => new URLSearchParams({ '': secret }).toString().slice(1)],
    ['URL-encoded in JSON', (secret) => JSON.stringify(encodeURIComponent(secret)).slice(1, -1)],
    ['JSON in a URL', (secret) => encodeURIComponent(JSON.stringify(secret).slice(1, -1))],
    ['base64', (secret) => Buffer.from(secret).toString('base64')],
    ['base64url', (secret) => Buffer.from(secret).toString('base64url')],
    ['base64 in a URL', (secret) => encodeURIComponent(Buffer.from(secret).toString('base64'))],
    ['base64 of a JSON string', (secret) => toBase64(JSON.stringify({ secret }))],
    ['base64 of it in a URL', (secret) => toBase64(`https://host/?key=${encodeURIComponent(secret)}`)],
    ['base64 of it in a form', (secret) => toBase64(new URLSearchParams({ key: secret }).toString())],
    ['base64 in lines', (secret) => toBase64(`line ${secret}`).replace(/.{8}/g, '$&\r\n')],
    ['base64 in lines in JSON', (secret) => JSON.stringify(toBase64(secret).replace(/.{8}/g, '$&\n')).slice(1, -1)],
    ['hexadecimal', (secret) => Buffer.from(secret).toString('hex')],
    ['hexadecimal in capitals', (secret) => Buffer.from(secret).toString('hex').toUpperCase()],
    ['in HTML', (secret) => toHtml(secret)],
    ['in HTML by numbers', (secret) => Array.from(secret, (letter) => `&#${letter.codePointAt(0)};`).join('')],
    ['in HTML by hexadecimal numbers', (secret) => secret.replace(/[^a-z0-9]/g, (it) => `&#x${hexOf(it)};`)],
    ['JSON in HTML', (secret) => toHtml(JSON.stringify(secret).slice(1, -1))],
    ['base64 of user and password', (secret) => Buffer.from(`user:${secret}`).toString('base64')],
  ];
  for (const [title, encode] of encodings) {
    it(`finds a secret that is ${title}`, () => {
      const masked = masker.text(`before ${encode(SECRET)} after`);
      assert.match(masked, /^before [\w%:/?+=\s\\]{0,60}\*{8}[\w=%\s\\]{0,8} after$/);
      assert.equal(
        createMasker(['other-secret']).text(`before ${encode(SECRET)} after`),
        `before ${encode(SECRET)} after`,
      );
    });
  }

  it('masks a plain secret exactly, each time', () => {
    assert.equal(masker.text(`a${SECRET}b${SECRET}${SECRET}`), 'a********b****************');
  });

  it('finds a key of several lines, whatever its line breaks', () => {
    const key = '-----BEGIN KEY-----\nMIIabcdefgh\nijklmnop==\n-----END KEY-----\n';
    const { text } = createMasker([key]);
    for (const written of [key.trim(), key.trim().replaceAll('\n', '\r\n'), key.replaceAll('\n', '')]) {
      assert.equal(text(`<${written}>`), '<********>');
      assert.equal(text(JSON.stringify({ written })), '{"written":"********"}');
    }
  });

  it('leaves the text around an escaped secret as it was written', () => {
    const json = JSON.stringify({ a: 'ä\n', s: SECRET, z: '\u0001%41' });
    assert.equal(masker.text(json), JSON.stringify({ a: 'ä\n', s: '********', z: '\u0001%41' }));
    assert.equal(masker.text('100% \\n %zz \\u12 \\'), '100% \\n %zz \\u12 \\');
    const page = '<a href="?a=1&amp;b&lt">\r\n &bogus; &#1114112; &#xZZ; & &amp</a>';
    assert.equal(masker.text(page), page);
  });

  it('masks overlapping secrets as one', () => {
    const both = createMasker(['abcdefgh', 'efghijkl', 'cdefgh']);
    assert.equal(both.text('xabcdefghijklx'), 'x********x');
    assert.equal(createMasker(['aaaaaa']).text('a'.repeat(1000)), '********');
  });

  it('finds a secret inside the beginning of another one', () => {
    assert.equal(createMasker(['abcdefghijk', 'cdefgh']).text('abcdefghi'), 'ab********i');
  });

  it('finds a secret that looks escaped itself', () => {
    for (const value of ['ab%41"cd', 'ab\\ncd', 'ab\\\\u0041cd', '%25%25"%25']) {
      const { text } = createMasker([value]);
      const escaped = JSON.stringify(value).slice(1, -1);
      const written = [value, escaped, JSON.stringify(escaped).slice(1, -1), encodeURIComponent(value)];
      for (const encoded of written) assert.equal(text(`<${encoded}>`), '<********>', encoded);
    }
  });

  it('takes every base64 character that holds a bit of the secret, and no other', () => {
    const { text } = createMasker(['secret-1']);
    const rows: [before: string, after: string, masked: string][] = [
      ['abc', 'x', 'YWJj********4'],
      ['abc', 'xyzw', 'YWJj********4eXp3'],
      ['ab', 'xyzxy', 'YW********h5enh5'],
      ['ab', '', 'YW********=='],
      ['a', 'xyz', 'Y********eHl6'],
    ];
    for (const [before, after, masked] of rows) {
      assert.equal(text(Buffer.from(`${before}secret-1${after}`).toString('base64')), masked);
    }
  });

  it('finds an encoded secret whose beginning is decoded with the character before it', () => {
    const quoted = JSON.stringify('r"12345').slice(1, -1);
    const { text } = createMasker(['r"12345', '41 2345']);
    assert.equal(text(`\\${quoted}`), '\\********');
    assert.equal(text(`\\${JSON.stringify(quoted).slice(1, -1)}`), '\\********');
    assert.equal(text('%41%202345'), '%********');
    assert.equal(text('%41+2345'), '%********');
  });

  it('finds a secret behind a false start', () => {
    assert.equal(createMasker(['aabaaab']).text('aabaabaaab'), 'aab********');
  });

  it('ignores values under 6 characters, counted as a person counts', () => {
    assert.equal(createMasker(['12345', '', '😀😀😀']).isEmpty, true);
    assert.equal(createMasker(['123456']).text('0123456789'), '0********789');
    assert.equal(createMasker(['😀😀😀😀😀😀']).text('x😀😀😀😀😀😀x'), 'x********x');
    assert.equal(createMasker(['12345']).text('12345'), '12345');
    assert.equal(createMasker(['********']).isEmpty, true, 'the mask itself is no secret');
  });

  it('json masks strings, numbers and keys at any depth', () => {
    const numbers = createMasker(['12345678', 'canary']);
    const value = { a: ['x canary', { canary: 1, b: 123456789, c: 12345, d: null, e: true }], canary: 'x' };
    assert.deepEqual(numbers.json(value), {
      a: ['x ********', { '********': 1, b: '********', c: 12345, d: null, e: true }],
      '********': 'x',
    });
    const hostile: unknown = JSON.parse('{"__proto__": "canary"}');
    assert.equal(JSON.stringify(numbers.json(hostile)), '{"__proto__":"********"}');
    assert.ok(Array.isArray(numbers.json(JSON.parse('['.repeat(1e6) + ']'.repeat(1e6)))));
  });

  it('without secrets everything stays the very same', () => {
    const value = { a: ['x'] };
    assert.equal(createMasker([]).json(value), value);
  });
});

describe('createMasker: properties', () => {
  const secret = fc
    .string({ unit: 'binary', minLength: 6, maxLength: 40 })
    .filter((text) => Array.from(text).length >= 6 && !text.includes('*'));
  const around = fc.string();

  it('leaves no secret behind in any encoding, at any alignment', () => {
    fc.assert(
      fc.property(secret, around, around, (value, before, after) => {
        const { text } = createMasker([value]);
        const escaped = JSON.stringify(value).slice(1, -1);
        for (const encoded of [value, escaped, JSON.stringify(escaped).slice(1, -1), encodeURIComponent(value)]) {
          assert.ok(!text(before + encoded + after).includes(encoded));
        }
        for (const encoding of ['base64', 'base64url'] as const) {
          const masked = text(Buffer.from(before + value + after).toString(encoding));
          assert.ok(masked.includes('********'));
          for (const piece of masked.split('********')) {
            for (const shift of [0, 1, 2, 3]) {
              const decoded = Buffer.from('A'.repeat(shift) + piece, encoding).toString();
              assert.ok(!decoded.includes(value));
            }
          }
        }
      }),
      { numRuns: 500, examples: [['r\0\0\0\0\0', '\\', '']] },
    );
  });

  it('finds what a search for each secret alone finds', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 6, maxLength: 9 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 200 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), text, (words, haystack) => {
        const covered = new Set<number>();
        for (const each of words) {
          for (let at = haystack.indexOf(each); at >= 0; at = haystack.indexOf(each, at + 1)) {
            for (let unit = at; unit < at + each.length; unit += 1) covered.add(unit);
          }
        }
        const masked = createMasker(words).text(haystack);
        const kept = Array.from(haystack)
          .filter((_, unit) => !covered.has(unit))
          .join('');
        assert.equal(masked.replaceAll('********', ''), kept);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves JSON that a parser can read, with the secret gone from its values', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[!-)+-~]{8,20}$/), around, (value, before) => {
        const json = JSON.stringify({ x: `${before}${value}` });
        const parsed = JSON.parse(createMasker([value]).text(json)) as { x: string };
        assert.ok(!parsed.x.includes(value));
      }),
    );
  });
});

describe('createMasker: size', function () {
  // The tests limit the processor time. On a busy machine, they take much longer than that.
  this.timeout(180_000);
  const secrets = [
    SECRET,
    'a'.repeat(60_000),
    'ab'.repeat(1000),
    ...Array.from({ length: 500 }, (_, index) => `token-${index}`),
  ];
  const MB = 1_000_000;
  const fill = (text: string): string => text.repeat(Math.ceil(MB / text.length));
  const texts: [title: string, text: string][] = [
    ['prose', fill('Lorem ipsum dolor sit amet. ')],
    ['one letter', fill('a')],
    ['almost a long secret', fill(`${'a'.repeat(59_999)}b`)],
    ['secrets only', fill('token-123 ')],
    ['escapes', fill('\\n')],
    ['backslashes', fill('\\')],
    ['percent signs', fill('%')],
    ['ampersands', fill('&')],
    ['entities', fill('&amp;')],
    ['short lines', fill('ab\n')],
    ['percent escapes', fill('%41')],
    ['base64', fill(Buffer.from('binary'.repeat(100)).toString('base64'))],
  ];
  let mask: (whole: string) => string;

  it('is ready for long secrets in linear time', () => {
    const tookMs = cpuMilliseconds(() => ({ text: mask } = createMasker(secrets)));
    assert.ok(tookMs < 4_000, `${tookMs} ms`);
  });

  for (const [title, whole] of texts) {
    it(`takes 1 MB of ${title} in linear time`, () => {
      const tookMs = cpuMilliseconds(() => mask(whole));
      assert.ok(tookMs < 2_000, `${tookMs} ms`);
    });
  }

  it('a thousand secrets of every kind of character take as long', () => {
    const many = Array.from({ length: 1000 }, (_, index) => `s3cr/"é\n-${index}`);
    const text = many.map((secret) => `${encodeURIComponent(secret)} ${toBase64(secret)}`).join('\n');
    const whole = text.repeat(Math.ceil(5_000_000 / text.length));
    let masked = '';
    const tookMs = cpuMilliseconds(() => (masked = createMasker(many).text(whole)));
    assert.ok(tookMs < 10_000, `${tookMs} ms`);
    assert.match(masked.slice(0, 200), /^\*{8} \*{8}/);
  });
});

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function toHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll("'", '&#39;');
}

function hexOf(letter: string): string {
  return letter.codePointAt(0)!.toString(16);
}

function toUnicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
