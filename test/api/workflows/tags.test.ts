import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createDatabase } from '../../../db/core/client.js';
import { listCatalog, listTags } from '../../../db/workflows/catalog-repository.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { explainRead } from '../../support/explain.js';
import { seedWorkflows } from '../../support/seed-runs.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import type { FieldErrors, Page, Workflow } from '../bodies.js';
import { copy, publish } from '../marketplace-setup.js';

type Tagged = Workflow & { tags: string[] };

describe('tags of workflows', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let project: number;

  before(async () => {
    stack = await sharedStack();
  });
  beforeEach(async () => {
    account = await createAccount(stack);
    project = await account.api.createProject();
  });

  const create = async (title: string, tags?: string[]): Promise<number> => {
    const id = await account.api.createWorkflow(project, {}, title);
    if (tags !== undefined) await set(id, tags);
    return id;
  };
  const set = async (id: number, tags: unknown): Promise<string[]> => {
    const { status, body } = await account.api.patch<Tagged>(`/workflows/${id}/`, { body: { tags } });
    assert.equal(status, 200, JSON.stringify(body));
    return body.tags;
  };
  const titles = async (query: string): Promise<string[]> => {
    const { status, body } = await account.api.get<Page<Tagged>>(`/all-workflows/${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.items.map(({ title }) => title);
  };

  it('are trimmed, kept once in their order, shown wherever a workflow is, and replaced as a whole', async () => {
    const id = await create('a');
    assert.deepEqual((await account.api.get<Tagged>(`/workflows/${id}/`)).body.tags, []);
    const tags = ['Vertrieb', 'vertrieb', 'ä b', `${'x'.repeat(39)}y`];
    assert.deepEqual(await set(id, [' Vertrieb ', 'vertrieb', 'Vertrieb', 'ä b\n', tags[3]]), tags);
    for (const path of [`/workflows/${id}/`, `/all-workflows/${id}/`]) {
      assert.deepEqual((await account.api.get<Tagged>(path)).body.tags, tags);
    }
    for (const path of [`/workflows/?project=${project}`, '/all-workflows/']) {
      assert.deepEqual((await account.api.get<Page<Tagged>>(path)).body.items[0]?.tags, tags);
    }
    await account.api.patch(`/workflows/${id}/`, { body: { title: 'b' } });
    assert.deepEqual((await account.api.get<Tagged>(`/workflows/${id}/`)).body.tags, tags);
    assert.deepEqual(await set(id, []), []);
  });

  it('eleven, an empty one, 41 characters and what is no list of texts are a 400, and change nothing', async () => {
    const id = await create('a', ['kept']);
    const many = Array.from({ length: 11 }, (_, index) => `tag ${index}`);
    assert.deepEqual(await set(id, many.slice(1)), many.slice(1));
    assert.deepEqual(await set(id, [...many.slice(1), ...many.slice(1)]), many.slice(1), 'the same ten twice');
    for (const tags of [many, [' '], ['x'.repeat(41)], 'a', [1], [null], null, [['a']], { a: 'a' }]) {
      const { status, body } = await account.api.patch<FieldErrors>(`/workflows/${id}/`, { body: { tags } });
      assert.deepEqual([status, Object.keys(body)], [400, ['tags']], JSON.stringify(tags));
    }
    assert.deepEqual((await account.api.get<Tagged>(`/workflows/${id}/`)).body.tags, many.slice(1));
  });

  it('?tag= finds the workflows that have all of the tags, each exactly', async () => {
    await create('a', ['x', 'y', 'a,b']);
    await create('b', ['x', 'X']);
    const gone = await create('c', ['x', 'y']);
    await create('d');
    assert.deepEqual(await titles('?tag=x'), ['c', 'b', 'a']);
    assert.deepEqual(await titles('?tag=x&tag=y'), ['c', 'a']);
    assert.deepEqual(await titles('?tag=X'), ['b']);
    assert.deepEqual(await titles('?tag=%20X%20'), ['b'], 'trimmed, as it is stored');
    assert.deepEqual(await titles('?tag=a,b'), ['a']);
    assert.deepEqual(await titles('?tag=%25'), []);
    assert.deepEqual(await titles('?tag='), ['d', 'c', 'b', 'a']);
    assert.deepEqual(await titles('?tag=x&search=b'), ['b']);
    await account.api.delete(`/workflows/${gone}/`);
    assert.deepEqual(await titles('?tag=x&tag=y'), ['a']);
    const tags = await account.api.get(`/projects/${project}/tags/`);
    assert.deepEqual(
      [tags.status, tags.body],
      [200, ['X', 'a,b', 'x', 'y'].map((tag) => ({ tag, count: tag === 'x' ? 2 : 1 }))],
    );
    const other = await account.api.createProject();
    assert.deepEqual((await account.api.get(`/projects/${other}/tags/`)).body, []);
    const stranger = await createAccount(stack);
    assert.equal((await stranger.api.get<Page<Tagged>>('/all-workflows/?tag=x')).body.total, 0);
  });

  it('editors change them, viewers do not; the audit log says how they were', async () => {
    const id = await create('a', ['x']);
    const guest = await createAccount(stack);
    const change = () => guest.api.patch(`/workflows/${id}/`, { body: { tags: ['y'] } });
    await giveRole(stack, guest, project, 'viewer');
    assert.equal((await change()).status, 403);
    await giveRole(stack, guest, project, 'editor');
    assert.equal((await change()).status, 200);
    const path = `/projects/${project}/audit/?action=workflow.changed&user=${guest.userId}`;
    const { body } = await account.api.get<Page<{ outcome: string; changes: object }>>(path);
    assert.deepEqual(
      body.items.map(({ outcome, changes }) => [outcome, changes]),
      [
        ['success', { tags: [['x'], ['y']] }],
        ['refused', {}],
      ],
    );
  });

  it('are kept by a copy in the same project, and by none from the marketplace', async () => {
    const { body: twin } = await account.api.post<Tagged>(`/workflows/${await create('a', ['x'])}/duplicate/`);
    assert.deepEqual(twin.tags, ['x']);
    const published = await publish(stack, account, {});
    await set(published.workflowId, ['private']);
    const buyer = await createAccount(stack);
    const copied = await copy(buyer, published.slug);
    const { body: bought } = await buyer.api.get<Page<Tagged>>('/all-workflows/');
    assert.deepEqual(
      bought.items.map(({ tags }) => tags),
      [[]],
      JSON.stringify(copied),
    );
    const shown = await buyer.api.get(`/workflows/marketplace/${published.slug}/`);
    assert.ok(shown.status === 200 && !JSON.stringify(shown.body).includes('private'));
  });

  it('a few of 5,000 workflows are found by an index of those that have any', async () => {
    const { database_url: url } = stack.stack;
    const db = createDatabase({ url, poolMax: 1, applicationName: 'test', onError: () => undefined });
    try {
      const { userId } = account;
      const ids = await seedWorkflows(db, { projectId: project, userId, count: 5000 });
      await sql`UPDATE workflows SET tags = ARRAY['a', 'b'] WHERE id = ANY (${ids.slice(0, 5)})`.execute(db);
      await sql`UPDATE workflows SET tags = ARRAY['a'] WHERE id = ANY (${ids.slice(5, 50)})`.execute(db);
      await sql`VACUUM ANALYZE workflows`.execute(db);
      const none = { search: undefined, titleContains: undefined, projectId: undefined };
      const filters = { categories: undefined, subcategories: undefined, languages: undefined };
      const page = { ordering: '-created_at', limit: 10, offset: 0, isOwn: false } as const;
      const query = { ...none, ...filters, ...page, reach: { userId }, tags: ['a', 'b'] };
      const plan = (await explainRead(url, (reader) => listCatalog(reader, query)))
        .flatMap((statement) => statement.plan)
        .join('\n');
      assert.match(plan, /Index Only Scan using workflows_tagged on workflows/);
      assert.doesNotMatch(plan, /Seq Scan on workflows|using workflows_(?!tagged)/);
      const tags = await explainRead(url, (reader) => listTags(reader, project));
      assert.match(tags[0]!.plan.join('\n'), /workflows_tagged/);
    } finally {
      await db.destroy();
    }
  });
});
