import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { fetchDocument } from '../../../api/services/fetch-document.js';
import { ApiError } from '../../../api/http/errors.js';
import {
  createOutgoingClient,
  OutgoingError,
  type OutgoingClient,
  type OutgoingRequest,
} from '../../../outgoing/outgoing-client.js';
import { noteAddress } from '../../../outgoing/network-error.js';
import { ExpandedTooFarError } from '../../../outgoing/response-body.js';
import { startRawServer, type RawServer } from '../../support/raw-server.js';

type Send = (request: OutgoingRequest) => Promise<{ status: number; body: string }>;

/** A client that returns the answers of `send` without a network. test/outgoing/ tests the real client. */
function clientOf(send: Send, seen: OutgoingRequest[] = []): OutgoingClient {
  return {
    async send(request) {
      seen.push(request);
      const { status, body } = await send(request);
      const consume = request.consume?.({ status, headers: {} });
      const bytes = consume === undefined ? Buffer.from(body) : await consume(Readable.from([Buffer.from(body)]));
      return { status, headers: {}, setCookie: [], isPerformed: false, body: bytes };
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

  describe('at a server of its own', () => {
    const client = createOutgoingClient({ allowPrivateNetwork: true });
    let server: RawServer;
    let answer: (socket: Socket) => void;

    before(async () => void (server = await startRawServer((socket) => answer(socket))));
    after(async () => {
      await client.close();
      await server.close();
    });

    /** Fetches from the server without TLS, with a time-out of `timeoutMs` instead of 30 s. Returns the error. */
    function refusalWithin(timeoutMs: number): Promise<string> {
      const outgoing: OutgoingClient = {
        send(request) {
          assert.equal(request.timeoutMs, 30_000);
          return client.send({ ...request, timeoutMs, url: new URL(server.url), authorize: (sent) => sent });
        },
        close: () => Promise.resolve(),
      };
      const fetching = { outgoing, signal: new AbortController().signal, reserve: () => undefined };
      return fetchDocument('https://docs.example.com/openapi.json', fetching).then(
        () => assert.fail('it was fetched'),
        (error: unknown) => {
          assert.ok(error instanceof ApiError, String(error));
          return error.fields!['openapi']![0]!;
        },
      );
    }

    it('is given up where the answer never comes, or never ends', async () => {
      const hungUp: Promise<unknown>[] = [];
      for (const begin of ['', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"openapi":']) {
        answer = (socket) => {
          hungUp.push(once(socket, 'close'));
          socket.write(begin);
        };
        assert.equal(await refusalWithin(1_000), 'The document could not be fetched: timeout.');
      }
      await Promise.all(hungUp);
    });

    it('has at most 20 MiB, compressed or not', async () => {
      const tooLarge = 'The document is larger than 20971520 bytes.';
      const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json';
      let sent = 0;
      answer = (socket) => {
        socket.write(`${head}\r\n\r\n`);
        const write = (): void => {
          while (!socket.destroyed && socket.write('x'.repeat(65_536))) sent += 65_536;
        };
        socket.on('drain', write);
        write();
      };
      assert.equal(await refusalWithin(60_000), tooLarge);
      // The buffers at both ends of the connection count as sent, too.
      assert.ok(sent < 40 * 1024 * 1024, `${sent} bytes`);
      const packed = gzipSync(Buffer.alloc(20 * 1024 * 1024 + 1, 'x'));
      answer = (socket) => {
        socket.write(`${head}\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`);
        socket.write(packed);
      };
      assert.equal(await refusalWithin(60_000), tooLarge);
    });
  });
});
