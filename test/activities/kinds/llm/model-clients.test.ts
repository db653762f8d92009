import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { createModelClients, toLlmFailure, type ModelClient } from '../../../../activities/kinds/llm/model-clients.js';
import type { NodeFailure } from '../../../../activities/node/failures.js';
import { createWorkerMetrics } from '../../../../activities/worker/worker-metrics.js';
import type { SecretBox } from '../../../../db/core/secret-box.js';
import type { Tables } from '../../../../db/core/tables.js';

/** Returns no rows for every query: no project has a key of its own. */
const emptyDatabase = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const KEY = 'sk-of-the-platform-0123456789';

describe('a call of a model', () => {
  let server: Server;
  let answer: (response: ServerResponse) => void;
  /** The bodies of the requests, as they were received. */
  let asked: Record<string, unknown>[];
  let client: ModelClient;

  before(async () => {
    const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      asked.push(JSON.parse(await text(request)) as Record<string, unknown>);
      answer(response);
    };
    server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const clients = createModelClients(emptyDatabase, {} as SecretBox, createWorkerMetrics());
    client = await clients.forProject(1, { name: 'fake', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: KEY });
  });
  beforeEach(() => (asked = []));
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  function call(timeoutMs: number, model = 'any', onText?: (text: string) => void): Promise<unknown> {
    const body = { model, messages: [], stream: false as const };
    return client.complete(body, {
      timeoutMs,
      signal: new AbortController().signal,
      headers: {},
      onText,
      onRequest: () => undefined,
      onSent: () => undefined,
    });
  }

  it('has a time limit that holds for the body of the answer, which a provider may keep alive with white space', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const beat = setInterval(() => response.write('\n'), 20);
      response.on('close', () => clearInterval(beat));
    };
    const failure = await failureOf(300);
    assert.equal(failure.code, 'timeout');
    assert.equal(failure.isRetryable, true);
  });

  it('has an answer that is whole in time, whatever precedes it', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('\n');
      setTimeout(() => response.end('{"choices":[]}'), 50);
    };
    assert.deepEqual(await call(10_000), { choices: [] });
  });

  it('reads of a refusal what is quoted, and no more', async () => {
    let sent = 0;
    answer = (response) => {
      response.writeHead(400, { 'content-type': 'text/plain' });
      const piece = Buffer.alloc(64 * 1024, 'no ');
      const say = (): void => {
        while (!response.destroyed && response.write(piece)) sent += piece.length;
      };
      response.on('drain', say);
      say();
    };
    const failure = await failureOf();
    assert.deepEqual([failure.code, failure.isRetryable], ['provider_error', false]);
    assert.ok(sent < 16 * 1024 * 1024, `${sent} bytes were taken`);
  });

  it('goes where the operator has sent it, and not where the provider sends it', async () => {
    answer = (response) => void response.writeHead(307, { location: '/elsewhere' }).end();
    assert.equal((await failureOf()).code, 'provider_error');
    assert.equal(asked.length, 1);
  });

  it('waits for the answer behind an interim one', async () => {
    answer = (response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}');
    };
    assert.deepEqual(await call(10_000), { choices: [] });
  });

  it('quotes the sentence of a refusal, in whatever shape it comes', async () => {
    const nested = { detail: [{ type: 'extra_forbidden', loc: ['body', 'n'], msg: 'Extra inputs', input: 3 }] };
    const bodies: [unknown, string][] = [
      [{ error: { message: 'the reason', type: 'x', code: null } }, 'the reason'],
      [{ error: 'the reason' }, 'the reason'],
      [{ error: 'Bad Request', message: ['the reason', 'another'], statusCode: 400 }, 'the reason; another'],
      [{ detail: 'the reason' }, 'the reason'],
      [{ detail: [...nested.detail, { loc: ['body', 'x', 0], msg: 'no' }] }, 'body.n: Extra inputs; body.x.0: no'],
      [{ message: 'the reason' }, 'the reason'],
      [{ message: nested }, 'body.n: Extra inputs'],
      [[{ error: { message: 'the reason', code: 400 } }], 'the reason'],
      [{ errors: [{ message: 'the reason' }] }, 'the reason'],
      ['the reason', 'the reason'],
      ['x'.repeat(300), 'x'.repeat(300)],
      ['a line '.repeat(60), 'Unprocessable Entity'],
      ['<html><title>nginx</title></html>', 'Unprocessable Entity'],
      ['', 'Unprocessable Entity'],
      [{}, 'Unprocessable Entity'],
      [{ error: {} }, 'Unprocessable Entity'],
      [null, 'Unprocessable Entity'],
    ];
    for (const [body, sentence] of bodies) {
      answer = (response) => {
        response.writeHead(422).end(typeof body === 'string' ? body : JSON.stringify(body));
      };
      const { code, message, isRetryable } = await failureOf();
      assert.deepEqual(
        [code, message, isRetryable],
        ['provider_error', `The provider answered: 422 ${sentence}`, false],
        JSON.stringify(body),
      );
    }
  });

  it('does not quote its key, nor the file that the provider does not take', async () => {
    const file = Buffer.alloc(600, 'file').toString('base64');
    const detail = `the key "${KEY}" may not send data:audio/wav;base64,${file} or ${file}`;
    answer = (response) => void response.writeHead(400).end(JSON.stringify({ detail }));
    const { message } = await failureOf();
    assert.equal(
      message,
      'The provider answered: 400 the key "********" may not send data:audio/wav;base64,... or ...',
    );
  });

  it('is repeated once without the usage of the stream where the provider refuses that, still streaming, also later', async () => {
    const refusal = { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] };
    answer = (response) => {
      if ('stream_options' in asked.at(-1)!) response.writeHead(422).end(JSON.stringify(refusal));
      else stream(response);
    };
    const told: string[] = [];
    for (const calls of [2, 3]) {
      await call(10_000, 'without-options', (piece) => told.push(piece));
      assert.equal(asked.length, calls);
    }
    assert.deepEqual(
      asked.map(({ stream: streamed, stream_options: options }) => [streamed, options]),
      [
        [true, { include_usage: true }],
        [true, undefined],
        [true, undefined],
      ],
    );
    assert.equal(told.join(''), 'yesyes');
    await call(10_000, 'another', () => undefined);
    assert.deepEqual(asked[3]!['stream_options'], { include_usage: true }, 'another model is asked for all');
  });

  it('is made without a stream where the provider refuses that too, and is not repeated for ever', async () => {
    answer = (response) => {
      const { stream: streamed, stream_options: options } = asked.at(-1)!;
      if (streamed !== true) response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}');
      else {
        const detail = options === undefined ? 'Streaming is not supported.' : 'Unknown field: stream_options';
        response.writeHead(400).end(JSON.stringify({ detail }));
      }
    };
    assert.deepEqual(await call(10_000, 'in-one-piece', () => undefined), { choices: [] });
    assert.deepEqual(
      asked.map(({ stream: streamed, stream_options: options }) => [streamed, options !== undefined]),
      [
        [true, true],
        [true, false],
        [false, false],
      ],
    );
    answer = (response) => void response.writeHead(400).end('stream_options, include_usage, stream, streaming: no');
    const failure = await failureOf(10_000, 'refuses-all', () => undefined);
    assert.deepEqual([failure.code, asked.length], ['provider_error', 6]);
  });

  it('streams again after a call that was also refused in one piece', async () => {
    answer = (response) => void response.writeHead(400).end('The stream of your messages is too long.');
    assert.equal((await failureOf(10_000, 'talks-of-streams', () => undefined)).code, 'provider_error');
    answer = stream;
    const told: string[] = [];
    await call(10_000, 'talks-of-streams', (piece) => told.push(piece));
    assert.deepEqual(
      asked.map(({ stream: streamed }) => streamed),
      [true, false, true],
    );
    assert.equal(told.join(''), 'yes');
  });

  it('is not repeated without a refused field when it is given up in between', async () => {
    const assistant = { role: 'assistant', content: 'Hi', reasoning: 'hm' };
    for (const [model, field] of [
      ['given-up-stream', 'stream_options'],
      ['given-up-message', 'reasoning'],
    ] as const) {
      asked = [];
      answer = (response) => void response.writeHead(400).end(JSON.stringify({ detail: `Unknown field: ${field}` }));
      const stop = new AbortController();
      let sent = 0;
      const body = {
        model,
        messages: [assistant] as never[],
        stream: false as const,
        // The client reads this property when it builds a request, so the caller aborts when it builds the second one.
        get n() {
          if (asked.length > 0) stop.abort();
          return 1;
        },
      };
      const reply = client.complete(body, {
        timeoutMs: 10_000,
        signal: stop.signal,
        headers: {},
        onText: () => undefined,
        onRequest: () => undefined,
        onSent: () => (sent += 1),
      });
      await assert.rejects(reply, { name: 'Error', message: 'Request was aborted.' });
      assert.deepEqual([stop.signal.aborted, asked.length, sent], [true, 1, 1], field);
    }
  });

  it('says what has happened where there is no answer', async () => {
    answer = (response) => void response.destroy();
    assert.match((await failureOf()).message, /^The connection to the provider broke before its answer came: \w+\.$/);
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"choices"', () => response.destroy());
    };
    assert.equal((await failureOf()).message, 'The answer of the provider has broken off.');
    answer = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': hello\n\n');
    const cut = await failureOf(10_000, 'any', () => undefined);
    assert.equal(cut.message, 'The stream of the provider ended before the answer was whole.');
    assert.deepEqual([cut.code, cut.isRetryable], ['network_error', true]);
    const clients = createModelClients(emptyDatabase, {} as SecretBox, createWorkerMetrics());
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    await new Promise((done) => closed.close(done));
    const gone = await clients.forProject(1, { name: 'gone', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k' });
    const signal = new AbortController().signal;
    const options = {
      timeoutMs: 10_000,
      signal,
      headers: {},
      onRequest: () => undefined,
      onSent: () => assert.fail('nothing has left'),
    };
    const error: unknown = await gone
      .complete({ model: 'm', messages: [] }, options)
      .catch((thrown: unknown) => thrown);
    assert.equal(toLlmFailure(error, gone.masker).message, 'The provider could not be reached: ECONNREFUSED.');
  });

  it('obeys Retry-After of a failure that is told with the status 200', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'retry-after': '7' });
      response.end('{"error":{"message":"slow down","code":429}}');
    };
    const { code, isRetryable, retryAfterMs } = await failureOf();
    assert.deepEqual([code, isRetryable, retryAfterMs], ['provider_error', true, 7_000]);
  });

  function stream(response: ServerResponse): void {
    const choices = [{ index: 0, delta: { content: 'yes' }, finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
  }

  function failureOf(timeoutMs = 10_000, ...others: [model?: string, onText?: () => void]): Promise<NodeFailure> {
    return call(timeoutMs, ...others).then(
      () => assert.fail('there was an answer'),
      (error: unknown) => toLlmFailure(error, client.masker),
    );
  }
});
