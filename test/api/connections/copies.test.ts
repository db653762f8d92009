// The names and ids of connections when a workflow is copied, exported or imported
// (docs/use/connections.md, "Export, import and copies").
import assert from 'node:assert/strict';
import { agent, drawing, http, linkInRow, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../accounts.js';
import type { Workflow } from '../bodies.js';
import { copy, markRun, publish } from '../marketplace-setup.js';
import { createConnection, readConnection } from './sign-in.js';

interface Imported extends Workflow {
  data: { nodes: DrawingNode[] };
  warnings: { node: string | null; message: string }[];
}

describe('connections of workflows that are copied', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let target: HttpTarget;
  let projectId: number;

  before(async () => {
    stack = await sharedStack();
    [account, target] = await Promise.all([createAccount(stack), startHttpTarget()]);
    projectId = await account.api.createProject();
  });
  after(() => target.close());

  const bearer = (name: string, project = projectId): Promise<number> =>
    createConnection(account, project, { name, kind: 'bearer', origins: [target.url], secrets: { token: 'a-secret' } });
  const header = (name: string, project = projectId): Promise<number> =>
    createConnection(account, project, {
      name,
      kind: 'header',
      origins: [target.url],
      settings: { name: 'X-Key' },
      secrets: { value: 'a-secret' },
    });
  const row = (...nodes: DrawingNode[]) => drawing(linkInRow([trigger(), ...nodes]));
  const calls = (connection: unknown, label: string) => http(`${target.url}/copied`, { connection, label });
  const namedIn = ({ data }: { data: unknown }): unknown[] =>
    (data as { nodes: DrawingNode[] }).nodes.slice(1).map((node) => node.data['connection']);
  const importInto = async (project: number, body: object): Promise<Imported> => {
    const answer = await account.api.post<Imported>(`/projects/${project}/import/`, { body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };

  it('are kept by a duplicate in the same project', async () => {
    const id = await bearer('duplicated');
    const workflowId = await account.api.createWorkflow(projectId, row(calls(id, 'call')));
    const { status, body } = await account.api.post<Workflow>(`/workflows/${workflowId}/duplicate/`);
    assert.equal(status, 201);
    assert.deepEqual(namedIn(body as unknown as { data: unknown }), [id]);
    assert.equal((await readConnection(account, projectId, id)).used_by, 2);
  });

  it('are removed from marketplace copies and examples', async () => {
    const author = await createAccount(stack);
    const project = await author.api.createProject();
    const id = await createConnection(author, project, {
      name: 'published',
      kind: 'bearer',
      origins: [target.url],
      secrets: { token: 'the-secret-of-the-author' },
    });
    const call = calls(id, 'call');
    const workflowId = await author.api.createWorkflow(project, row(call));
    const run = await author.api.run(workflowId);
    assert.equal((await author.api.pollToEnd(run.data.id)).data.status, 'succeed');
    const fields = { market_title: `published ${workflowId}`, short_description: 'short', available_languages: ['en'] };
    await author.api.patch(`/workflows/${workflowId}/`, { body: fields });
    await markRun(stack, run.data.id, 'use_as_marketplace_template');
    await markRun(stack, run.data.id, 'use_in_marketplace_example');
    const published = await author.api.post<{ slug: string }>(`/workflows/${workflowId}/publish-on-marketplace/`);
    const { slug } = published.body;
    const path = `/workflows/marketplace/${slug}/examples/`;
    const listed = await account.api.get<{ data: unknown }[]>(path);
    const alone = await account.api.get<{ data: unknown }>(`${path}${run.data.id}/`);
    assert.deepEqual([namedIn(listed.body[0]!), namedIn(alone.body)], [[undefined], [undefined]]);
    const copied = await copy(account, slug);
    const { body } = await account.api.get<Workflow & { project: number; data: unknown }>(`/workflows/${copied}/`);
    assert.deepEqual(namedIn(body), [undefined]);
    const [row_] = await queryDatabase<{ connection_ids: number[] }>(
      stack,
      'SELECT connection_ids FROM workflows WHERE id = $1',
      [copied],
    );
    assert.deepEqual(row_!.connection_ids, []);
    // The copy runs without a credential until somebody chooses a connection.
    const ofCopy = await account.api.run(copied);
    assert.equal((await account.api.pollToEnd(ofCopy.data.id)).data.status, 'succeed');
    assert.equal(target.requestsTo('/copied').at(-1)!.headers.authorization, undefined);
    assert.equal((await readConnection(author, project, id)).used_by, 1);
  });

  it('are kept if the author requests a copy, which is the original', async () => {
    const { workflowId, slug } = await publish(stack, account);
    assert.equal(await copy(account, slug), workflowId);
  });

  it('are matched by name and kind when a file is imported, also those of tools', async () => {
    const [one, other] = [await bearer('same name and kind'), await header('a header')];
    const asking = agent('hello', {}, [{ endpoint_url: target.url, connection: other }], { label: 'ask' });
    const workflowId = await account.api.createWorkflow(projectId, row(calls(one, 'call'), asking));
    const file = (await account.api.get<Imported>(`/workflows/${workflowId}/export/`)).body;
    assert.deepEqual(namedIn(file), ['c1', undefined]);
    assert.ok(!JSON.stringify(file).includes('a-secret'));
    const there = await account.api.createProject();
    const mapped = await bearer('same name and kind', there);
    await bearer('a header', there);
    const imported = await importInto(there, file);
    assert.deepEqual(namedIn(imported), [mapped, undefined]);
    assert.ok(!JSON.stringify(imported.data).includes('"connection":"'));
    assert.deepEqual(imported.warnings, [
      { node: 'ask', message: 'Choose the connection that it uses: the file names "a header" (header).' },
    ]);
  });

  it('with the same name and different kinds are distinguished by an import', async () => {
    const id = await bearer('one name');
    const connections = [
      { ref: 'a', name: 'one name', kind: 'bearer', origins: [] },
      { ref: 'b', name: 'one name', kind: 'header', origins: [] },
    ];
    const imported = await importInto(projectId, {
      format: 'workflow-automation/1',
      title: 'two kinds',
      data: row(calls('a', 'first'), calls('b', 'second')),
      connections,
    });
    assert.deepEqual(namedIn(imported), [id, undefined]);
    assert.deepEqual(
      imported.warnings.map(({ node }) => node),
      ['second'],
    );
  });

  for (const [what, named, connections] of [
    ['an unknown ref', 'c9', [{ ref: 'c1', name: 'x', kind: 'bearer' }]],
    ['an id, which is that of another project', 1, []],
    ['an object', { id: 1 }, []],
    ['a list that is none', 'c1', 'c1'],
    ['entries of any shape', 'c1', [null, 1, { ref: 'c1', name: 5, kind: 'bearer' }, { ref: ['c1'] }]],
    ['no list', 'c1', undefined],
  ] as const) {
    it(`are left out of an import, with a warning: a file with ${what}`, async () => {
      const imported = await importInto(projectId, {
        format: 'workflow-automation/1',
        title: what,
        data: row(calls(named, 'call')),
        connections,
      });
      assert.deepEqual(namedIn(imported), [undefined]);
      assert.deepEqual(imported.warnings, [{ node: 'call', message: 'Choose the connection that it uses.' }]);
    });
  }

  it('that were deleted are in no exported file', async () => {
    const id = await bearer('deleted later');
    const workflowId = await account.api.createWorkflow(projectId, row(calls(id, 'call')));
    await account.api.delete(`/projects/${projectId}/connections/${id}/?force=true`);
    const file = await account.api.get<{ data: unknown; connections: object[] }>(`/workflows/${workflowId}/export/`);
    assert.deepEqual([file.body.connections, namedIn(file.body)], [[], [undefined]]);
  });
});
