// The time limits on requests to S3, which may be busy for ever or never answer.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FileStore } from '../../files/file-store.js';
import { createS3Store } from '../../files/s3-store.js';
import { startRawServer, type RawServer } from '../support/raw-server.js';

describe('a store in an S3 that fails', () => {
  const LIMITS = { attempts: 3, connectMs: 10_000, answerMs: 400, silenceMs: 10_000 };
  const CREDENTIALS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  const environment = Object.fromEntries(CREDENTIALS.map((name) => [name, process.env[name]]));
  let server: RawServer | undefined;

  before(() => {
    for (const name of CREDENTIALS) process.env[name] = 'test';
  });
  afterEach(() => server?.close());
  after(() => {
    for (const [name, value] of Object.entries(environment)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  async function storeAt(serve: Parameters<typeof startRawServer>[0], limits = {}): Promise<FileStore> {
    server = await startRawServer(serve);
    const settings = { bucket: 'files', endpoint: server.url, region: 'us-east-1' };
    return createS3Store(settings, { ...LIMITS, ...limits });
  }
  const requests = (): string[] => server!.received.join('\n').match(/^(?:GET|PUT|POST|DELETE) (?=\/)/gm) ?? [];
  const range = { start: 0, end: 10 };
  const calls: [string, (store: FileStore) => Promise<unknown>][] = [
    ['GET', (store) => store.read('a', range)],
    ['PUT', (store) => store.write('a', Readable.from([Buffer.from('bytes\r\n\r\n')]))],
    ['DELETE', (store) => store.remove('a')],
    ['GET', (store) => store.markedAs('mark')],
  ];

  it('asks three times where no answer comes, and ends', async () => {
    const store = await storeAt(() => undefined);
    await Promise.all(calls.map(([, call]) => assert.rejects(call(store), { name: 'TimeoutError' })));
    const expected = calls.flatMap(([method]) => Array.from({ length: LIMITS.attempts }, () => `${method} `));
    assert.deepEqual(requests().toSorted(), expected.toSorted());
  });

  it('takes the mark that another process writes at the same time', async () => {
    const xml = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>m</Message></Error>`;
    const reply = (head: string, body: string) =>
      `HTTP/1.1 ${head}\r\ncontent-type: application/xml\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
    for (const refusal of ['409 Conflict', '412 Precondition Failed']) {
      const name = refusal.startsWith('409') ? 'ConditionalRequestConflict' : 'PreconditionFailed';
      let reads = 0;
      const store = await storeAt(
        (socket, request) => {
          if (request.startsWith('PUT')) socket.end(reply(refusal, xml(name)));
          else {
            reads += 1;
            socket.end(reads <= 2 ? reply('404 Not Found', xml('NoSuchKey')) : reply('200 OK', 'mark-of-another'));
          }
        },
        { answerMs: 10_000 },
      );
      assert.equal(await store.markedAs('ours'), 'mark-of-another', refusal);
      await server!.close();
    }
  });

  it('asks three times where the server is always busy', async () => {
    const busy = 'HTTP/1.1 503 Slow Down\r\ncontent-length: 0\r\n\r\n';
    const store = await storeAt((socket) => void socket.write(busy), { answerMs: 10_000 });
    for (const [at, [, call]] of calls.entries()) {
      await assert.rejects(call(store), (error: { $metadata?: { httpStatusCode?: number } }) => {
        return error.$metadata?.httpStatusCode === 503;
      });
      assert.equal(requests().length, (at + 1) * LIMITS.attempts);
    }
  });

  const startedUpload = '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>';

  it('asks three times for a part of an upload, and then three times to abort the upload', async () => {
    const store = await storeAt(
      (socket, request) => {
        if (!request.startsWith('POST')) return;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${startedUpload.length}\r\n\r\n${startedUpload}`);
      },
      { answerMs: 500 },
    );
    await assert.rejects(store.write('a', Readable.from([Buffer.alloc(6_000_000)])), { name: 'TimeoutError' });
    for (const method of ['PUT ', 'DELETE ']) {
      assert.equal(requests().filter((made) => made === method).length, LIMITS.attempts, method);
    }
  });

  it('asks for one page of the open uploads of a removed file, however many the server says there are', async () => {
    const upload = (key: string, id: string): string => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`;
    const page =
      '<?xml version="1.0"?><ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>' +
      `${upload('a', 'one')}${upload('another', 'two')}${upload('a', 'three')}</ListMultipartUploadsResult>`;
    const store = await storeAt(
      (socket, request) => {
        const body = request.startsWith('GET') ? page : '';
        const status = request.startsWith('GET') ? '200 OK' : '204 No Content';
        socket.write(`HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      },
      { answerMs: 10_000 },
    );
    await store.remove('a');
    const lines = server!.received.join('\n').match(/^(?:GET|DELETE) \/\S+/gm) ?? [];
    const ids = lines.flatMap((line) => /uploadId=(\w+)/.exec(line)?.[1] ?? []);
    assert.deepEqual([requests().filter((made) => made === 'GET ').length, ids.toSorted()], [1, ['one', 'three']]);
    assert.equal(lines.length, 4);
  });

  it('sends a part without waiting for the server to answer "100 Continue"', async () => {
    const parts: number[] = [];
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { length } = await buffer(request);
      if (request.method === 'PUT') parts.push(length);
      response.setHeader('etag', '"part"').end(request.url!.includes('?uploads') ? startedUpload : '<Done/>');
    };
    const s3 = createServer((request, response) => void answer(request, response));
    // The server never answers `Expect: 100-continue`, so a client that waits for the answer sends no body.
    s3.on('checkContinue', () => undefined);
    s3.listen(0, '127.0.0.1');
    await once(s3, 'listening');
    try {
      const endpoint = `http://127.0.0.1:${(s3.address() as AddressInfo).port}`;
      const settings = { bucket: 'files', endpoint, region: 'us-east-1' };
      const store = createS3Store(settings, { ...LIMITS, answerMs: 60_000 });
      await store.write('a', Readable.from([Buffer.alloc(5 * 1024 * 1024 + 1_000)]));
    } finally {
      s3.closeAllConnections();
      s3.close();
    }
    assert.deepEqual(parts, [5 * 1024 * 1024, 1_000]);
  });

  it('takes an answer that comes with the last attempt', async () => {
    let count = 0;
    const store = await storeAt((socket) => {
      count += 1;
      if (count < LIMITS.attempts) return;
      socket.write('HTTP/1.1 206 Partial Content\r\ncontent-length: 5\r\n\r\nbytes');
    });
    assert.equal(String(await buffer(await store.read('a', range))), 'bytes');
    assert.equal(requests().length, LIMITS.attempts);
  });

  it('has a connection for each request, however many bodies are held open', async () => {
    const store = await storeAt(
      (socket) => void socket.write('HTTP/1.1 206 Partial Content\r\ncontent-length: 10\r\n\r\nhalf'),
      { answerMs: 30_000 },
    );
    const bodies = await Promise.all(Array.from({ length: 60 }, () => store.read('a', range)));
    assert.equal(server!.received.length, 60);
    for (const body of bodies) body.on('error', () => undefined).destroy();
  });

  it('ends a body that stands still', async () => {
    const head = 'HTTP/1.1 206 Partial Content\r\ncontent-length: 10\r\n\r\nhalf';
    const store = await storeAt((socket) => void socket.write(head), { answerMs: 10_000, silenceMs: 1_000 });
    const body = await store.read('a', range);
    await assert.rejects(buffer(body), { name: 'TimeoutError' });
    assert.equal(requests().length, 1);
  });

  it('ends at once when its caller gives up', async () => {
    const stop = new AbortController();
    const store = await storeAt(() => stop.abort(), { answerMs: 60_000 });
    await assert.rejects(store.read('a', range, stop.signal), { name: 'AbortError' });
    assert.equal(requests().length, 1);
  });
});
