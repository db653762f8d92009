import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { createModelClients, toLlmFailure, type ModelClient } from '../../../../activities/kinds/llm/model-clients.js';
import type { NodeFailure } from '../../../../activities/node/failures.js';
import { createWorkerMetrics } from '../../../../activities/worker/worker-metrics.js';
import type { SecretBox } from '../../../../db/core/secret-box.js';
import type { Tables } from '../../../../db/core/tables.js';

/** Answers every question with no rows: no project has a key of its own. */
const emptyDatabase = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

describe('a call of a model', () => {
  let server: Server;
  let answer: (response: ServerResponse) => void;
  let client: ModelClient;

  before(async () => {
    server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const clients = createModelClients(emptyDatabase, {} as SecretBox, createWorkerMetrics());
    client = await clients.forProject(1, { name: 'fake', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'a key' });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  function call(timeoutMs: number): Promise<unknown> {
    const body = { model: 'any', messages: [] };
    return client.complete(body, {
      timeoutMs,
      signal: new AbortController().signal,
      headers: {},
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
    let asked = 0;
    answer = (response) => {
      asked += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    };
    assert.equal((await failureOf()).code, 'provider_error');
    assert.equal(asked, 1);
  });

  it('waits for the answer behind an interim one', async () => {
    answer = (response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}');
    };
    assert.deepEqual(await call(10_000), { choices: [] });
  });

  function failureOf(timeoutMs = 10_000): Promise<NodeFailure> {
    return call(timeoutMs).then(
      () => assert.fail('there was an answer'),
      (error: unknown) => toLlmFailure(error, client.masker),
    );
  }
});
