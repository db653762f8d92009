import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type { ApiClient, RunRecord } from '../../../harness/client/api-client.js';
import { chain, llm } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole } from '../accounts.js';
import { NOT_FOUND, type Detail, type FieldErrors, type Page } from '../bodies.js';

const TOGGLES = {
  'toggle-api-run': 'is_api_run',
  'toggle-marketplace-example': 'use_in_marketplace_example',
  'toggle-marketplace-use': 'use_as_marketplace_template',
} as const;
type Action = keyof typeof TOGGLES;
const ACTIONS = Object.keys(TOGGLES) as Action[];

describe('run flags', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
  });

  const workflowWithRuns = async (count: number): Promise<{ id: number; runs: string[] }> => {
    const id = await api.createWorkflow(project, chain(1));
    const runs: string[] = [];
    for (let index = 0; index < count; index += 1) runs.push((await api.run(id)).data.id);
    for (const run of runs) assert.equal((await api.pollToEnd(run)).data.status, 'succeed');
    return { id, runs };
  };
  const toggle = <T = RunRecord>(id: number, run: string, action: Action, value: unknown, client = api) =>
    client.post<T>(`/workflows/${id}/history/${run}/${action}/`, { body: { [TOGGLES[action]]: value } });
  const flagged = async (id: number, action: Action): Promise<string[]> => {
    const { body } = await api.get<Page<RunRecord>>(`/workflows/${id}/history/?size=100`);
    return body.items.filter((item) => item[TOGGLES[action]]).map((item) => item.id);
  };

  describe('200', () => {
    for (const action of ACTIONS) {
      it(`${action} sets and clears the flag, answers the updated run, and a repeat changes nothing`, async () => {
        const { id, runs } = await workflowWithRuns(1);
        for (const value of [true, true, false, false]) {
          const { status, body } = await toggle(id, runs[0]!, action, value);
          assert.deepEqual([status, body.id, body[TOGGLES[action]]], [200, runs[0], value]);
          assert.deepEqual(body, await api.history(id, runs[0]!));
          for (const other of ACTIONS) if (other !== action) assert.equal(body[TOGGLES[other]], false);
        }
      });
    }

    for (const action of ['toggle-api-run', 'toggle-marketplace-use'] as const) {
      it(`${action} leaves at most one run of a workflow with the flag`, async () => {
        const [one, other] = [await workflowWithRuns(2), await workflowWithRuns(1)];
        await toggle(other.id, other.runs[0]!, action, true);
        for (const run of one.runs) await toggle(one.id, run, action, true);
        assert.deepEqual(await flagged(one.id, action), [one.runs[1]]);
        await toggle(one.id, one.runs[0]!, action, false);
        assert.deepEqual(await flagged(one.id, action), [one.runs[1]]);
        assert.deepEqual(await flagged(other.id, action), other.runs);
      });

      it(`${action} on many runs at once succeeds everywhere and marks exactly one`, async () => {
        const { id, runs } = await workflowWithRuns(6);
        const answers = await Promise.all([...runs, ...runs].map((run) => toggle(id, run, action, true)));
        assert.deepEqual(
          answers.map(({ status }) => status),
          answers.map(() => 200),
        );
        assert.equal((await flagged(id, action)).length, 1);
      });
    }

    it('a workflow may have several example runs', async () => {
      const { id, runs } = await workflowWithRuns(2);
      for (const run of runs) await toggle(id, run, 'toggle-marketplace-example', true);
      assert.deepEqual((await flagged(id, 'toggle-marketplace-example')).toSorted(), runs.toSorted());
    });

    it('the API run may be any run, a draft too', async () => {
      const id = await api.createWorkflow(
        project,
        chain(2, () => llm('')),
      );
      const draft = (await api.run(id)).data.id;
      assert.equal((await toggle(id, draft, 'toggle-api-run', true)).body['is_api_run'], true);
    });
  });

  describe('400', () => {
    for (const action of ACTIONS) {
      it(`${action} without its flag or with something else is refused by the field`, async () => {
        const { id, runs } = await workflowWithRuns(1);
        const path = `/workflows/${id}/history/${runs[0]}/${action}/`;
        const missing = await api.post<FieldErrors>(path, { body: { other: true } });
        assert.deepEqual([missing.status, missing.body], [400, { [TOGGLES[action]]: ['This field is required.'] }]);
        for (const value of ['true', 1, [true]]) {
          const { status, body } = await toggle<FieldErrors>(id, runs[0]!, action, value);
          assert.deepEqual([status, body], [400, { [TOGGLES[action]]: ['Must be a valid boolean.'] }]);
        }
      });
    }

    it('a role that may not toggle is a 400: the API run needs an editor, the marketplace flags an admin', async () => {
      const { id, runs } = await workflowWithRuns(1);
      const member = await createAccount(stack);
      const allowed: Record<string, number[]> = {
        viewer: [400, 400, 400],
        editor: [200, 400, 400],
        admin: [200, 200, 200],
        owner: [200, 200, 200],
      };
      for (const role of ['viewer', 'editor', 'admin', 'owner'] as const) {
        await giveRole(stack, member, project, role);
        const answers = [];
        for (const action of ACTIONS) answers.push(await toggle<Detail>(id, runs[0]!, action, true, member.api));
        assert.deepEqual(
          answers.map(({ status }) => status),
          allowed[role],
          role,
        );
        for (const { status, body } of answers) if (status === 400) assert.equal(body.code, 'permission_denied');
      }
    });

    it('a run that did not succeed cannot be the template; a flag that it does not have can be cleared', async () => {
      const bad = await api.createWorkflow(
        project,
        chain(2, () => llm('')),
      );
      const draft = (await api.run(bad)).data.id;
      const { id, runs } = await workflowWithRuns(3);
      const statuses = ['Error', 'Cancelled', 'In Progress'];
      for (const [index, status] of statuses.entries()) {
        const end = status === 'In Progress' ? ', run_finished_at = NULL' : '';
        await queryDatabase(stack, `UPDATE runs SET status = $1 ${end} WHERE id = $2`, [status, runs[index]]);
      }
      const failures: [number, string][] = [[bad, draft], ...runs.map((run): [number, string] => [id, run])];
      for (const [workflow, run] of failures) {
        const { status, body } = await toggle<Detail>(workflow, run, 'toggle-marketplace-use', true);
        assert.deepEqual([status, body.code], [400, 'run_not_succeeded']);
        assert.equal((await toggle(workflow, run, 'toggle-marketplace-use', false)).status, 200);
      }
      await queryDatabase(stack, `UPDATE runs SET status = 'Error', run_finished_at = now() WHERE id = $1`, [runs[2]]);
    });

    it('a run without workflow data cannot be the template', async () => {
      const { id, runs } = await workflowWithRuns(1);
      for (const document of ['{}', '{"nodes":[]}', '{"nodes":"none"}']) {
        const hash = createHash('sha256').update(document).digest();
        const insert = `INSERT INTO graph_snapshots (hash, document, plan) VALUES ($1, $2, '{}') ON CONFLICT DO NOTHING`;
        await queryDatabase(stack, insert, [hash, document]);
        await queryDatabase(stack, 'UPDATE runs SET snapshot_hash = $1 WHERE id = $2', [hash, runs[0]]);
        const { status, body } = await toggle<Detail>(id, runs[0]!, 'toggle-marketplace-use', true);
        assert.deepEqual([status, body.code], [400, 'run_without_data'], document);
      }
    });
  });

  describe('404', () => {
    it('an unknown run, another workflow`s run, what is no UUID, and anything of a stranger', async () => {
      const [one, other] = [await workflowWithRuns(1), await workflowWithRuns(1)];
      const stranger = await createAccount(stack);
      for (const action of ACTIONS) {
        await toggle(one.id, one.runs[0]!, action, true);
        const answers = [
          await toggle(one.id, randomUUID(), action, true),
          await toggle(one.id, other.runs[0]!, action, true),
          await toggle(one.id, 'x', action, true),
          await toggle(one.id, one.runs[0]!, action, true, stranger.api),
        ];
        for (const { status, body } of answers) assert.deepEqual([status, body], [404, NOT_FOUND], action);
        assert.deepEqual(await flagged(one.id, action), one.runs, 'a miss clears nothing');
      }
    });
  });
});
