import assert from 'node:assert/strict';
import { toOrigin } from '../../connections/origins.js';
import { isWithin } from '../../graph/origins.js';

describe('origins of a connection', () => {
  it('are told in one spelling', () => {
    assert.equal(toOrigin('https://API.Example.com', false), 'https://api.example.com');
    assert.equal(toOrigin(' https://api.example.com/ ', false), 'https://api.example.com');
    assert.equal(toOrigin('https://api.example.com:443', false), 'https://api.example.com');
    assert.equal(toOrigin('https://*.Example.com:8443', false), 'https://*.example.com:8443');
    assert.equal(toOrigin('https://BÜCHER.example', false), 'https://xn--bcher-kva.example');
    assert.equal(toOrigin('https://*.bücher.example', false), 'https://*.xn--bcher-kva.example');
    assert.equal(toOrigin('http://localhost:3000', true), 'http://localhost:3000');
    assert.equal(toOrigin('https://[::1]:8443', true), 'https://[::1]:8443');
  });

  for (const text of [
    '',
    'example.com',
    'https://',
    'https://a.com/path',
    'https://a.com?x',
    'https://a.com#x',
    'https://user@a.com',
    'https://a.com\\@b.com',
    'https://a.*.com',
    'https://*',
    'https://*.com',
    'https://*.com.',
    'https://*.com%2e',
    'https://*.com\u3002',
    'https://*..com',
    'https://*.*.com',
    'https://*.10.0.0.1',
    'https://a.com.',
    'https://user:password@a.com',
    'https://a.com%2f@b.com',
    'https://a.com:443:80',
    'https://a.com:',
    'https://a.com\nhttps://b.com',
    'https:a.com',
    'javascript://a.com',
    'ftp://a.com',
    'https://a.com https://b.com',
    'https://a.com:99999',
  ]) {
    it(`are not ${JSON.stringify(text)}`, () => assert.equal(toOrigin(text, true), undefined));
  }

  it('are without TLS only where private networks are allowed', () => {
    assert.equal(toOrigin('http://a.example.com', false), undefined);
  });

  it('cover themselves, and a wildcard one label or more before the host', () => {
    const origins = ['https://api.example.com', 'https://*.tenant.example.com', 'https://*.other.com:8443'];
    const within = (url: string): boolean => isWithin(origins, new URL(url));
    for (const url of [
      'https://api.example.com/x?y',
      'https://a.tenant.example.com',
      'https://a.b.tenant.example.com/',
      'https://user:password@api.example.com/',
      'HTTPS://API.EXAMPLE.COM:443/',
      'https://a.other.com:8443/',
    ]) {
      assert.ok(within(url), url);
    }
    for (const url of [
      'http://api.example.com/',
      'https://api.example.com:8443/',
      'https://api.example.com./',
      'https://api.example.com@evil.com/',
      'https://api.example.com:443@evil.com/',
      'https://evil.com/https://api.example.com',
      'https://api.example.com.evil.com/',
      'https://tenant.example.com/',
      'https://eviltenant.example.com/',
      'https://.tenant.example.com/',
      'https://a.other.com/',
    ]) {
      assert.ok(!within(url), url);
    }
  });
});
