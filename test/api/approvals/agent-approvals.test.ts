import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { agent, chain, drawing, linkInRow, trigger } from '../../../harness/drawing/drawing.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';
import type { Database } from '../../../db/core/client.js';
import { connect } from '../../db/open-run.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type Page } from '../bodies.js';

interface Approval {
  request_id: string;
  run_id: string;
  node_id: string;
  node_label: string;
  path: string;
  workflow: { id: number; title: string };
  project: { id: number; name: string };
  requested_by: { id: number; name: string };
  status: string;
  reason: string;
  decided_by: { id: number; name: string } | null;
  decided_at: string | null;
  created_at: string;
  expires_at: string;
}

describe('approval requests', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let db: Database;
  let owner: Account;
  let approver: Account;
  let api: ApiClient;
  let tools: ToolServer;

  before(async () => {
    stack = await sharedStack();
    db = await connect();
    [owner, approver] = [await createAccount(stack), await createAccount(stack)];
    ({ api } = owner);
    tools = await startToolServer();
  });
  after(async () => {
    await tools.close();
    await db.destroy();
  });

  const list = async (query = '', by = api): Promise<Page<Approval>> =>
    (await by.get<Page<Approval>>(`/agent-approvals/${query}`)).body;

  it('show who asks, in which run, until when, and who has decided', async () => {
    const model = `approvals-${randomUUID()}`;
    stack.modelProvider.script(model, [{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: '3' }]);
    const helper = agent('Add', { model_name: model }, [{ endpoint_url: tools.url }], { label: 'The <b>clerk</b>' });
    const project = await api.createProject('Sums');
    await giveRole(stack, approver, project, 'editor');
    const workflowId = await api.createWorkflow(project, drawing(linkInRow([trigger(), helper])), 'Clerk');
    const runId = (await api.run(workflowId)).data.id;
    const pending = await eventually(async () => (await list('?status=pending')).items[0]);
    const { request_id: id, created_at: createdAt, expires_at: expiresAt } = pending;
    assert.equal(new Date(expiresAt).getTime() - new Date(createdAt).getTime(), 259_200_000);
    const asked = {
      request_id: id,
      run_id: runId,
      path: '',
      node_id: helper.id,
      node_label: 'The <b>clerk</b>',
      workflow_id: workflowId,
      project_id: project,
      purpose: 'run',
      workflow: { id: workflowId, title: 'Clerk' },
      project: { id: project, name: 'Sums' },
      requested_by: { id: owner.userId, name: 'test user' },
      server_label: 'tools',
      tool_name: 'add',
      arguments: { a: 1, b: 2 },
      arguments_hash: createHash('sha256').update('{"a":1,"b":2}').digest('hex'),
      edited_arguments: null,
      required: 1,
      exclude_starter: false,
      roles: null,
      decisions: [],
      status: 'pending',
      reason: '',
      decided_by: null,
      decided_at: null,
      created_at: createdAt,
      expires_at: expiresAt,
    };
    assert.deepEqual(pending, asked);
    const everywhere = async (): Promise<Approval[]> => [
      (await api.get<Approval>(`/agent-approvals/${id}/`)).body,
      (await api.get<Approval[]>(`/workflows/workflow_run/${runId}/agent-approval/`)).body[0]!,
      (await list()).items.find(({ request_id: other }) => other === id)!,
      (await list('?size=1', approver.api)).items[0]!,
    ];
    for (const shown of await everywhere()) assert.deepEqual(shown, asked);
    const decision = `/workflows/workflow_run/${runId}/agent-approval/${id}/approve/`;
    await approver.api.post(decision, { body: { reason: 'small sums are fine' } });
    const decidedBy = { id: approver.userId, name: 'test user' };
    for (const shown of await everywhere()) {
      const { decided_at: decidedAt } = shown;
      assert.ok(new Date(decidedAt!) >= new Date(createdAt));
      const made = { decided_by: decidedBy, reason: 'small sums are fine', decided_at: decidedAt };
      const decisions = [{ ...made, decision: 'approved', arguments_hash: asked.arguments_hash }];
      assert.deepEqual(shown, { ...asked, ...made, status: 'approved', decisions });
    }
    assert.deepEqual((await list('?status=pending')).items, []);
    assert.equal((await list('?status=decided')).items[0]!.request_id, id);
    await api.pollToEnd(runId);
  });

  it('are a 404 for users who are no members, for unknown ids, and once their project is deleted', async () => {
    const { projectId, ids } = await insertRequests(1);
    const stranger = await createAccount(stack);
    const path = `/agent-approvals/${ids[0]}/`;
    assert.equal((await api.get(path)).status, 200);
    for (const [by, asked] of [
      [stranger.api, path],
      [api, `/agent-approvals/${randomUUID()}/`],
      [api, '/agent-approvals/a%00b/'],
      [api, `/agent-approvals/${'x'.repeat(201)}/`],
    ] as const) {
      const { status, body } = await by.get(asked);
      assert.deepEqual([status, body], [404, NOT_FOUND], asked);
    }
    assert.deepEqual((await list('', stranger.api)).items, []);
    await api.delete(`/projects/${projectId}/`);
    assert.equal((await api.get(path)).status, 404);
  });

  it('are filtered by the status that is shown: a request without a decision in time is expired', async () => {
    const { ids } = await insertRequests(5);
    const [pending, late, approved, rejected, expired] = ids as [string, string, string, string, string];
    await sql`UPDATE approval_requests SET expires_at = now() - interval '1 second' WHERE request_id = ${late}`.execute(
      db,
    );
    for (const [id, status] of [
      [approved, 'approved'],
      [rejected, 'rejected'],
    ] as const) {
      await sql`UPDATE approval_requests SET status = ${status}, decided_by = ${owner.userId}, decided_at = now()
        WHERE request_id = ${id}`.execute(db);
    }
    await sql`UPDATE approval_requests SET status = 'expired' WHERE request_id = ${expired}`.execute(db);
    const of = async (query: string): Promise<string[]> => {
      const { items, total } = await list(query);
      assert.ok(total >= items.length);
      return items.map(({ request_id: id }) => id).filter((id) => ids.includes(id));
    };
    assert.deepEqual(await of('?size=100&status=pending'), [pending]);
    assert.deepEqual(await of('?size=100&status=approved'), [approved]);
    assert.deepEqual(await of('?size=100&status=rejected'), [rejected]);
    assert.deepEqual(await of('?size=100&status=decided'), [approved, rejected]);
    assert.deepEqual(await of('?size=100&status=expired'), [late, expired]);
    assert.deepEqual(await of('?size=100'), ids);
    assert.equal((await list('?size=100')).items.find(({ request_id: id }) => id === late)!.status, 'expired');
    assert.equal((await api.get('/agent-approvals/?status=open')).status, 400);
  });

  it('are listed newest first over all projects, in pages that never overlap', async () => {
    const mine = await createAccount(stack);
    const made = [await insertRequests(7, mine), await insertRequests(6, mine)];
    const all = (await list('?size=100', mine.api)).items;
    assert.deepEqual(
      all.map(({ created_at: at }) => at),
      all
        .map(({ created_at: at }) => at)
        .toSorted()
        .toReversed(),
    );
    assert.deepEqual(all.map(({ request_id: id }) => id).toSorted(), made.flatMap(({ ids }) => ids).toSorted());
    const pages = [];
    for (const page of [1, 2, 3, 4]) {
      const { items, total } = await list(`?size=4&page=${page}`, mine.api);
      assert.equal(total, 13);
      pages.push(...items);
    }
    assert.deepEqual(pages, all);
    assert.deepEqual((await list('?size=4&page=1000000000000', mine.api)).items, []);
  });

  /** Inserts requests of a finished run. `ids` has the newest first; every two requests have the same time. */
  async function insertRequests(count: number, account = owner): Promise<{ projectId: number; ids: string[] }> {
    const { projectId, runId } = await account.api.runToEnd(chain(1));
    const ids = Array.from({ length: count }, () => randomUUID())
      .toSorted()
      .toReversed();
    await db
      .insertInto('approval_requests')
      .values(
        ids.map((id, index) => ({
          request_id: id,
          run_id: runId,
          project_id: projectId,
          path: '',
          node_id: 'agent',
          turn: 0,
          ordinal: index,
          server_label: 'tools',
          tool_name: 'add',
          arguments: '{}',
          signalled_at: new Date(),
          created_at: new Date(Date.UTC(2026, 0, 1) - Math.floor(index / 2) * 1_000),
          expires_at: new Date(Date.now() + 3_600_000),
        })),
      )
      .execute();
    return { projectId, ids };
  }
});
