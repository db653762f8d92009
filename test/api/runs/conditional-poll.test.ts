import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type ApiAnswer, type Envelope } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, condition, drawing, http, link, linkInRow, llm, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, openSession, type Account } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';

type Answer = ApiAnswer<Envelope>;

describe('polls with If-None-Match or Prefer: wait', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let target: HttpTarget;
  let account: Account;

  before(async () => {
    stack = await sharedStack();
    [target, account] = await Promise.all([startHttpTarget(), createAccount(stack)]);
  });
  after(() => target.close());

  const poll = (runId: string, headers: Record<string, string> = {}, { api } = account): Promise<Answer> =>
    api.get<Envelope>(`/workflows/workflow_result/?id=${runId}`, { headers });
  const etagOf = (answer: Answer): string => answer.headers.get('etag')!;
  const remainingOf = (answer: Answer): number => Number(answer.headers.get('x-ratelimit-remaining'));
  const appliedIn = (answer: Answer): string | null => answer.headers.get('preference-applied');

  const holdPath = (): string => `/hold/${randomUUID()}`;
  const delayPath = (delayMs: number): string => `/delay/${delayMs}/${randomUUID()}`;

  async function makeWorkflow(path: string): Promise<number> {
    const begin = trigger();
    const nodes = [begin, http(`${target.url}${path}`), llm('after')];
    linkInRow(nodes);
    return account.api.createWorkflow(await account.api.createProject(), drawing(nodes));
  }

  /** Starts a run and waits until its call is sent: nothing changes until the call is answered. */
  async function startHeld(path: string): Promise<{ runId: string; answer: Answer }> {
    const runId = (await account.api.run(await makeWorkflow(path))).data.id;
    const answer = await eventually(async () => {
      const now = await poll(runId);
      return Object.values(now.body.data.data ?? {}).some(({ status }) => status === 'in progress') && now;
    });
    return { runId, answer };
  }

  async function timed<T>(work: Promise<T>): Promise<[value: T, tookMs: number]> {
    const startedAt = performance.now();
    const value = await work;
    return [value, performance.now() - startedAt];
  }

  describe('304', () => {
    it('is the answer to the entity tag of the state that the run is in, and has no body', async () => {
      const { runId } = await account.api.runToEnd(chain(2, () => llm('hello')));
      const known = await poll(runId);
      assert.match(etagOf(known), /^W\/"\d+S0"$/);
      assert.ok(Number.isInteger(known.body.data.version));
      const again = await poll(runId, { 'if-none-match': etagOf(known) });
      assert.deepEqual([again.status, again.body, etagOf(again)], [304, '', etagOf(known)]);
    });

    it('is not the answer to an outdated, unknown or malformed tag', async () => {
      const { runId } = await account.api.runToEnd(chain(2, () => llm('hello')));
      for (const tag of ['W/"1S0"', '*', '"', 'x'.repeat(5_000), 'W/"99999999999999999999S0"', `"${randomUUID()}"`]) {
        assert.equal((await poll(runId, { 'if-none-match': tag })).status, 200, tag);
      }
    });

    it('ends with the next change, and the version rises', async () => {
      const held = holdPath();
      const { runId, answer: known } = await startHeld(held);
      assert.equal((await poll(runId, { 'if-none-match': etagOf(known) })).status, 304);
      target.release(held);
      const next = await eventually(async () => {
        const answer = await poll(runId, { 'if-none-match': etagOf(known) });
        return answer.status === 200 && answer;
      });
      assert.ok(next.body.data.version! > known.body.data.version!);
    });

    it('is also the answer for a run that is not found', async () => {
      const missing = await poll(randomUUID());
      assert.deepEqual([missing.status, missing.body.data.status], [200, 'not found']);
      assert.equal((await poll(randomUUID(), { 'if-none-match': etagOf(missing) })).status, 304);
    });

    it('is for those who may see the run only', async () => {
      const { runId } = await account.api.runToEnd(chain(1));
      const tag = etagOf(await poll(runId));
      const stranger = await createAccount(stack);
      assert.equal((await poll(runId, { 'if-none-match': tag }, stranger)).status, 400);
      const [{ projectId }] = (await queryDatabase(stack, 'SELECT project_id AS "projectId" FROM runs WHERE id = $1', [
        runId,
      ])) as [{ projectId: number }];
      await giveRole(stack, stranger, projectId, 'viewer');
      assert.equal((await poll(runId, { 'if-none-match': tag }, stranger)).status, 304);
    });

    it('is answered to sessions too', async () => {
      const { runId } = await account.api.runToEnd(chain(1));
      const api = createApiClient(stack.apiUrl, await openSession(stack, account));
      const known = await poll(runId, {}, { ...account, api });
      assert.equal((await poll(runId, { 'if-none-match': etagOf(known) }, { ...account, api })).status, 304);
    });
  });

  describe('the rate limit', () => {
    async function finishedRun(limit: number): Promise<{ limited: Account; runId: string; tag: string }> {
      const { runId, projectId } = await account.api.runToEnd(chain(1));
      const limited = await createAccount(stack, limit);
      await giveRole(stack, limited, projectId, 'viewer');
      return { limited, runId, tag: etagOf(await poll(runId)) };
    }

    it('counts no 304, over two processes too, and every other answer', async () => {
      const { limited, runId, tag } = await finishedRun(5);
      const second = await startApiProcess(stack);
      try {
        const other = { ...limited, api: createApiClient(second.apiUrl, limited.apiKey) };
        const known = { 'if-none-match': tag };
        assert.equal(remainingOf(await poll(runId, {}, limited)), 4);
        for (let round = 0; round < 20; round++) {
          for (const who of [limited, other]) {
            const answer = await poll(runId, known, who);
            assert.deepEqual([answer.status, remainingOf(answer)], [304, 4]);
          }
        }
        const counted = [limited, other, limited, other];
        const remaining = [];
        for (const who of counted) remaining.push(remainingOf(await poll(runId, {}, who)));
        assert.deepEqual(remaining, [3, 2, 1, 0]);
        assert.equal((await poll(runId, {}, other)).status, 429);
        assert.equal((await poll(runId, known, limited)).status, 304, 'what does not count needs no rest');
      } finally {
        await second.stop();
      }
    });

    it('counts exactly what is answered in full, of a hundred requests at once of both kinds', async () => {
      const { limited, runId, tag } = await finishedRun(40);
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          poll(runId, index % 2 === 0 ? { 'if-none-match': tag } : {}, limited),
        ),
      );
      const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
      assert.deepEqual([count(304), count(200), count(429)], [50, 40, 10]);
    });

    it('does not count a waiting poll that ends as 304', async () => {
      const held = holdPath();
      const { runId, answer: known } = await startHeld(held);
      const { limited } = await finishedRun(5);
      await giveRole(stack, limited, await projectOf(runId), 'viewer');
      assert.equal(remainingOf(await poll(runId, {}, limited)), 4);
      const waiting = { 'if-none-match': etagOf(known), prefer: 'wait=1' };
      const answer = await poll(runId, waiting, limited);
      assert.deepEqual([answer.status, appliedIn(answer), remainingOf(answer)], [304, 'wait=1', 4]);
      assert.equal(remainingOf(await poll(runId, {}, limited)), 3);
      target.release(held);
    });

    async function projectOf(runId: string): Promise<number> {
      const rows = await queryDatabase(stack, 'SELECT project_id FROM runs WHERE id = $1', [runId]);
      return (rows[0] as { project_id: number }).project_id;
    }
  });

  describe('Prefer: wait', () => {
    it('on the start of a run answers it with its results, once it has ended', async () => {
      const id = await makeWorkflow(delayPath(700));
      const [answer, tookMs] = await timed(
        account.api.post<Envelope>(`/workflows/${id}/run/`, { body: {}, headers: { prefer: 'wait=30' } }),
      );
      assert.deepEqual([answer.status, answer.body.status, appliedIn(answer)], [200, 201, 'wait=30']);
      assert.equal(answer.body.data.status, 'succeed');
      assert.ok(tookMs > 700 && tookMs < 28_000, `${tookMs} ms`);
      const polled = await poll(answer.body.data.id);
      assert.deepEqual(answer.body.data, polled.body.data);
    });

    it('on a re-run does the same, with its own status', async () => {
      const { workflowId, runId } = await account.api.runToEnd(chain(2, () => llm('hello')));
      const path = `/workflows/${workflowId}/history/${runId}/re-run/`;
      const answer = await account.api.post<Envelope>(path, { headers: { prefer: 'wait=30' } });
      assert.deepEqual([answer.status, answer.body.status, answer.body.data.status], [201, 201, 'succeed']);
      assert.equal(Object.keys(answer.body.data.data!).length, 2);
    });

    it('on the start of a run that takes longer answers as without it, when the time is over', async () => {
      const held = holdPath();
      const id = await makeWorkflow(held);
      const [answer, tookMs] = await timed(
        account.api.post<Envelope>(`/workflows/${id}/run/`, { body: {}, headers: { prefer: 'wait=1' } }),
      );
      target.release(held);
      const { id: runId, ...data } = answer.body.data;
      assert.deepEqual(
        [answer.body.status, data, appliedIn(answer)],
        [201, { status: 'in queue', data: null }, 'wait=1'],
      );
      assert.ok(tookMs > 950, `${tookMs} ms`);
      assert.equal((await account.api.pollToEnd(runId)).data.status, 'succeed');
    });

    it('is not waited for where nothing runs: a refused drawing, a finished run, one that is not found', async () => {
      const project = await account.api.createProject();
      const broken = await account.api.createWorkflow(project, drawing([trigger(), condition('1', 'x', '2')]));
      const { runId } = await account.api.runToEnd(chain(1));
      const prefer = { prefer: 'wait=50' };
      const [answers, tookMs] = await timed(
        Promise.all([
          account.api.post<Envelope>(`/workflows/${broken}/run/`, { body: {}, headers: prefer }),
          poll(runId, prefer),
          poll(randomUUID(), prefer),
        ]),
      );
      assert.ok(tookMs < 45_000, `${tookMs} ms`);
      assert.equal(answers[1].body.data.status, 'succeed');
    });

    it('on a poll answers once the run has ended, not at each change before', async () => {
      const { runId } = await startHeld(delayPath(1_000));
      const answer = await poll(runId, { prefer: 'wait=30' });
      assert.deepEqual([answer.body.data.status, appliedIn(answer)], ['succeed', 'wait=30']);
      assert.equal(Object.keys(answer.body.data.data!).length, 3);
    });

    it('on a poll with a current If-None-Match answers at the next change', async () => {
      const { runId, answer: known } = await startHeld(delayPath(1_000));
      const answer = await poll(runId, { prefer: 'wait=30', 'if-none-match': etagOf(known) });
      assert.equal(answer.status, 200);
      assert.ok(answer.body.data.version! > known.body.data.version!);
    });

    it('on a poll with an outdated If-None-Match answers at once', async () => {
      const held = holdPath();
      const { runId } = await startHeld(held);
      const [answer, tookMs] = await timed(poll(runId, { prefer: 'wait=50', 'if-none-match': 'W/"1000000I0"' }));
      assert.deepEqual([answer.status, answer.body.data.status], [200, 'in progress']);
      assert.ok(tookMs < 45_000, `${tookMs} ms`);
      target.release(held);
    });

    it('that is malformed is ignored', async () => {
      const held = holdPath();
      const { runId } = await startHeld(held);
      for (const prefer of ['wait=0', 'wait=-5', 'wait=soon', 'wait', 'respond-async']) {
        const answer = await poll(runId, { prefer });
        assert.deepEqual(
          [answer.status, appliedIn(answer), answer.body.data.status],
          [200, null, 'in progress'],
          `${prefer}: answered before the run went on`,
        );
      }
      target.release(held);
    });

    it('on a poll is answered by each API process, also if another process has started the run', async () => {
      const second = await startApiProcess(stack);
      try {
        const { runId } = await startHeld(delayPath(1_000));
        const other = { ...account, api: createApiClient(second.apiUrl, account.apiKey) };
        const [here, there] = await Promise.all([
          poll(runId, { prefer: 'wait=30' }),
          poll(runId, { prefer: 'wait=30' }, other),
        ]);
        assert.deepEqual([here.body.data.status, there.body.data.status], ['succeed', 'succeed']);
      } finally {
        await second.stop();
      }
    });

    it('frees everything when the caller hangs up, and answers at once when the process is told to stop', async () => {
      const second = await startApiProcess(stack);
      const waitingIn = async (): Promise<number> => {
        const text = await (await fetch(`${second.apiUrl}/metrics`)).text();
        return Number(/^run_readers\{kind="poll"\} (\d+)$/m.exec(text)![1]);
      };
      const held = holdPath();
      const { runId } = await startHeld(held);
      const url = `${second.apiUrl}/api/v1/workflows/workflow_result/?id=${runId}`;
      const headers = { 'x-api-key': account.apiKey, prefer: 'wait=50' };
      const hangUp = new AbortController();
      const gone = fetch(url, { headers, signal: hangUp.signal }).catch(() => 'gone');
      await eventually(async () => (await waitingIn()) === 1);
      hangUp.abort();
      assert.equal(await gone, 'gone');
      await eventually(async () => (await waitingIn()) === 0);
      const waiting = Promise.all(Array.from({ length: 20 }, () => fetch(url, { headers })));
      await eventually(async () => (await waitingIn()) === 20);
      const [answers, tookMs] = await timed(Promise.all([waiting, second.stop()]));
      for (const answer of answers[0]) {
        assert.equal(answer.status, 200);
        assert.equal(((await answer.json()) as Envelope).data.status, 'in progress');
      }
      target.release(held);
      assert.ok(tookMs < 45_000, `${tookMs} ms`);
    });
  });

  it('ten runs, each polled every three seconds with a tag and a wait, count up to 60 requests a minute', async () => {
    const projectId = await account.api.createProject();
    const limited = await createAccount(stack, 60);
    await giveRole(stack, limited, projectId, 'viewer');
    const begin = trigger();
    const slow = http(`${target.url}/delay/9000/ten`);
    link(begin, slow);
    const workflow = await account.api.createWorkflow(projectId, drawing([begin, slow]));
    const runs = await Promise.all(Array.from({ length: 10 }, () => account.api.run(workflow)));
    const statuses = await Promise.all(
      runs.map(async ({ data: { id } }) => {
        const seen: number[] = [];
        for (let tag = 'W/"1I0"'; ;) {
          const nextAt = pause(3_000);
          const answer = await poll(id, { 'if-none-match': tag, prefer: 'wait=3' }, limited);
          seen.push(answer.status);
          if (answer.status === 200) tag = etagOf(answer);
          if (answer.status === 429 || answer.body.data?.status === 'succeed') return seen;
          await nextAt;
        }
      }),
    );
    assert.ok(!statuses.flat().includes(429), statuses.join(' '));
    assert.ok(statuses.flat().includes(304));
  });
});
