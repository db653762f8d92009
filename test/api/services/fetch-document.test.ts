import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { fetchDocument } from '../../../api/services/fetch-document.js';
import { ApiError } from '../../../api/http/errors.js';
import { OutgoingError, type OutgoingClient, type OutgoingRequest } from '../../../outgoing/outgoing-client.js';
import { noteAddress } from '../../../outgoing/network-error.js';
import { ExpandedTooFarError } from '../../../outgoing/response-body.js';

type Send = (request: OutgoingRequest) => Promise<{ status: number; body: string }>;

/** Plays what servers answer; the client itself is tested with real ones. */
function clientOf(send: Send, seen: OutgoingRequest[] = []): OutgoingClient {
  return {
    async send(request) {
      seen.push(request);
      const { status, body } = await send(request);
      const consume = request.consume?.({ status, headers: {} });
      const bytes = consume === undefined ? Buffer.from(body) : await consume(Readable.from([Buffer.from(body)]));
      return { status, headers: {}, setCookie: [], body: bytes };
    },
    close: () => Promise.resolve(),
  };
}

async function fetchWith(send: Send, address = 'https://docs.example.com/openapi.json', seen: OutgoingRequest[] = []) {
  const fetching = { outgoing: clientOf(send, seen), signal: new AbortController().signal, reserve: () => undefined };
  return fetchDocument(address, fetching);
}

async function refusalOf(send: Send, address?: string): Promise<string> {
  const error = await fetchWith(send, address).then(
    () => assert.fail('it was fetched'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ApiError, String(error));
  assert.equal(error.status, 400);
  return error.fields!['openapi']![0]!;
}

const fails = (reason: Error): Send => {
  return () => Promise.reject(reason);
};

describe('the address of a document', () => {
  it('gives the bytes, and the address at which redirects have ended', async () => {
    const seen: OutgoingRequest[] = [];
    const found = await fetchWith(
      (request) => {
        request.authorize!({ url: request.url, headers: {} });
        request.authorize!({ url: new URL('https://cdn.example.com/a/openapi.json'), headers: {} });
        return Promise.resolve({ status: 200, body: '{}' });
      },
      undefined,
      seen,
    );
    assert.deepEqual([found.bytes.toString(), found.url], ['{}', 'https://cdn.example.com/a/openapi.json']);
    const [{ method, headers, timeoutMs, maxConsumedBytes }] = seen as [OutgoingRequest];
    assert.deepEqual([method, timeoutMs, maxConsumedBytes], ['GET', 30_000, 20 * 1024 * 1024]);
    assert.deepEqual(
      Object.keys(headers).filter((name) => /auth|cookie|key/i.test(name)),
      [],
    );
  });

  it('is https without a user name, at redirects too', async () => {
    const answers: Send = () => Promise.resolve({ status: 200, body: '{}' });
    assert.match(await refusalOf(answers, 'http://docs.example.com/'), /begins with https/);
    assert.match(await refusalOf(answers, 'https://a:b@docs.example.com/'), /user name/);
    assert.match(await refusalOf(answers, 'https://'), /not valid/);
    const leaves: Send = (request) => {
      request.authorize!({ url: new URL('http://docs.example.com/'), headers: {} });
      return answers(request);
    };
    assert.match(await refusalOf(leaves), /redirects to one that is not https/);
    const named: Send = (request) => {
      request.authorize!({ url: new URL('https://ada:secret@docs.example.com/'), headers: {} });
      return answers(request);
    };
    assert.equal(await refusalOf(named), 'The address redirects to one with a user name or password.');
  });

  it('that fails is a 400 which quotes nothing of what came', async () => {
    const secret = 'words of the server';
    assert.match(
      await refusalOf(() => Promise.resolve({ status: 403, body: secret })),
      /^The server of the address answers with status 403\.$/,
    );
    const url = new URL('https://docs.example.com/');
    const failures: [Error, RegExp][] = [
      [new OutgoingError('timeout', secret), /: timeout\.$/],
      [new ExpandedTooFarError(secret), /larger than 20971520 bytes/],
      [Object.assign(new Error(secret), { code: 'ECONNREFUSED' }), /: ECONNREFUSED\.$/],
      [Object.assign(new Error(secret), { code: 'blocked_address' }), /not public/],
      [noteAddress(new Error(secret), url) as Error, /could not be fetched\.$/],
    ];
    for (const [error, message] of failures) {
      const told = await refusalOf(fails(error));
      assert.match(told, message);
      assert.ok(!told.includes(secret));
    }
    const mistake = new Error('a mistake of ours');
    await assert.rejects(fetchWith(fails(mistake)), mistake);
  });
});
