import assert from 'node:assert/strict';
import { readOpenapiWork } from '../../processes/read-openapi.js';

describe('an OpenAPI document', () => {
  const document = JSON.stringify({
    openapi: '3.0.0',
    info: { title: 'Things', version: '1' },
    servers: [{ url: 'https://api.example.com' }],
    paths: { '/a': { get: { responses: { 200: { description: 'ok' } } } } },
  });

  it('that is not UTF-8 is refused as that', () => {
    const bytes = Buffer.from(document.replace('Things', '\u00fc'), 'latin1');
    for (const [isBody, field] of [
      [true, 'body'],
      [false, 'openapi'],
    ] as const) {
      const reply = readOpenapiWork({ bytes, isBody, addressRules: { allowPrivateNetwork: false } });
      assert.deepEqual(reply, { kind: 'openapi-refused', field, message: 'The document is not valid UTF-8.' });
    }
  });

  it('is not blamed for an error of this program', () => {
    const addressRules = {
      allowPrivateNetwork: false,
      get blockedNetworks(): string[] {
        throw new TypeError('an error of this program');
      },
    };
    const work = { bytes: Buffer.from(document), isBody: false, addressRules };
    assert.throws(() => readOpenapiWork(work), /an error of this program/);
  });
});
