// Unusual headers of servers, and bodies that are announced and not sent.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { eventually } from '../../harness/timing/eventually.js';
import { dispositionName } from '../../outgoing/disposition-name.js';
import { headerText } from '../../outgoing/header-text.js';
import { addressOf, causeCode } from '../../outgoing/network-error.js';
import { createOutgoingClient, type OutgoingRequest, type OutgoingResponse } from '../../outgoing/outgoing-client.js';
import { decodeBody } from '../../outgoing/response-body.js';
import { startRawServer, type RawServer } from '../support/raw-server.js';

const client = createOutgoingClient({ allowPrivateNetwork: true });

describe('answers of servers', () => {
  let server: RawServer;
  let answer: (socket: Socket, request: string) => void;

  before(async () => void (server = await startRawServer((socket, request) => answer(socket, request))));
  after(async () => {
    await client.close();
    await server.close();
  });

  async function send(path: string, options: Partial<OutgoingRequest> = {}): Promise<OutgoingResponse> {
    const url = new URL(path, server.url);
    const base = { url, method: 'GET', headers: {}, body: undefined, timeoutMs: 60_000, tenant: '1' };
    return client.send({ ...base, signal: new AbortController().signal, ...options });
  }

  async function answered(head: string, body: string | Buffer = '', options: Partial<OutgoingRequest> = {}) {
    answer = (socket) => {
      socket.write(`HTTP/1.1 ${head}\r\n\r\n`, 'latin1');
      socket.end(body);
    };
    return send('/', options);
  }

  const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

  it('have headers in UTF-8 where their bytes are valid UTF-8, else in latin-1', async () => {
    const { headers, setCookie } = await answered(
      `200 OK\r\nX-City: ${utf8('Köln 東京')}\r\nX-Old: K\xf6ln\r\nSet-Cookie: a=${utf8('ü')}, b\r\nSet-Cookie: c=\xfc`,
    );
    assert.deepEqual(
      [headers['x-city'], headers['x-old'], headers['set-cookie'], setCookie],
      ['Köln 東京', 'Köln', 'a=ü, b, c=ü', ['a=ü, b', 'c=ü']],
    );
    assert.deepEqual((await answered('200 OK')).setCookie, []);
    assert.equal(headerText('plain'), 'plain');
  });

  it('lead to addresses in UTF-8, and to nowhere where they name none', async () => {
    answer = (socket, request) => {
      const [, path = ''] = request.split(' ');
      const locations: Record<string, string> = {
        '/utf8': utf8('/größe/?q=ä'),
        '/latin1': '/gr\xf6\xdfe/',
        '/empty': '',
      };
      const location = locations[path];
      const head = location === undefined ? '200 OK' : `302 Found\r\nLocation: ${location}`;
      socket.end(`HTTP/1.1 ${head}\r\nContent-Length: ${path.length}\r\nConnection: close\r\n\r\n${path}`, 'latin1');
    };
    assert.equal(String((await send('/utf8')).body), '/gr%C3%B6%C3%9Fe/?q=%C3%A4');
    assert.equal(String((await send('/latin1')).body), '/gr%C3%B6%C3%9Fe/');
    const { status, body } = await send('/empty');
    assert.deepEqual([status, String(body)], [302, '/empty']);
  });

  const EMPTY = { gzip: '', deflate: '', br: '', 'gzip, br': '' };
  it('that have no body are read as empty, whatever encoding and length they announce', async () => {
    for (const encoding of Object.keys(EMPTY)) {
      const heads = [
        `204 No Content\r\nContent-Encoding: ${encoding}`,
        `205 Reset Content\r\nContent-Length: 0\r\nContent-Encoding: ${encoding}`,
        `304 Not Modified\r\nContent-Length: 2\r\nContent-Encoding: ${encoding}`,
        `200 OK\r\nContent-Length: 0\r\nContent-Encoding: ${encoding}`,
      ];
      for (const head of heads) assert.equal((await answered(head)).body.length, 0, head);
      const chunked = `200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: ${encoding}`;
      assert.equal((await answered(chunked, '0\r\n\r\n')).body.length, 0, chunked);
      const head = await answered(`200 OK\r\nContent-Length: 500\r\nContent-Encoding: ${encoding}`, '', {
        method: 'HEAD',
      });
      assert.equal(head.body.length, 0);
    }
    for (const status of ['204 No Content', '205 Reset Content', '304 Not Modified']) {
      const announced = await answered(`${status}\r\nContent-Length: 2`);
      assert.deepEqual([announced.status, announced.body.length], [Number(status.slice(0, 3)), 0]);
    }
    const stray = await answered('204 No Content\r\nContent-Length: 2', '{}');
    assert.deepEqual([stray.status, stray.body.length], [204, 0]);
  });

  it('without a body are empty files where a file is wanted', async () => {
    const taken: number[] = [];
    const take = () => async (body: AsyncIterable<Buffer>) => {
      let bytes = 0;
      for await (const piece of body) bytes += piece.length;
      taken.push(bytes);
      return Buffer.alloc(0);
    };
    await answered('204 No Content\r\nContent-Encoding: gzip', '', { consume: take });
    await answered('200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip', '0\r\n\r\n', { consume: take });
    assert.deepEqual(taken, [0, 0]);
  });

  it('are read in both forms of deflate, in one piece and byte by byte', async () => {
    const bodiesOf = (text: string): [encoding: string, body: Buffer][] => [
      ['deflate', deflateSync(text)],
      ['deflate', deflateRawSync(text)],
      ['deflate', deflateRawSync(text, { level: 0 })],
      ['gzip', gzipSync(text)],
      ['br', brotliCompressSync(text)],
      ['gzip, deflate', deflateRawSync(gzipSync(text))],
    ];
    const [text, few] = ['words '.repeat(20_000), 'words '.repeat(20)];
    for (const [encoding, body] of bodiesOf(text)) {
      const head = `200 OK\r\nContent-Encoding: ${encoding}`;
      assert.equal(String((await answered(`${head}\r\nContent-Length: ${body.length}`, body)).body), text, encoding);
      assert.equal(String((await answered(head, body)).body), text, encoding);
    }
    for (const [encoding, body] of bodiesOf(few)) {
      const bytes = Readable.from([...body].map((byte) => Buffer.of(byte)));
      const reading = { encoding, limitBytes: 1_000_000, signal: new AbortController().signal };
      assert.equal(String(await buffer(decodeBody(bytes, reading))), few, `${encoding} byte by byte`);
    }
  });

  it('end with the data of their encoding, whatever bytes follow', async () => {
    const text = 'words '.repeat(20_000);
    const [zeros, lineBreak] = [Buffer.alloc(600), Buffer.from('\r\n')];
    const bodies: [encoding: string, body: Buffer, rests: Buffer[]][] = [
      // Other bytes than zeros would begin another member.
      ['gzip', gzipSync(text), [zeros]],
      ['deflate', deflateSync(text), [zeros, lineBreak]],
      ['deflate', deflateRawSync(text), [zeros, lineBreak]],
      ['br', brotliCompressSync(text), [zeros, lineBreak]],
    ];
    for (const [encoding, body, rests] of bodies) {
      for (const rest of rests) {
        const padded = Buffer.concat([body, rest]);
        const head = `200 OK\r\nContent-Encoding: ${encoding}`;
        assert.equal(
          String((await answered(`${head}\r\nContent-Length: ${padded.length}`, padded)).body),
          text,
          encoding,
        );
        assert.equal(String((await answered(head, padded)).body), text, encoding);
        for (const pieces of [[body, rest], [...padded].map((byte) => Buffer.of(byte))]) {
          const reading = { encoding, limitBytes: 1_000_000, signal: new AbortController().signal };
          assert.equal(String(await buffer(decodeBody(Readable.from(pieces), reading))), text, `${encoding} in pieces`);
        }
      }
    }
  });

  it('in an encoding that is the name of a property of every object are not decoded', async () => {
    for (const encoding of ['constructor', '__proto__', 'toString', 'klingon']) {
      const head = `200 OK\r\nContent-Encoding: ${encoding}`;
      assert.equal(String((await answered(head, 'body')).body), 'body', encoding);
      assert.equal(String((await answered(`${head}\r\nContent-Length: 4`, 'body')).body), 'body', encoding);
    }
  });

  it('have their connection closed if the consumer does not read their body to the end', async () => {
    let closed = 0;
    answer = (socket) => {
      socket.on('error', () => undefined).once('close', () => (closed += 1));
      socket.write('HTTP/1.1 200 OK\r\n\r\nbegun');
    };
    const refuse = () => () => Promise.reject(new Error('not wanted'));
    await assert.rejects(send('/', { consume: refuse, tenant: '1' }), { message: 'not wanted' });
    await eventually(() => closed === 1);
  });

  it('that are cut off within an encoding are errors', async () => {
    for (const body of [gzipSync('x'.repeat(1_000)).subarray(0, 15), Buffer.from('no gzip')]) {
      await assert.rejects(answered('200 OK\r\nContent-Encoding: gzip', body), { code: /^Z_/ });
    }
  });

  it('that do not arrive completely are rejected with an error that names the host', async () => {
    const gone = await startRawServer(() => undefined);
    await gone.close();
    const failing = async (url: string): Promise<unknown[]> => {
      const error: unknown = await send('/', { url: new URL(url) }).catch((thrown: unknown) => thrown);
      return [addressOf(error), causeCode(error)];
    };
    assert.deepEqual(await failing(`${gone.url}/path?key=secret`), [gone.host, 'ECONNREFUSED']);
    answer = (socket) => socket.destroy();
    assert.equal((await failing(server.url))[0], server.host);
    answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    assert.equal((await failing(server.url))[0], server.host, 'cut off');
    answer = (socket) => socket.end(`HTTP/1.1 302 Found\r\nLocation: ${gone.url}/\r\nContent-Length: 0\r\n\r\n`);
    assert.equal((await failing(server.url))[0], gone.host, 'where the redirect led');
  });
});

describe('the name in a Content-Disposition', () => {
  const names: [disposition: string, name: string | undefined][] = [
    ['attachment; filename="a b.csv"', 'a b.csv'],
    ['attachment; filename=a b.csv', 'a b.csv'],
    ['attachment;filename=größe.csv', 'größe.csv'],
    ['attachment; filename="a \\"b\\".csv"', 'a "b".csv'],
    [`attachment; filename="old.csv"; filename*=UTF-8''gr%C3%B6%C3%9Fe.csv`, 'größe.csv'],
    [`attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe.csv; filename="old.csv"`, 'größe.csv'],
    [`attachment; filename*="UTF-8''gr%C3%B6%C3%9Fe.csv"`, 'größe.csv'],
    [`attachment; filename*=iso-8859-1'de'gr%F6%DFe.csv`, 'größe.csv'],
    [`attachment; filename*="ISO-8859-1''gr%F6%DFe.csv"; filename=x`, 'größe.csv'],
    [`attachment; FileName*=utf-8''größe%20neu.csv`, 'größe neu.csv'],
    [`attachment; filename*=UTF-8''%FF%FE.csv; filename=right.csv`, 'right.csv'],
    [`attachment; filename*=klingon''a.csv; filename=right.csv`, 'right.csv'],
    [`attachment; filename="x; filename*=UTF-8''wrong"`, `x; filename*=UTF-8''wrong`],
    ['filename=bare.csv', 'bare.csv'],
    ['attachment', undefined],
  ];
  for (const [disposition, name] of names) {
    it(`is ${name} in ${disposition}`, () => assert.equal(dispositionName(disposition), name));
  }
});
