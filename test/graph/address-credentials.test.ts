import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  addressSecretTexts,
  areOnlyVariables,
  holdsCredentials,
  joinAddress,
  splitAddress,
} from '../../graph/address-credentials.js';

describe('the user name and password in an address', () => {
  for (const [address, credentials] of [
    ['http://user:p%40ss@host/', 'user:p%40ss'],
    ['https://sk_live@host', 'sk_live'],
    ['https://:secret@host/x', ':secret'],
    ['https://user:p@ss@host/?a=b@c', 'user:p@ss'],
    ['  HTTPS:\\\\user:pw@host\\x', 'user:pw'],
    ['ht\ntps:/\t/user:pw@host/', 'user:pw'],
    ['http:user:pw@host/', 'user:pw'],
    ['https:////user:pw@host/', 'user:pw'],
    ['user:pw@host/', 'pw'],
    ['https://user:pw@{{ input.host }}/x', 'user:pw'],
    ['https://user:pw@host/{{ input.path }}?mail=a@b', 'user:pw'],
    ['{{ input.scheme }}://user:pw@host/', 'user:pw'],
    ['https://********@host/', '********'],
    ['https://::@host/', '::'],
  ] as const) {
    it(`are found in ${JSON.stringify(address)}`, () => {
      const split = splitAddress(address)!;
      assert.equal(split.credentials, credentials);
      assert.equal(joinAddress(split, split.credentials), address);
      assert.equal(splitAddress(joinAddress(split, '')), undefined);
      assert.equal(holdsCredentials(address), true);
    });
  }

  for (const address of [
    'https://host/x@y',
    'https://host?mail=a@b.c',
    'https://host#a@b',
    'https://@host/',
    'https://:@host/',
    '{{ input.url }}',
    '{{ input.base }}/users/a@b',
    '{{ input.base }}documents:batch@x',
    '{{ nodes.a["x@y://u:p@h"] }}',
    'no address @ all',
    '@',
    '',
    7,
    null,
  ]) {
    it(`are not there in ${JSON.stringify(address)}`, () => {
      assert.equal(splitAddress(address), undefined);
    });
  }

  it('are not held where they contain a variable, because its value may be the path', () => {
    for (const [address, isOnly] of [
      ['https://{{ input.path }}@2x.png', true],
      ['https://{{ input.user }}:{{ input.password }}@host/', true],
      ['https://user:{{ input.password }}@host/', false],
    ] as const) {
      assert.equal(holdsCredentials(address), false, address);
      assert.equal(areOnlyVariables(splitAddress(address)!.credentials), isOnly, address);
    }
  });

  it('are found wherever the parser of addresses finds them', () => {
    const piece = fc.constantFrom('a', '@', ':', '/', '\\', '?', '#', '%40', '\t', '.', '-', ' ', '[', 'ä');
    const tail = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.constantFrom('http:', 'https://', ' http:/', 'hTTp:\\\\', 'ht\ttp://'), tail, (start, rest) => {
        const address = `${start}${rest}`;
        if (!URL.canParse(address)) return;
        const { username, password } = new URL(address);
        assert.equal(holdsCredentials(address), username !== '' || password !== '', JSON.stringify(address));
      }),
      { numRuns: 5_000 },
    );
  });

  it('are masked as they are written, and as they are meant; a user name only where there is no password', () => {
    assert.deepEqual(addressSecretTexts('user:p%40ss'), ['user:p%40ss', 'p%40ss', 'user:p@ss', 'p@ss']);
    assert.deepEqual(addressSecretTexts('sk%5Flive:'), ['sk%5Flive:', 'sk%5Flive', 'sk_live:', 'sk_live']);
    assert.deepEqual(addressSecretTexts('a:%zz'), ['a:%zz', '%zz']);
  });

  it('are found in linear time', () => {
    const long = 200_000;
    for (const address of [
      `http:${'\t'.repeat(long)}/@`,
      `${'a'.repeat(long)}@`,
      `http://${'@'.repeat(long)}`,
      `http://${'{{ a }}'.repeat(long / 10)}@`,
      `${' '.repeat(long)}http:@/`,
    ]) {
      const started = process.cpuUsage();
      splitAddress(address);
      const { user, system } = process.cpuUsage(started);
      assert.ok(user + system < 2_000_000, `${user + system} microseconds`);
    }
  });
});
