import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { deleteLeftSecrets } from '../../../db/retention/retention-repository.js';
import { chain, drawing, http, link, node, trigger, type Drawing } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { endedDaysAgo, openRetention, type RetentionBench } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createFileClient } from '../../support/upload.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import { NOT_FOUND, type Page, type Project, type Workflow } from '../bodies.js';
import { copy, createCategory, markRun, publish, uniqueWord } from '../marketplace-setup.js';

const add = ({ api }: Account, slug: string) =>
  api.post<Workflow>(`/workflows/marketplace/${slug}/add-from-marketplace/`);

const projectsOf = async ({ api }: Account): Promise<Project[]> =>
  (await api.get<Page<Project>>('/projects/?size=100')).body.items;

const workflowsOf = async ({ api }: Account): Promise<Workflow[]> =>
  (await api.get<Page<Workflow>>('/workflows/?size=100')).body.items;

const canary = (): string => `canary-${randomBytes(12).toString('hex')}`;

describe('copies from the marketplace', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let author: Account;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    author = await createAccount(stack);
    target = await startHttpTarget();
  });
  after(() => target.close());

  async function withRetention(use: (retention: RetentionBench) => Promise<unknown>): Promise<void> {
    const retention = openRetention(stack);
    try {
      await use(retention);
    } finally {
      await retention.close();
    }
  }

  /** The expired runs of a workflow that still have their secrets. */
  async function keptSecrets(workflowId: number): Promise<string[]> {
    const text =
      'SELECT id FROM runs WHERE workflow_id = $1 AND results_expired_at IS NOT NULL AND secrets_enc IS NOT NULL';
    return (await queryDatabase<{ id: string }>(stack, text, [workflowId])).map(({ id }) => id);
  }

  describe('201', () => {
    it('a copy begins without the files of the drawing, and says which are to be chosen', async () => {
      const files = createFileClient({ apiUrl: stack.apiUrl, apiKey: author.apiKey });
      const file = await files.upload(await author.api.createProject(), 'paper', 'paper.txt');
      const send = http(target.url, { label: 'Send', method: 'POST', body: { $file: file } });
      const plain = { file_id: file.file_id, note: 'of another service' };
      const ask = node('human', { label: 'Ask', message: 'Well?', files: [file, '{{ input.doc }}'], other: plain });
      const { slug } = await publish(stack, author, {}, drawing([trigger(), send, ask]));
      const { body } = await add(await createAccount(stack), slug);
      const [, sent, asked] = (body.data as Drawing).nodes.map(({ data }) => data);
      assert.deepEqual(sent!['body'], { $file: '' });
      assert.deepEqual([asked!['files'], asked!['other']], [['', '{{ input.doc }}'], plain]);
      const message = 'Choose a file in place of "paper.txt", which stays in its project.';
      assert.deepEqual(body['warnings'], [
        { node: 'Send', message },
        { node: 'Ask', message },
      ]);
    });

    it('a copy says which credentials and connections it lacks', async () => {
      const first = trigger([{ id: 'key', is_secret: true, default_value: canary() }, { id: 'plain' }]);
      first.data['label'] = 'Start';
      const headers = { Authorization: canary(), Accept: 'text/plain' };
      const send = http(target.url, { label: 'Send', headers });
      link(first, send);
      // No link leads to this node, so the template run does not use its connection.
      const pay = http(target.url, { label: 'Pay', connection: 7 });
      const { slug } = await publish(stack, author, {}, drawing([first, send, pay]));
      const { body } = await add(await createAccount(stack), slug);
      assert.deepEqual(body['warnings'], [
        { node: 'Start', message: 'Fill in the default of the secret field "key": a copy holds no credentials.' },
        { node: 'Send', message: 'Fill in the header "Authorization": a copy holds no credentials.' },
        { node: 'Pay', message: 'Choose the connection that it uses.' },
      ]);
    });

    it('a copy is found by the services whose actions it names', async () => {
      const first = trigger();
      const send = http(target.url, { label: 'Send' });
      link(first, send);
      // No link leads to this node, so the template run does not call the service.
      const act = node('http', { label: 'Act', action: { service: 'slack', id: 'chat.postMessage' }, values: {} });
      const { slug } = await publish(stack, author, {}, drawing([first, send, act]));
      const id = await copy(await createAccount(stack), slug);
      const stored = await queryDatabase(stack, 'SELECT service_ids FROM workflows WHERE id = $1', [id]);
      assert.deepEqual(stored, [{ service_ids: ['slack'] }]);
    });

    it('the copy is a workflow of the caller, with what was published', async () => {
      const category = await createCategory(stack);
      const subcategory = await createCategory(stack, category);
      const fields = {
        title: 'Inner title',
        market_title: uniqueWord(),
        short_description: 'short',
        readme_guide: '# Guide',
        available_languages: ['en', 'de'],
        run_fee: '0.1',
        free_runs_per_user: 3,
        categories: [category],
        subcategories: [subcategory],
      };
      const data = chain(3);
      const { workflowId, slug } = await publish(stack, author, fields, data);
      const buyer = await createAccount(stack);
      const project = await buyer.api.createProject();
      await buyer.api.createWorkflow(project, {});
      const { status, body } = await add(buyer, slug);
      assert.equal(status, 201);
      const { warnings, ...copied } = body;
      assert.deepEqual(warnings, []);
      const { id, created_at: created, updated_at: _, ...rest } = copied;
      assert.equal(new Date(created as string).toISOString(), created);
      assert.deepEqual(rest, {
        ...fields,
        project,
        author: buyer.userId,
        data: JSON.parse(JSON.stringify(data)) as unknown,
        sort_id: 2,
        is_published: false,
        is_tool: false,
        is_chat: false,
        tags: [],
        max_run_cost: null,
        slug: null,
        copied_from: workflowId,
        can_edit: true,
        role: 'owner',
        version: 1,
      });
      assert.deepEqual((await buyer.api.get(`/workflows/${id}/`)).body, copied);
      const run = await buyer.api.run(id);
      assert.equal((await buyer.api.pollToEnd(run.data.id)).data.status, 'succeed');
    });

    it('it lands in the oldest project that the caller owns; where they own none, one is made', async () => {
      const { slug } = await publish(stack, author);
      const [guest, owner] = [await createAccount(stack), await createAccount(stack)];
      const foreign = await owner.api.createProject();
      await giveRole(stack, guest, foreign, 'admin');
      const made = (await add(guest, slug)).body;
      assert.notEqual(made.project, foreign);
      assert.deepEqual(
        (await projectsOf(guest)).map(({ id, name, can_edit: canEdit }) => [id, name, canEdit]),
        [
          [made.project, 'My workflows', true],
          [foreign, 'test project', true],
        ],
      );
      await owner.api.createProject('newer');
      const deleted = await createAccount(stack);
      const gone = await deleted.api.createProject();
      const kept = await deleted.api.createProject();
      await deleted.api.delete(`/projects/${gone}/`);
      assert.deepEqual(
        [(await add(owner, slug)).body.project, (await add(deleted, slug)).body.project],
        [foreign, kept],
      );
    });

    it('copying again answers the copy that still exists, with the changes made to it', async () => {
      const { slug } = await publish(stack, author);
      const buyer = await createAccount(stack);
      const id = await copy(buyer, slug);
      await buyer.api.patch(`/workflows/${id}/`, { body: { title: 'Mine now' } });
      const again = await add(buyer, slug);
      assert.deepEqual([again.status, again.body.id, again.body.title], [201, id, 'Mine now']);
      assert.equal((await workflowsOf(buyer)).length, 1);
      await buyer.api.delete(`/workflows/${id}/`);
      const next = await copy(buyer, slug);
      assert.notEqual(next, id);
      const { project } = (await add(buyer, slug)).body;
      await buyer.api.delete(`/projects/${project}/`);
      assert.ok(![id, next].includes(await copy(buyer, slug)), 'a copy in a deleted project is gone');
    });

    it('20 requests at once of a caller without a project make one project and one copy', async () => {
      const { slug } = await publish(stack, author);
      const buyer = await createAccount(stack);
      const answers = await Promise.all(Array.from({ length: 20 }, () => add(buyer, slug)));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
      assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
      assert.equal((await projectsOf(buyer)).length, 1);
      assert.equal((await workflowsOf(buyer)).length, 1);
    });

    it('ten users at once get a copy each', async () => {
      const { slug } = await publish(stack, author);
      const buyers = await Promise.all(Array.from({ length: 10 }, () => createAccount(stack)));
      const ids = await Promise.all(buyers.map((buyer) => copy(buyer, slug)));
      assert.equal(new Set(ids).size, 10);
    });

    it('the author gets the original; one who has left the project a copy', async () => {
      const leaving = await createAccount(stack);
      const { projectId, workflowId, slug } = await publish(stack, leaving);
      const { status, body } = await add(leaving, slug);
      assert.deepEqual([status, body.id, body['copied_from']], [201, workflowId, null]);
      assert.equal((await workflowsOf(leaving)).length, 1);
      const member = await createAccount(stack);
      await giveRole(stack, member, projectId, 'owner');
      assert.notEqual(await copy(member, slug), workflowId, 'a member who is not the author gets a copy');
      await queryDatabase(stack, 'DELETE FROM project_members WHERE project_id = $1 AND user_id = $2', [
        projectId,
        leaving.userId,
      ]);
      const left = await add(leaving, slug);
      assert.deepEqual([left.status, left.body['copied_from']], [201, workflowId]);
    });

    it('copies stay, and run, after the original was unpublished, archived and its project deleted', async () => {
      const { projectId, workflowId, slug } = await publish(stack, author);
      const buyer = await createAccount(stack);
      const id = await copy(buyer, slug);
      await author.api.post(`/workflows/${workflowId}/unpublish-from-marketplace/`);
      assert.equal((await add(buyer, slug)).status, 404);
      await author.api.delete(`/workflows/${workflowId}/`);
      await author.api.delete(`/projects/${projectId}/`);
      const { status, body } = await buyer.api.get<Workflow>(`/workflows/${id}/`);
      assert.deepEqual([status, body['copied_from']], [200, workflowId]);
      const run = await buyer.api.run(id);
      assert.equal((await buyer.api.pollToEnd(run.data.id)).data.status, 'succeed');
    });

    it('a key that was written into a header is gone from everywhere else in the copy too', async () => {
      const literal = `${canary()}"/+`;
      const headers = { Authorization: `Bearer ${literal}` };
      const twice = `${target.url}/echo?key=${encodeURIComponent(literal)}`;
      const call = http(twice, { method: 'POST', headers, body: { text: `key ${literal}`, [literal]: 1 } });
      const start = trigger();
      link(start, call);
      const { slug } = await publish(stack, author, {}, drawing([start, call]));
      const { body } = await add(await createAccount(stack), slug);
      const text = JSON.stringify(body);
      assert.ok(!text.includes(literal.slice(0, -3)), text);
      const copied = (body.data['nodes'] as { data: Record<string, unknown> }[])[1]!.data;
      assert.deepEqual(copied['headers'], { Authorization: '' });
      assert.deepEqual(copied['body'], { text: 'key ********', '********': 1 });
      assert.equal(copied['url'], `${target.url}/echo?key=********`);
    });

    it('such a key is gone from a copy also when all runs of the published drawing have expired', async () => {
      const literal = canary();
      const headers = { Authorization: `Bearer ${literal}` };
      const call = http(`${target.url}/echo`, { method: 'POST', headers, body: { text: `key ${literal}` } });
      const start = trigger();
      link(start, call);
      const { workflowId, slug, runId } = await publish(stack, author, {}, drawing([start, call]));
      const newest = (await author.api.run(workflowId)).data.id;
      await author.api.pollToEnd(newest);
      await markRun(stack, runId, 'use_as_marketplace_template', false);
      await endedDaysAgo(stack, 31, runId, newest);
      await withRetention((retention) => retention.round());
      assert.deepEqual(await keptSecrets(workflowId), [newest], 'one run keeps its secrets');
      const { body } = await add(await createAccount(stack), slug);
      const copied = (body.data['nodes'] as { data: Record<string, unknown> }[])[1]!.data;
      assert.deepEqual(copied['body'], { text: 'key ********' });
    });

    it('the secrets that are kept for copies go once there is a newer run, or nothing to copy any more', async () => {
      const call = http(`${target.url}/echo`, { headers: { Authorization: `Bearer ${canary()}` } });
      const start = trigger();
      link(start, call);
      const { workflowId, runId } = await publish(stack, author, {}, drawing([start, call]));
      await markRun(stack, runId, 'use_as_marketplace_template', false);
      await endedDaysAgo(stack, 31, runId);
      await withRetention(async (retention) => {
        const sweep = () => retention.db.transaction().execute((trx) => deleteLeftSecrets(trx, null, 1_000_000));
        await retention.round();
        await sweep();
        assert.deepEqual(await keptSecrets(workflowId), [runId], 'it is the newest');
        const newer = (await author.api.run(workflowId)).data.id;
        await author.api.pollToEnd(newer);
        assert.equal(await sweep(), null);
        assert.deepEqual(await keptSecrets(workflowId), []);
        await endedDaysAgo(stack, 31, newer);
        await retention.round();
        assert.deepEqual(await keptSecrets(workflowId), [newer]);
        await author.api.post(`/workflows/${workflowId}/unpublish-from-marketplace/`);
        await sweep();
        assert.deepEqual(await keptSecrets(workflowId), []);
      });
    });

    it('no secret travels: secret defaults and credential headers of HTTP, MCP and agent nodes arrive empty', async () => {
      const [field, header, tool, agent] = [canary(), canary(), canary(), canary()];
      const start = trigger([{ id: 'token', type: 'text', is_secret: true, default_value: field }]);
      const call = http(`${target.url}/echo`, {
        headers: { 'X-Token': '{{ input.token }}', Authorization: `Bearer ${header}`, Accept: '*/*' },
      });
      link(start, call);
      const headers = { Authorization: `Bearer ${tool}`, Accept: '*/*' };
      const data: Drawing = drawing([start, call]);
      const { workflowId, slug, runId } = await publish(stack, author, {}, data);
      // These nodes are added after the template run, because they call servers that do not exist here.
      const unreached = [
        { id: 'm', type: 'mcp-node', data: { endpoint_url: 'https://mcp.example', headers } },
        {
          id: 'a',
          type: 'agent-node',
          data: { tools: [{ server_label: 's', headers: { 'X-Api-Key': agent, Accept: '*/*' } }] },
        },
      ];
      const { data: stored } = (await author.api.get<Workflow>(`/workflows/${workflowId}/`)).body;
      const published = { ...stored, nodes: [...(stored['nodes'] as unknown[]), ...unreached] };
      await queryDatabase(
        stack,
        `WITH frozen AS (
          INSERT INTO graph_snapshots (hash, document, plan)
          SELECT sha256($2::bytea), $1::json, plan FROM graph_snapshots JOIN runs ON hash = snapshot_hash WHERE runs.id = $3
          RETURNING hash)
        UPDATE workflows SET published_snapshot = frozen.hash FROM frozen WHERE id = $4`,
        [JSON.stringify(published), slug, runId, workflowId],
      );
      const buyer = await createAccount(stack);
      const { body } = await add(buyer, slug);
      const text = JSON.stringify(body);
      for (const secret of [field, header, tool, agent, '********']) assert.ok(!text.includes(secret), text);
      const nodes = body.data['nodes'] as { data: Record<string, unknown> }[];
      const fields = [{ id: 'token', type: 'text', is_secret: true, default_value: '' }];
      assert.deepEqual(nodes[0]?.data['input_fields'], fields);
      assert.deepEqual(nodes[1]?.data['headers'], { 'X-Token': '', Authorization: '', Accept: '*/*' });
      assert.deepEqual(nodes[2]?.data['headers'], { Authorization: '', Accept: '*/*' });
      assert.deepEqual(nodes[3]?.data['tools'], [{ server_label: 's', headers: { 'X-Api-Key': '', Accept: '*/*' } }]);
      const rows = await queryDatabase<{ text: string }>(
        stack,
        'SELECT workflows::text AS text FROM workflows WHERE id = $1',
        [body.id],
      );
      assert.ok(!rows[0]!.text.includes('canary'));
      const reached = { ...body.data, nodes: nodes.slice(0, 2) };
      await buyer.api.patch(`/workflows/${body.id}/`, { body: { data: reached } });
      const sentBefore = target.requests.length;
      const run = await buyer.api.run(body.id, { token: '********' });
      await buyer.api.pollToEnd(run.data.id);
      const sent = JSON.stringify(target.requests.slice(sentBefore));
      assert.ok(sent.includes('/echo'));
      for (const secret of [field, header]) assert.ok(!sent.includes(secret));
    });
  });

  describe('404', () => {
    it('a slug that nothing published has', async () => {
      const { workflowId, slug } = await publish(stack, author);
      await author.api.post(`/workflows/${workflowId}/unpublish-from-marketplace/`);
      const buyer = await createAccount(stack);
      for (const name of [slug, uniqueWord(), 'NO', '%00']) {
        const { status, body } = await add(buyer, name);
        assert.deepEqual([status, body], [404, NOT_FOUND], name);
      }
      assert.deepEqual(await projectsOf(buyer), [], 'a failed copy makes no project');
    });
  });
});
