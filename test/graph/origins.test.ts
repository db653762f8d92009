import assert from 'node:assert/strict';
import { coversServer } from '../../graph/origins.js';

describe('the origins of a connection', () => {
  it('cover the server of an action if a request there may carry the credential', () => {
    assert.equal(coversServer(['https://slack.com'], 'https://slack.com/api'), true);
    assert.equal(coversServer(['https://*.example.com'], 'https://a.example.com/v1'), true);
    for (const origins of [[], ['https://slack.com:8443'], ['http://slack.com'], ['https://*.slack.com']]) {
      assert.equal(coversServer(origins, 'https://slack.com/api'), false, origins.join());
    }
  });

  it('cover a server that differs from account to account if one of them fits it', () => {
    const server = 'https://{shop}.myshopify.com/admin';
    assert.equal(coversServer(['https://other.example', 'https://mine.myshopify.com'], server), true);
    assert.equal(coversServer(['https://a.b.myshopify.com'], server), false);
    assert.equal(coversServer(['https://myshopify.com.evil.example'], server), false);
    assert.equal(coversServer(['https://*.myshopify.com'], server), false, 'it names no account');
  });
});
