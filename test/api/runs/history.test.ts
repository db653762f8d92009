import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, NodeEntry, RunRecord } from '../../../harness/client/api-client.js';
import { chain, drawing, http, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { NOT_FOUND, type FieldErrors, type Page } from '../bodies.js';

describe('history', function () {
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

  const list = async (workflowId: number, query = ''): Promise<Page<RunRecord>> =>
    (await api.get<Page<RunRecord>>(`/workflows/${workflowId}/history/${query}`)).body;

  describe('200', () => {
    it('an item has every field of the specification, in the list and alone', async () => {
      const fields = [{ id: 'a', title: 'A', type: 'text' }];
      const start = trigger(fields);
      const model = llm('hello');
      link(start, model);
      const data = drawing([start, model]);
      const { workflowId, runId, nodes } = await api.runToEnd(data, { a: 'x' });
      const item = await api.history(workflowId, runId);
      const times = ['created_at', 'updated_at', 'run_started_at', 'run_finished_at'].map((name) => String(item[name]));
      for (const time of times) assert.equal(new Date(time).toISOString(), time);
      assert.ok(typeof item.duration === 'number' && item.duration >= 0 && item.duration < 60);
      assert.match(item.cost['USD'] ?? '', /^0\.\d*[1-9]$/);
      assert.deepEqual(Object.keys(item.cost), ['USD', 'EUR']);
      const { created_at: _, updated_at: __, run_started_at: ___, run_finished_at: ____, ...rest } = item;
      assert.deepEqual(rest, {
        id: runId,
        status: 'Succeeded',
        result: nodes,
        data: JSON.parse(JSON.stringify(data)) as unknown,
        input_data: { a: 'x' },
        input_fields: fields,
        workflow_version: 1,
        is_api_run: false,
        use_in_marketplace_example: false,
        use_as_marketplace_template: false,
        cost: item.cost,
        total_cost: item.cost,
        purpose: 'run',
        parent_run_id: null,
        parent_node_id: null,
        parent_path: null,
        resumed_from: null,
        waiting_for: null,
        duration: item.duration,
        answer_nodes: [model.id],
        error: null,
        temporal_url: `${stack.stack.temporal_ui_url}/namespaces/${stack.stack.temporal_namespace}/workflows/${runId}`,
      });
      // `answer_nodes` is only in the answer for a single run.
      const { answer_nodes: _answering, ...listed } = item as typeof item & { answer_nodes: string[] };
      assert.deepEqual(await list(workflowId), { page: 1, size: 10, total: 1, items: [listed] });
    });

    it('a run keeps the drawing it ran with', async () => {
      const { workflowId, runId } = await api.runToEnd(chain(1));
      await api.patch(`/workflows/${workflowId}/`, { body: { data: { changed: true } } });
      const { data } = await api.history(workflowId, runId);
      assert.ok(data !== null && typeof data === 'object' && 'start_node' in data);
    });

    it('a failed run tells which error ended it', async () => {
      const start = trigger();
      const broken = http(`${target.url}/status/410`);
      link(start, broken);
      const { workflowId, runId } = await api.runToEnd(drawing([start, broken]));
      const item = await api.history(workflowId, runId);
      assert.equal(item.status, 'Error');
      const error = item['error'] as { code: string; message: string };
      assert.equal(error.code, 'http_status');
      assert.match(error.message, /410/);
    });

    it('is ordered by time or cost, newest first unless asked, and pages never overlap', async () => {
      const id = await api.createWorkflow(project, chain(1));
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) ids.push((await api.run(id)).data.id);
      for (const runId of ids) await api.pollToEnd(runId);
      // The test sets the costs; two runs cost the same.
      const costs = ['0.3', '0.1', '0.2', '0.1', '0'];
      for (const [index, runId] of ids.entries()) {
        await queryDatabase(stack, 'UPDATE runs SET cost_usd = $1 WHERE id = $2', [costs[index], runId]);
      }
      const order = async (query: string): Promise<number[]> =>
        (await list(id, query)).items.map((item) => ids.indexOf(item.id));
      assert.deepEqual(await order(''), [4, 3, 2, 1, 0]);
      assert.deepEqual(await order('?ordering=created_at'), [0, 1, 2, 3, 4]);
      assert.deepEqual(await order('?ordering=-created_at'), [4, 3, 2, 1, 0]);
      const byCost = (await list(id, '?ordering=cost')).items.map((item) => item.cost['USD']);
      assert.deepEqual(byCost, ['0', '0.1', '0.1', '0.2', '0.3']);
      for (const ordering of ['cost', '-cost', 'created_at', '-created_at']) {
        const pages = [];
        for (const page of [1, 2, 3]) pages.push(...(await order(`?ordering=${ordering}&page=${page}&size=2`)));
        assert.deepEqual(pages, await order(`?ordering=${ordering}`));
      }
    });

    it('size and page_size are the same, size wins, and nothing else filters', async () => {
      const id = await api.createWorkflow(project, chain(1));
      for (let count = 0; count < 3; count += 1) await api.pollToEnd((await api.run(id)).data.id);
      const sizes: [query: string, size: number, count: number][] = [
        ['?size=2', 2, 2],
        ['?page_size=1', 1, 1],
        ['?size=2&page_size=1', 2, 2],
        ['?size=1000', 100, 3],
        ['?page=2', 10, 0],
        ['?status=Error&is_api_run=true', 10, 3],
      ];
      for (const [query, size, count] of sizes) {
        const page = await list(id, query);
        assert.deepEqual([page.size, page.total, page.items.length], [size, 3, count], query);
      }
    });

    it('every page is right from both ends of the list, in every ordering', async () => {
      const id = await api.createWorkflow(
        project,
        chain(2, () => llm('')),
      );
      for (let count = 0; count < 11; count += 1) await api.run(id);
      await queryDatabase(stack, 'UPDATE runs SET cost_usd = (random() * 3)::integer WHERE workflow_id = $1', [id]);
      for (const ordering of ['created_at', '-created_at', 'cost', '-cost']) {
        const whole = (await list(id, `?ordering=${ordering}&size=100`)).items;
        for (const size of [1, 3, 4, 10]) {
          for (let page = 1; (page - 1) * size < 11; page += 1) {
            const { items } = await list(id, `?ordering=${ordering}&size=${size}&page=${page}`);
            assert.deepEqual(items, whole.slice((page - 1) * size, page * size), `${ordering} ${size} ${page}`);
          }
        }
      }
    });

    it('while runs arrive, oldest first shows each run once and total is always what the pages hold', async () => {
      const id = await api.createWorkflow(
        project,
        chain(2, () => llm('')),
      );
      for (let count = 0; count < 6; count += 1) await api.run(id);
      const arriving = (async () => {
        for (let count = 0; count < 20; count += 1) await api.run(id);
      })();
      const seen: string[] = [];
      for (let page = 1; page <= 3; page += 1) {
        const { items, total } = await list(id, `?ordering=created_at&size=2&page=${page}`);
        assert.ok(total >= 6);
        seen.push(...items.map((item) => item.id));
      }
      for (let count = 0; count < 10; count += 1) {
        const { items, total } = await list(id, '?size=100');
        assert.equal(items.length, total);
      }
      await arriving;
      assert.equal(new Set(seen).size, 6);
      assert.equal((await list(id)).total, 26);
    });

    it('a page of large inputs and drawings leaves them out and says so; the single run has them', async () => {
      const long = 'x'.repeat(70_000);
      const data = { ...chain(1), comment: 'y'.repeat(1_100_000) };
      const { workflowId, runId } = await api.runToEnd(data, { long });
      const [listed] = (await list(workflowId)).items;
      assert.deepEqual([listed?.['truncated'], 'input_data' in listed!, 'data' in listed!], [true, false, false]);
      const alone = await api.history(workflowId, runId);
      assert.deepEqual([alone['truncated'], alone['input_data']], [undefined, { long }]);
      assert.equal((alone['data'] as typeof data).comment, data.comment);
    });

    it('a result above 16 KiB is cut and marked in the list, and whole alone', async () => {
      const start = trigger();
      const [big, small] = [http(`${target.url}/bytes/100000`), http(`${target.url}/bytes/100`)];
      link(start, [big, small]);
      const { workflowId, runId } = await api.runToEnd(drawing([start, big, small]));
      const [listed] = (await list(workflowId)).items;
      const entries = listed?.['result'] as Record<string, NodeEntry & { truncated?: boolean }>;
      assert.deepEqual([entries[big.id]?.truncated, entries[big.id]?.result?.content.length], [true, 16_384]);
      assert.deepEqual([entries[small.id]?.truncated, entries[small.id]?.result?.content.length], [undefined, 100]);
      const alone = (await api.history(workflowId, runId))['result'] as typeof entries;
      assert.deepEqual([alone[big.id]?.truncated, alone[big.id]?.result?.content.length], [undefined, 100_000]);
    });

    it('a reply with escapes that the database cannot decode breaks no list', async () => {
      const text = String.raw`{"a":"\u0000 \ud800 \u001b","pad":"${'x'.repeat(30_000)}"}`;
      target.on('/odd', { body: text, headers: { 'content-type': 'application/json' } });
      const start = trigger();
      const odd = http(`${target.url}/odd`);
      link(start, odd);
      const { workflowId, runId } = await api.runToEnd(drawing([start, odd]));
      const [listed] = (await list(workflowId)).items;
      const entry = (listed!['result'] as Record<string, NodeEntry>)[odd.id];
      assert.ok(entry?.result?.content === text.slice(0, 16_384), entry?.result?.content.slice(0, 60));
      const alone = (await api.history(workflowId, runId))['result'] as Record<string, NodeEntry>;
      assert.ok(alone[odd.id]?.result?.content === text);
      const { json } = alone[odd.id]!.result as unknown as { json: { a: string } };
      assert.equal(json.a.length, 5);
    });
  });

  describe('400 and 404', () => {
    it('an unknown ordering is refused', async () => {
      const id = await api.createWorkflow(project, chain(1));
      const { status, body } = await api.get<FieldErrors>(`/workflows/${id}/history/?ordering=name`);
      assert.deepEqual([status, body], [400, { ordering: ['"name" is not a valid choice.'] }]);
    });

    it('the run of another workflow, an unknown run and what is no UUID are not found', async () => {
      const { runId } = await api.runToEnd(chain(1));
      const id = await api.createWorkflow(project, chain(1));
      for (const run of [runId, randomUUID(), 'x', '1']) {
        const { status, body } = await api.get(`/workflows/${id}/history/${run}/`);
        assert.deepEqual([status, body], [404, NOT_FOUND], run);
      }
    });
  });
});
