import assert from 'node:assert/strict';
import {
  createClient,
  runToEnd,
  RunNotFoundError,
  RunTimeoutError,
  ServiceError,
  unwrap,
} from '../../clients/typescript/src/index.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startHttpTarget, type HttpTarget, type TargetReply } from '../../harness/target/http-target.js';

const POLL = '/api/v1/workflows/workflow_result/';
const START = '/api/v1/workflows/7/run/';
const RUN_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const accepted: TargetReply = { body: { status: 201, data: { id: RUN_ID, status: 'in queue', data: null } } };
const json = { 'content-type': 'application/json' };
const throttled: TargetReply = {
  status: 429,
  headers: { ...json, 'retry-after': '1' },
  body: { detail: 'Request was throttled. Expected available in 1 seconds.', code: 'throttled' },
};
const overloaded: TargetReply = {
  status: 503,
  headers: { ...json, 'retry-after': '0' },
  body: { detail: 'The service is busy. Please try again.', code: 'overloaded' },
};
const gateway: TargetReply = { status: 503, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' };
const quick = { firstDelayMs: 5, maxAttempts: 4 };

describe('the TypeScript client: what it repeats', () => {
  let target: HttpTarget;

  beforeEach(async () => {
    target = await startHttpTarget();
  });
  afterEach(() => target.close());

  const client = (retries = {}) => createClient({ baseUrl: target.url, apiKey: 'wfa_key', ...quick, ...retries });
  const poll = (status: string, data: object | null = null): TargetReply => ({
    body: { status: 200, data: { id: RUN_ID, status, data } },
  });
  const createProject = () => unwrap(client().POST('/api/v1/projects/', { body: { name: 'x' } }));

  it('waits as long as a 429 says, also with a POST that has no key', async () => {
    target.on('/api/v1/projects/', [throttled, { status: 201, headers: json, body: { id: 1 } }]);
    const startedAt = performance.now();
    assert.equal((await createProject()).id, 1);
    assert.ok(performance.now() - startedAt >= 990);
    const bodies = target.requestsTo('/api/v1/projects/').map(({ body }) => body);
    assert.deepEqual(bodies, ['{"name":"x"}', '{"name":"x"}']);
  });

  it('waits for a random time beyond what a 429 says, so that clients refused together do not come back together', async () => {
    const { random } = Math;
    Math.random = () => 0.99;
    try {
      target.on('/api/v1/projects/', [throttled, { status: 201, headers: json, body: { id: 1 } }]);
      const startedAt = performance.now();
      await unwrap(client({ firstDelayMs: 800 }).POST('/api/v1/projects/', { body: { name: 'x' } }));
      assert.ok(performance.now() - startedAt >= 1_750);
    } finally {
      Math.random = random;
    }
  });

  it('repeats a POST without a key after "overloaded", for nothing was done, and after no other failure', async () => {
    target.on('/api/v1/projects/', [overloaded, { status: 201, headers: json, body: { id: 1 } }]);
    assert.equal((await createProject()).id, 1);
    assert.equal(target.requests.length, 2);
    target.on('/api/v1/projects/', gateway);
    await assert.rejects(createProject(), (error) => error instanceof ServiceError && error.status === 503);
    assert.equal(target.requests.length, 3);
    target.on('/api/v1/projects/', { reset: true });
    await assert.rejects(createProject(), TypeError);
    assert.equal(target.requests.length, 4);
  });

  it('repeats the start of a run over broken connections and a sick proxy, with the same Idempotency-Key', async () => {
    target.on(START, [{ reset: true }, gateway, { status: 500, body: 'x' }, accepted]);
    target.on(POLL, poll('succeed', { n: { id: 'n', status: 'succeed', result: { content: 'hello' } } }));
    const run = await runToEnd(client(), 7, { name: 'Ada' });
    assert.equal(run.status, 'succeed');
    const keys = target.requestsTo(START).map(({ headers }) => headers['idempotency-key']);
    assert.equal(keys.length, 4);
    assert.equal(new Set(keys).size, 1);
    assert.match(String(keys[0]), /^[0-9a-f-]{36}$/);
  });

  it('gives up after its tries, and at once where it would have to wait too long, with what the service said', async () => {
    const path = '/api/v1/projects/{id}/';
    target.on('/api/v1/projects/1/', overloaded);
    const read = (retries = {}) => unwrap(client(retries).GET(path, { params: { path: { id: 1 } } }));
    await assert.rejects(read(), { name: 'ServiceError', status: 503, code: 'overloaded', retryAfterMs: 0 });
    assert.equal(target.requests.length, quick.maxAttempts);
    target.on('/api/v1/projects/1/', { ...throttled, headers: { ...json, 'retry-after': '3600' } });
    await assert.rejects(read(), { status: 429, code: 'throttled', retryAfterMs: 3_600_000 });
    assert.equal(target.requests.length, quick.maxAttempts + 1);
  });

  it('does not repeat what is wrong, and says which fields are', async () => {
    const fields = { name: ['This field is required.'] };
    target.on('/api/v1/projects/', { status: 400, headers: { ...json, 'x-request-id': 'r1' }, body: fields });
    const wanted = { status: 400, code: 'invalid', fields, requestId: 'r1' };
    await assert.rejects(createProject(), wanted);
    assert.equal(target.requests.length, 1);
  });

  it('takes its key to no other host', async () => {
    const other = await startHttpTarget();
    try {
      target.on('/api/v1/projects/', { status: 307, headers: { location: `${other.url}/api/v1/projects/` } });
      await assert.rejects(unwrap(client().GET('/api/v1/projects/')), TypeError);
      assert.equal(other.requests.length, 0);
    } finally {
      await other.close();
    }
  });

  it('stops waiting when it is told to', async () => {
    target.on(START, accepted);
    target.on(POLL, poll('in progress', {}));
    const wanted = new Error('enough');
    const signal = AbortSignal.timeout(60);
    await assert.rejects(runToEnd(client(), 7, {}, { signal, pollIntervalMs: 20 }), { name: 'TimeoutError' });
    const stopped = new AbortController();
    const waiting = runToEnd(client(), 7, {}, { signal: stopped.signal, onState: () => stopped.abort(wanted) });
    await assert.rejects(waiting, wanted);
    const asked = target.requestsTo(START).length;
    target.on(START, { ...throttled, headers: { ...json, 'retry-after': '25' } });
    const refused = new AbortController();
    const started = runToEnd(client(), 7, {}, { signal: refused.signal });
    await eventually(() => target.requestsTo(START).length > asked);
    refused.abort(wanted);
    await assert.rejects(started, wanted);
    assert.equal(target.requestsTo(START).length, asked + 1, 'it has not waited for the 25 s');
  });

  it('ends its wait for a run that does not end, with an error that names the run, and for a run that is not found', async () => {
    target.on(START, accepted);
    target.on(POLL, poll('in progress', {}));
    const waiting = runToEnd(client(), 7, {}, { timeoutMs: 100, pollIntervalMs: 20 });
    await assert.rejects(waiting, (error) => error instanceof RunTimeoutError && error.runId === RUN_ID);
    target.on(POLL, poll('not found'));
    await assert.rejects(runToEnd(client(), 7, {}, { pollIntervalMs: 10 }), RunNotFoundError);
  });

  it('asks again when an end comes without its data', async () => {
    target.on(START, accepted);
    const full = poll('succeed', { n: { id: 'n', status: 'succeed', result: { content: 'x' } } });
    target.on(POLL, [poll('succeed', {}), full]);
    const run = await runToEnd(client(), 7, {});
    assert.deepEqual(Object.keys(run.nodes), ['n']);
    assert.equal(target.requestsTo(POLL).length, 2);
  });

  it('wraps the input for a session token, and leaves a text a text', async () => {
    target.on(START, accepted);
    target.on(POLL, poll('failed', { n: { id: 'n', status: 'failed', error: { code: 'x', message: 'y' } } }));
    await runToEnd(client(), 7, 'plain words');
    const session = createClient({ baseUrl: target.url, sessionToken: 't', ...quick });
    assert.equal((await runToEnd(session, 7, { name: 'Ada' })).status, 'failed');
    const [withKey, withToken] = target.requestsTo(START);
    assert.equal(withKey!.body, '"plain words"');
    assert.equal(withKey!.headers['x-api-key'], 'wfa_key');
    assert.equal(withToken!.body, '{"input_data":{"name":"Ada"}}');
    assert.equal(withToken!.headers.authorization, 'Bearer t');
  });
});
