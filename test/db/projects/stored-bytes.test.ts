import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { foldStoredBytes, isQuotaExceeded, refuseBeyondQuota } from '../../../db/projects/stored-bytes-repository.js';
import { createAccount, type Account } from '../../api/accounts.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { endedDaysAgo, openRetention } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { callbackUrlOf, taskOf } from '../../support/waiting.js';
import { assertBytesRight, foldBytes } from '../../support/stored-bytes.js';
import { connect, nodeEnd, openRun } from '../open-run.js';

describe('the bytes that a project stores', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let db: Database;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    db = await connect(20);
  });
  after(() => db.destroy());

  const shown = async (projectId: number): Promise<number> =>
    (await account.api.get<{ stored_bytes: number }>(`/projects/${projectId}/`)).body.stored_bytes;

  it('are, once they are folded, those of the drawing as it came, and of each version', async () => {
    const { api } = account;
    const projectId = await api.createProject();
    assert.equal(await shown(projectId), 0);
    const [one, two] = [drawing([trigger()]), drawing([trigger(), trigger()])];
    const id = await api.createWorkflow(projectId, one);
    const first = Buffer.byteLength(JSON.stringify(one));
    await eventually(async () => (await shown(projectId)) === first);
    await api.patch(`/workflows/${id}/`, { body: { data: two } });
    const both = first + Buffer.byteLength(JSON.stringify(two));
    await eventually(async () => (await shown(projectId)) === both);
  });

  it('count for the limit before they are folded, and exactly where the change is large or little room is left', async () => {
    const projectId = await account.api.createProject();
    const MIB = 2 ** 20;
    const undone = new Error('undone');
    const outcomeOf = (limit: number, unfolded: number, added: number): Promise<string> =>
      db
        .transaction()
        .execute(async (trx) => {
          await sql`INSERT INTO stored_bytes_limit AS kept (bytes) VALUES (${limit})
            ON CONFLICT (is_only) DO UPDATE SET bytes = excluded.bytes`.execute(trx);
          await sql`SELECT add_stored_bytes(${projectId}, ${unfolded}, false)`.execute(trx);
          await refuseBeyondQuota(trx, projectId, added);
          throw undone;
        })
        .catch((error: unknown) =>
          error === undone ? 'accepted' : isQuotaExceeded(error) ? 'refused' : String(error),
        );
    assert.equal(await outcomeOf(MIB, MIB - 10, 10), 'accepted');
    assert.equal(await outcomeOf(MIB, MIB - 10, 11), 'refused');
    assert.equal(await outcomeOf(MIB, -10, MIB + 10), 'accepted', 'what has been deleted has made room');
    assert.equal(await outcomeOf(2048 * MIB, 2000 * MIB, 48 * MIB), 'accepted');
    assert.equal(await outcomeOf(2048 * MIB, 2000 * MIB, 49 * MIB), 'refused');
    assert.equal(await outcomeOf(1024 * MIB, 1024 * MIB, 1), 'refused');
  });

  it('are right after loops, secrets, callbacks, human tasks, failures, refusals, resumes, retention and archiving', async () => {
    const { api } = account;
    const projectId = await api.createProject();
    const start = trigger([{ id: 'token', is_secret: true, default_value: 'a secret value' }, { id: 'list' }]);
    const value = node('set', { value: '{{ LOOP.item }} {{ input.token }}' });
    const loop = node('for_each', { items: '{{ input.list }}', body_node: value.id });
    value.data['value'] = `{{ ${loop.id}.item }} {{ input.token }}`;
    const wait = node('wait', { mode: 'callback', timeout: 60 });
    const human = node('human', { message: 'Well? {{ input.token }}', fields: [{ id: 'name' }] });
    const failing = node('code', { code: 'throw new Error("no")' });
    linkInRow([start, loop, wait, human, failing]);
    const data = drawing([start, loop, value, wait, human, failing]);
    const id = await api.createWorkflow(projectId, data);
    await api.patch(`/workflows/${id}/`, { body: { readme_guide: 'How to use it, ä' } });
    const { data: run } = await api.run(id, { list: Array.from({ length: 40 }, (_, index) => `item ${index}`) });
    const url = await callbackUrlOf(api, run.id, wait.id);
    await fetch(url, { method: 'POST', body: JSON.stringify({ big: 'x'.repeat(5000) }) });
    const task = await taskOf(api, run.id, human.id);
    const answer = { action: 'done', values: { name: 'Ada' }, comment: 'a secret value' };
    assert.equal((await api.post(`/human-tasks/${task}/answer/`, { body: answer })).status, 200);
    assert.equal((await api.pollToEnd(run.id)).data.status, 'failed');
    const resumed = await api.post<{ data: { id: string } }>(`/workflows/${id}/history/${run.id}/resume/`, {
      body: {},
    });
    assert.equal(resumed.status, 201);
    await api.pollToEnd(resumed.body.data.id);
    const refused = await api.createWorkflow(projectId, drawing([trigger([{ id: 'a', input_requirements: true }])]));
    assert.equal((await api.run(refused, { b: 'x'.repeat(3000) })).status, 422);
    const full = await assertBytesRight(stack, projectId);
    assert.ok(full > 20_000, String(full));

    const retention = openRetention(stack);
    try {
      await endedDaysAgo(stack, 40, run.id, resumed.body.data.id);
      await retention.round();
      const expired = await assertBytesRight(stack, projectId);
      assert.ok(expired < full / 2, `${expired} of ${full}`);
      await api.patch(`/workflows/${id}/`, { body: { data: drawing([trigger()]) } });
      await api.delete(`/workflows/${id}/`);
      await retention.round();
      assert.ok((await assertBytesRight(stack, projectId)) < expired, 'an archived drawing and its versions are gone');
      const [left] = await queryDatabase<{ versions: number; document: object; secrets_enc: null }>(
        stack,
        `SELECT (SELECT count(*)::integer FROM workflow_versions WHERE workflow_id = $1) AS versions, document, secrets_enc
          FROM workflows WHERE id = $1`,
        [id],
      );
      assert.deepEqual(left, { versions: 0, document: {}, secrets_enc: null });
    } finally {
      await retention.close();
    }
  });

  it('stay right while nodes end at once, sums are folded, transactions are undone and connections are killed', async () => {
    const runs = await Promise.all(
      [1, 2, 3].map(() =>
        openRun(
          db,
          Array.from({ length: 60 }, () => 'set'),
        ),
      ),
    );
    const folding = new AbortController();
    const folders = [1, 2].map(async () => {
      while (!folding.signal.aborted) await foldStoredBytes(db);
    });
    const undone = new Error('undone');
    await Promise.all(
      runs.flatMap((run) =>
        run.nodeIds.map(async (nodeId, index) => {
          const result = JSON.stringify({ content: 'x'.repeat(index * 40) });
          const end = nodeEnd(run, nodeId, 'set', { result });
          if (index % 5 === 1) {
            const failed = db.transaction().execute(async (trx) => {
              await recordNodeEnd(trx, end);
              if (index % 2 === 0) throw undone;
              await sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(trx);
            });
            await assert.rejects(failed);
          } else await recordNodeEnd(db, end);
          if (index % 7 === 2) await sql`UPDATE node_results SET result = NULL WHERE node_id = ${nodeId}`.execute(db);
        }),
      ),
    );
    for (const { projectId } of runs) await assertBytesRight(stack, projectId);
    folding.abort();
    await Promise.all(folders);
    await foldBytes(stack);
    for (const { projectId } of runs) {
      const right = await assertBytesRight(stack, projectId);
      const folded = await queryDatabase(stack, 'SELECT bytes FROM stored_bytes WHERE project_id = $1', [projectId]);
      assert.deepEqual(folded, [{ bytes: String(right) }]);
    }
  });
});
