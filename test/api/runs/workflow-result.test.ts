import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createApiClient, type ApiClient, type Envelope } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, condition, drawing, fanOut, http, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole } from '../accounts.js';
import type { Detail, FieldErrors } from '../bodies.js';

describe('workflow_result', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
    target = await startHttpTarget();
  });
  after(() => target.close());

  describe('200', () => {
    it('a finished run lists every node that ran, by its id, and none that did not', async () => {
      const start = trigger();
      const choice = condition('1', '==', '1');
      const [taken, left] = [llm('yes'), llm('no')];
      link(start, choice);
      link(choice, taken, 'true');
      link(choice, left, 'false');
      const { runId, status, nodes } = await api.runToEnd(drawing([start, choice, taken, left]), { a: 1 });
      assert.equal(status, 'succeed');
      assert.deepEqual(Object.keys(nodes).toSorted(), [start.id, choice.id, taken.id].toSorted());
      const { started_at: startedAt, finished_at: finishedAt, ...entry } = nodes[start.id]!;
      assert.deepEqual(entry, { id: start.id, status: 'succeed', result: { content: '{"a":1}', a: 1 } });
      assert.ok(Date.parse(startedAt!) <= Date.parse(finishedAt!), `${startedAt} to ${finishedAt}`);
      assert.equal(nodes[choice.id]?.result?.content, 'true');
      assert.equal(typeof nodes[taken.id]?.result?.content, 'string');
      const upper = await api.poll(runId.toUpperCase());
      assert.deepEqual([upper.data.id, upper.data.status], [runId, 'succeed']);
    });

    it('a failed node has its error beside the status, and no result', async () => {
      const start = trigger();
      const broken = http(`${target.url}/status/404`);
      link(start, broken);
      const { status, nodes } = await api.runToEnd(drawing([start, broken]));
      assert.equal(status, 'failed');
      const { error, started_at: startedAt, finished_at: finishedAt, ...rest } = nodes[broken.id]!;
      assert.deepEqual(rest, { id: broken.id, status: 'failed' });
      assert.ok(error?.code && error.message);
      assert.ok(startedAt && finishedAt);
      assert.equal(nodes[start.id]?.status, 'succeed');
    });

    it('a node that runs is in progress, and so is its run', async () => {
      const start = trigger();
      const slow = http(`${target.url}/hold/poll`);
      link(start, slow);
      const id = await api.createWorkflow(project, drawing([start, slow]));
      const { data } = await api.run(id);
      const seen = new Set<string>();
      await eventually(async () => {
        const last = await api.poll(data.id);
        const node = last.data.data?.[slow.id];
        seen.add(`${last.data.status}/${node?.status ?? 'absent'}`);
        if (node?.status === 'in progress') {
          assert.deepEqual(Object.keys(node), ['id', 'status', 'started_at', 'finished_at']);
          assert.equal(node.finished_at, null);
          target.release('/hold/poll');
        }
        return last.data.status === 'succeed' || last.data.status === 'failed';
      });
      assert.ok(seen.has('in progress/in progress'), [...seen].join());
      assert.ok(seen.has('succeed/succeed'), [...seen].join());
    });

    it('a terminal status is never visible before its data', async () => {
      const width = 5;
      const data = fanOut(width, () => http(`${target.url}/echo`), llm('join'));
      const id = await api.createWorkflow(project, data);
      const runs = await Promise.all(Array.from({ length: 20 }, () => api.run(id)));
      const watch = async (runId: string): Promise<void> => {
        // Without a pause, so that a poll meets the moment of the end.
        const { status, data: nodes } = await eventually(
          async () => {
            const polled = (await api.poll(runId)).data;
            return (polled.status === 'succeed' || polled.status === 'failed') && polled;
          },
          { intervalMs: 0 },
        );
        const entries = Object.values(nodes ?? {});
        assert.deepEqual([status, entries.length], ['succeed', width + 2]);
        assert.ok(entries.every((entry) => entry.status === 'succeed' && typeof entry.result?.content === 'string'));
      };
      await Promise.all(runs.map((run) => watch(run.data.id)));
    });

    it('a UUID that no run has is `not found`, with data null', async () => {
      const id = randomUUID();
      assert.deepEqual(await api.poll(id), { status: 200, data: { id, status: 'not found', data: null } });
    });

    it('a run whose results have expired is `not found`', async () => {
      const { runId } = await api.runToEnd(chain(1));
      const backdate = `UPDATE runs SET run_finished_at = now() - interval '31 days' WHERE id = $1`;
      await queryDatabase(stack, backdate, [runId]);
      const expired = { status: 200, data: { id: runId, status: 'not found', data: null } };
      assert.deepEqual(await api.poll(runId), expired);
    });

    it('a result of 5 MB comes whole', async () => {
      const start = trigger();
      const big = http(`${target.url}/bytes/5000000`);
      link(start, big);
      const { nodes } = await api.runToEnd(drawing([start, big]));
      assert.equal(nodes[big.id]?.result?.content.length, 5_000_000);
    });
  });

  describe('400 and 401', () => {
    const refused: [query: string, sentence: string][] = [
      ['', 'This field is required.'],
      ['?id=', 'This field is required.'],
      ['?id=17', 'Must be a valid UUID.'],
      ['?id=%00', 'Null characters are not allowed.'],
      [`?id=${randomUUID()}x`, 'Must be a valid UUID.'],
    ];
    for (const [query, sentence] of refused) {
      it(`the query "${query}" is refused`, async () => {
        const { status, body } = await api.get<FieldErrors>(`/workflows/workflow_result/${query}`);
        assert.deepEqual([status, body], [400, { id: [sentence] }]);
      });
    }

    it('a stranger gets 400 for a run that it may not see, a member sees it', async () => {
      const id = await api.createWorkflow(project, chain(1));
      const { data } = await api.run(id);
      await api.pollToEnd(data.id);
      const other = await createAccount(stack);
      const path = `/workflows/workflow_result/?id=${data.id}`;
      const { status, body } = await other.api.get<Detail>(path);
      assert.deepEqual([status, body.code], [400, 'invalid']);
      await giveRole(stack, other, project, 'viewer');
      assert.equal((await other.api.get<Envelope>(path)).body.data.status, 'succeed');
    });

    it('without credentials it is 401', async () => {
      const { status, body } = await createApiClient(stack.apiUrl).get<Detail>(
        `/workflows/workflow_result/?id=${randomUUID()}`,
      );
      assert.deepEqual([status, body.detail], [401, 'Authentication credentials were not provided.']);
    });
  });
});
