// Keys that are restricted to one project: their lists, what they create, and the chat proxy.
// test/api/role-matrix.test.ts tests the answer of each single route.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { chain, drawing, llm, link, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, removeMembership, restrictedTo, type Account } from '../accounts.js';
import type { Detail, FieldErrors, Page, Project, Workflow } from '../bodies.js';
import { copy, publish, type MarketplaceWorkflow } from '../marketplace-setup.js';

const REQUEST = `
  INSERT INTO approval_requests (request_id, run_id, project_id, node_id, turn, ordinal, server_label, tool_name,
    arguments, expires_at)
  SELECT $1, id, project_id, 'agent', 0, 0, 'tools', 'echo', '{}', now() + interval '1 hour' FROM runs WHERE id = $2`;

describe('a key that is restricted to a project', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  /** The key `restricted` reaches the project `inside` of its user, and not the project `outside`. */
  let inside: number;
  let outside: number;
  let restricted: Account;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api } = account);
    inside = await api.createProject('inside');
    outside = await api.createProject('outside');
    restricted = await restrictedTo(stack, inside, account);
  });

  const idsOf = async (path: string): Promise<{ total: number; ids: unknown[] }> => {
    const { status, body } = await restricted.api.get<Page<{ id?: number; request_id?: string }>>(path);
    assert.equal(status, 200, path);
    return { total: body.total, ids: body.items.map(({ id, request_id: requestId }) => id ?? requestId) };
  };

  describe('lists', () => {
    it('of projects, workflows and all workflows contain only the project, in items and in total', async () => {
      const own = await api.createWorkflow(inside, {});
      const other = await api.createWorkflow(outside, {});
      assert.deepEqual(await idsOf('/projects/'), { total: 1, ids: [inside] });
      assert.deepEqual(await idsOf('/projects/?name__icontains=outside'), { total: 0, ids: [] });
      for (const list of ['/workflows/', '/all-workflows/', '/all-workflows/?own_scripts=true']) {
        const { total, ids } = await idsOf(list);
        assert.deepEqual([total, ids.includes(own), ids.includes(other)], [ids.length, true, false], list);
      }
      for (const list of ['/workflows/', '/all-workflows/']) {
        assert.deepEqual(await idsOf(`${list}?project=${outside}`), { total: 0, ids: [] });
      }
    });

    it('of approval requests contain only those of the runs of the project', async () => {
      const expected: string[] = [];
      for (const project of [inside, outside]) {
        const workflow = await api.createWorkflow(project, drawing([trigger()]));
        const { data } = await api.run(workflow);
        await api.pollToEnd(data.id);
        const requestId = `restricted-${randomUUID()}`;
        await queryDatabase(stack, REQUEST, [requestId, data.id]);
        if (project === inside) expected.push(requestId);
      }
      assert.deepEqual(await idsOf('/agent-approvals/?size=100'), { total: 1, ids: expected });
    });
  });

  describe('polls', () => {
    const pollOf = (runId: string, client = restricted.api) =>
      client.get<Detail>(`/workflows/workflow_result/?id=${runId}`);
    const runIn = async (project: number): Promise<string> => {
      const { data } = await api.run(await api.createWorkflow(project, chain(1)));
      await api.pollToEnd(data.id);
      return data.id;
    };

    it('show runs of the project, and refuse other runs as for a user without access, many at once', async () => {
      const [own, other] = [await runIn(inside), await runIn(outside)];
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => pollOf(n % 2 === 0 ? own : other)));
      const seen = answers.map(({ status, body }) => [status, body.code]);
      const expected = answers.map((_, n) => (n % 2 === 0 ? [200, undefined] : [400, 'invalid']));
      assert.deepEqual(seen, expected);
      const { api: stranger } = await createAccount(stack);
      assert.deepEqual((await pollOf(other)).body, (await pollOf(other, stranger)).body);
    });

    it('of results that are too large to be read with their run are restricted, too', async () => {
      const [own, other] = [await runIn(inside), await runIn(outside)];
      const large = `UPDATE node_results SET result = json_build_object('content', repeat('x', 700000)) WHERE run_id = ANY ($1)`;
      await queryDatabase(stack, large, [[own, other]]);
      assert.deepEqual([(await pollOf(own)).status, (await pollOf(other)).status], [200, 400]);
    });
  });

  describe('creations', () => {
    it('are possible in the project only: another project is refused, and no project can be created', async () => {
      const workflow = { title: 'w', data: {} };
      const made = await restricted.api.post<Workflow>('/workflows/', { body: { ...workflow, project: inside } });
      assert.deepEqual([made.status, made.body.project, made.body['role']], [201, inside, 'owner']);
      const refused = await restricted.api.post<FieldErrors>('/workflows/', {
        body: { ...workflow, project: outside },
      });
      assert.deepEqual(
        [refused.status, refused.body],
        [400, { project: [`Invalid pk "${outside}" - object does not exist.`] }],
      );
      assert.equal((await restricted.api.post('/projects/', { body: { name: 'new' } })).status, 403);
    });

    it('a copy from the marketplace is made in the project, whatever copies the user has elsewhere', async () => {
      const { slug } = await publish(stack, await createAccount(stack));
      const elsewhere = await copy(account, slug);
      const seen = async ({ api: client }: Account): Promise<number> =>
        (await client.get<MarketplaceWorkflow>(`/workflows/marketplace/${slug}/`)).body.copied_workflow_id;
      assert.equal((await api.get<Workflow>(`/workflows/${elsewhere}/`)).body.project, inside, 'the oldest one');
      assert.equal(await seen(restricted), elsewhere);
      const later = await restrictedTo(stack, outside, account);
      assert.equal(await seen(later), -1);
      const made = await copy(later, slug);
      assert.notEqual(made, elsewhere);
      assert.equal((await later.api.get<Workflow>(`/workflows/${made}/`)).body.project, outside);
      assert.equal(await copy(later, slug), made, 'a second copy is the first');
      assert.deepEqual([await seen(later), await copy(account, slug)], [made, elsewhere]);
    });

    it('the author gets the original instead of a copy only if the key reaches it', async () => {
      const { slug, projectId, workflowId } = await publish(stack, account);
      assert.equal(await copy(await restrictedTo(stack, projectId, account), slug), workflowId);
      assert.notEqual(await copy(restricted, slug), workflowId);
    });

    it('no copy is made in a project in which the user may not create workflows', async () => {
      const { slug } = await publish(stack, account);
      const guest = await createAccount(stack);
      await giveRole(stack, guest, inside, 'viewer');
      const guarded = await restrictedTo(stack, inside, guest);
      const refused = await guarded.api.post<Detail>(`/workflows/marketplace/${slug}/add-from-marketplace/`);
      assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied']);
    });
  });

  it('gets 403 key_project for other projects of its user, by every kind of id, and 404 for unknown ones', async () => {
    const stranger = await createAccount(stack);
    const theirs = await stranger.api.createProject();
    const idsIn = async (client: ApiClient, project: number) => {
      const workflow = await client.createWorkflow(project, drawing([trigger()]));
      const { data } = await client.run(workflow);
      await client.pollToEnd(data.id);
      const requestId = `hidden-${randomUUID()}`;
      await queryDatabase(stack, REQUEST, [requestId, data.id]);
      return { project, workflow, run: data.id, requestId };
    };
    const pathsOf = ({ project, workflow, run, requestId }: Awaited<ReturnType<typeof idsIn>>): string[] => [
      `/projects/${project}/`,
      `/workflows/${workflow}/`,
      `/workflows/${workflow}/history/${run}/`,
      `/workflows/workflow_run/${run}/agent-approval/`,
      `/runs/${run}/`,
      `/billing-history/workflowrun/${run}/`,
      `/agent-approvals/${requestId}/`,
    ];
    const answers = async (paths: string[]) => {
      const seen = await Promise.all(paths.map((path) => restricted.api.get<Detail>(path)));
      return new Set(seen.map(({ status, body }) => `${status} ${body.code}`));
    };
    assert.deepEqual(await answers(pathsOf(await idsIn(api, outside))), new Set(['403 key_project']));
    assert.deepEqual(await answers(pathsOf(await idsIn(stranger.api, theirs))), new Set(['404 not_found']));
  });

  it('lists no MCP tools with the stored headers of a workflow in another project', async () => {
    const workflow = await api.createWorkflow(outside, chain(1));
    const body = { endpoint_url: 'https://tools.example.com/mcp', workflow_id: workflow, node_id: 'n' };
    const { status, body: errors } = await restricted.api.post<FieldErrors>('/workflows/mcp-tools/', { body });
    assert.deepEqual([status, Object.keys(errors)], [400, ['workflow_id']]);
  });

  it('has no administrator rights, even if its user is an administrator', async () => {
    const admin = await createAccount(stack);
    await queryDatabase(stack, 'UPDATE users SET is_admin = true WHERE id = $1', [admin.userId]);
    const project = await admin.api.createProject();
    assert.equal((await admin.api.get('/users/')).status, 200);
    assert.equal((await (await restrictedTo(stack, project, admin)).api.get('/users/')).status, 403);
  });

  describe('of a user who has left the project', () => {
    it('sees nothing, not even the other projects of the user', async () => {
      const guest = await createAccount(stack);
      const own = await guest.api.createProject();
      await giveRole(stack, guest, inside, 'editor');
      const { api: client } = await restrictedTo(stack, inside, guest);
      assert.equal((await client.get<Page<Project>>('/projects/')).body.total, 1);
      await removeMembership(stack, guest, inside);
      assert.equal((await client.get<Page<Project>>('/projects/')).body.total, 0);
      assert.equal((await client.get(`/projects/${inside}/`)).status, 404);
      const other = await client.get<Detail>(`/projects/${own}/`);
      assert.deepEqual([other.status, other.body.code], [403, 'key_project']);
    });
  });

  describe('at the chat proxy', () => {
    const ask = async ({ apiKey }: Account, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${stack.apiUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
      });

    it('acts in its project with the role of its user, and in no other project', async () => {
      assert.equal((await ask(restricted)).status, 200);
      assert.equal((await ask(restricted, { 'x-project-id': String(inside) })).status, 200);
      assert.equal((await ask(restricted, { 'x-project-id': String(outside) })).status, 403);
      const guest = await createAccount(stack);
      await giveRole(stack, guest, inside, 'viewer');
      const guarded = await restrictedTo(stack, inside, guest);
      assert.equal((await ask(guarded)).status, 403);
      await removeMembership(stack, guest, inside);
      assert.equal((await ask(guarded)).status, 403);
      assert.equal((await ask(guest)).status, 200, 'a key of the same user without a restriction');
    });
  });

  it('runs the workflows of its project and reads the billing of their runs', async () => {
    const start = trigger();
    const answer = llm('hello');
    link(start, answer);
    const workflow = await restricted.api.createWorkflow(inside, drawing([start, answer]));
    const { data } = await restricted.api.run(workflow);
    assert.equal((await restricted.api.pollToEnd(data.id)).data.status, 'succeed');
    const billing = await restricted.api.get<Page<unknown>>(`/billing-history/workflowrun/${data.id}/`);
    assert.deepEqual([billing.status, billing.body.total], [200, 2]);
    const foreign = await restrictedTo(stack, outside, account);
    assert.equal((await foreign.api.get(`/billing-history/workflowrun/${data.id}/`)).status, 403);
  });
});
