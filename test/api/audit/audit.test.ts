// Records of changes and refusals in the audit log (docs/operate/audit.md).
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { routes } from '../../../api/app.js';
import type { RouteDeclaration } from '../../../api/http/route.js';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createFileClient } from '../../support/upload.js';
import { changeUser, createAccount, giveRole, restrictedTo, sessionOf, type Account } from '../accounts.js';
import type { Page } from '../bodies.js';
import { Browser, createPerson } from '../sessions/people.js';

interface AuditRecord {
  id: number;
  at: string;
  project: number | null;
  action: string;
  outcome: string;
  actor: { id: number; name: string } | null;
  via: string;
  key_id: number | null;
  address: string | null;
  target: { type: string; id: number | string; name: string } | null;
  changes: Record<string, [unknown, unknown]>;
  count: number;
  hash: string | null;
}

/**
 * Routes of which only refused requests are recorded, with the words that name each in docs/operate/audit.md, "What is
 * recorded".
 */
const LEFT_OUT: Record<string, string> = {
  'POST /api/v1/workflows/:id/run/': 'starts of runs',
  'POST /api/v1/workflows/:id/history/:run_id/re-run/': 'starts of runs',
  'POST /api/v1/workflows/:id/history/:run_id/resume/': 'resumed runs',
  'POST /api/v1/workflows/:id/test/': 'tests',
  'POST /api/v1/workflows/:id/cases/run/': 'runs of cases',
  'POST /api/v1/conversations/:conversation_id/messages/': 'messages of conversations',
  'POST /api/v1/hooks/:token/': 'deliveries of hooks',
  'POST /mcp/': 'tool calls of MCP clients',
  'POST /mcp/build/': 'tool calls of MCP clients',
  'POST /v1/chat/completions/': 'model calls of the chat proxy',
  'POST /api/v1/workflows/:id/estimate/': 'estimates',
  'POST /api/v1/workflows/:id/check_workflow/': 'checks of drawings',
  'PUT /api/v1/workflows/:id/draft/': 'drafts',
  // Its refusals are recorded as `run.started`, like those of the messages, which start runs.
  'PUT /api/v1/workflows/:id/assistant/': 'the model of the assistant in the editor',
  'DELETE /api/v1/workflows/:id/draft/': 'drafts',
  'POST /api/v1/workflows/mcp-tools/': 'lists of MCP tools',
  'POST /api/v1/projects/:id/connections/:connection_id/authorize/': 'the start of a sign-in for a connection',
  'POST /api/v1/workflows/execution-update/:workflow_run_id/': 'reports of executors',
  'POST /api/v1/all-workflows/:id/add-bookmark/': 'bookmarks',
  'DELETE /api/v1/all-workflows/:id/delete-bookmark/': 'bookmarks',
  'POST /api/v1/auth/refresh/': 'refreshes of sessions',
};

describe('docs/operate/audit.md', () => {
  it('names all requests of which only refusals are recorded', async () => {
    const document = await readFile(new URL('../../../docs/operate/audit.md', import.meta.url), 'utf8');
    const sentence = /^The following requests are recorded only if they are refused: .*$/m.exec(document)?.[0] ?? '';
    for (const [route, words] of Object.entries(LEFT_OUT)) assert.ok(sentence.includes(words), route);
  });
});

describe('the audit log', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let owner: Account;
  let administrator: ApiClient;

  before(async () => {
    stack = await sharedStack();
    owner = await createAccount(stack);
    const account = await createAccount(stack);
    await changeUser(stack, account, { is_admin: true });
    administrator = await sessionOf(stack, account);
  });

  async function recordsOf(projectId: number, query = ''): Promise<AuditRecord[]> {
    const { status, body } = await owner.api.get<Page<AuditRecord>>(`/projects/${projectId}/audit/?size=100${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.items;
  }

  async function newestOf(projectId: number): Promise<AuditRecord> {
    const [newest] = await recordsOf(projectId);
    assert.ok(newest !== undefined);
    return newest;
  }

  async function recordsBy(userId: number): Promise<AuditRecord[]> {
    return (await administrator.get<Page<AuditRecord>>(`/audit/?size=100&user=${userId}`)).body.items;
  }

  const told = ({ action, outcome, via, changes }: AuditRecord): unknown => ({ action, outcome, via, changes });

  it('records who made a change, how and from where, and the target with its values before and after', async () => {
    const project = await owner.api.createProject('Before');
    await owner.api.patch(`/projects/${project}/`, { body: { name: 'After' } });
    const [changed, created] = await recordsOf(project);
    assert.ok(changed !== undefined && created !== undefined);
    const { id, at, hash: _, ...rest } = changed;
    assert.ok(id > created.id);
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    assert.deepEqual(rest, {
      project,
      action: 'project.changed',
      outcome: 'success',
      actor: { id: owner.userId, name: 'test user' },
      via: 'key',
      client: null,
      key_id: owner.keyId,
      address: '127.0.0.1',
      target: { type: 'project', id: project, name: 'After' },
      changes: { name: ['Before', 'After'] },
      count: 1,
    });
    assert.deepEqual(told(created), {
      action: 'project.created',
      outcome: 'success',
      via: 'key',
      changes: { name: [null, 'Before'], is_webhook_enabled: [null, false] },
    });
  });

  it('records the versions of a changed drawing, also if only its layout has changed', async () => {
    const project = await owner.api.createProject();
    const data = chain(2);
    const workflow = await owner.api.createWorkflow(project, data, 'Drawn');
    const other = await owner.api.patch(`/workflows/${workflow}/`, { body: { data: chain(3) } });
    assert.equal(other.status, 200);
    assert.deepEqual((await newestOf(project)).changes, { data: [1, 2] });
    const { body } = await owner.api.get<{ data: { nodes: Record<string, unknown>[] } }>(`/workflows/${workflow}/`);
    for (const drawn of body.data.nodes) drawn['position'] = { x: 7, y: 7 };
    await owner.api.patch(`/workflows/${workflow}/`, { body: { title: 'Moved', data: body.data } });
    assert.deepEqual(told(await newestOf(project)), {
      action: 'workflow.changed',
      outcome: 'success',
      via: 'key',
      changes: { title: ['Drawn', 'Moved'], data: [2, 2] },
    });
    await owner.api.delete(`/workflows/${workflow}/`);
    const deleted = await newestOf(project);
    assert.deepEqual(
      [deleted.action, deleted.target?.name, deleted.changes['title']],
      ['workflow.deleted', 'Moved', ['Moved', null]],
    );
  });

  it('records that a secret was changed, without its value', async () => {
    const project = await owner.api.createProject();
    const key = `sk-${randomUUID()}`;
    await owner.api.post(`/projects/${project}/provider-keys/`, { body: { provider: 'fake', key } });
    assert.deepEqual((await newestOf(project)).changes['key'], [null, '********']);
    await owner.api.patch(`/projects/${project}/`, {
      body: { webhook_url: 'http://127.0.0.1:9/x', is_webhook_enabled: true },
    });
    assert.deepEqual((await newestOf(project)).changes['webhook_secret'], [null, '********']);
    const renewed = await owner.api.post<{ webhook_secret: string }>(`/projects/${project}/webhook-secret/`);
    const newest = await newestOf(project);
    assert.deepEqual(told(newest), {
      action: 'webhook_secret.renewed',
      outcome: 'success',
      via: 'key',
      changes: { webhook_secret: ['********', '********'] },
    });
    const rows = await queryDatabase<{ row: string }>(
      stack,
      'SELECT record::text AS row FROM audit_records AS record WHERE project_id = $1',
      [project],
    );
    const hidden = [key, key.slice(-4), renewed.body.webhook_secret];
    for (const { row } of rows) assert.ok(!hidden.some((secret) => row.includes(secret)), row);
  });

  it('stores a change and its record together: a change that is refused late leaves no success record', async () => {
    const project = await owner.api.createProject();
    const workflow = await owner.api.createWorkflow(project, chain(1));
    const before = (await recordsOf(project)).length;
    const { status } = await owner.api.patch(`/workflows/${workflow}/`, {
      body: { title: 'No', categories: [999_999] },
    });
    assert.equal(status, 400);
    assert.equal((await recordsOf(project)).length, before);
    // Conversely, there is no change without its record.
    await queryDatabase(
      stack,
      `CREATE FUNCTION refuse_${project}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no record'; END $$;
       CREATE TRIGGER refuse_${project} BEFORE INSERT ON audit_records FOR EACH ROW
         WHEN (NEW.project_id = ${project}) EXECUTE FUNCTION refuse_${project}()`,
    );
    try {
      for (const [path, body] of [
        [`/workflows/${workflow}/`, { title: 'Unrecorded' }],
        [`/projects/${project}/`, { name: 'Unrecorded' }],
      ] as const) {
        assert.equal((await owner.api.patch(path, { body })).status, 500);
        assert.ok(!JSON.stringify((await owner.api.get(path)).body).includes('Unrecorded'));
      }
      const schedule = { cron: '0 0 1 1 *' };
      assert.equal((await owner.api.post(`/workflows/${workflow}/schedules/`, { body: schedule })).status, 500);
      assert.equal((await owner.api.get<Page<object>>(`/workflows/${workflow}/schedules/`)).body.total, 0);
    } finally {
      await queryDatabase(stack, `DROP FUNCTION refuse_${project}() CASCADE`);
    }
  });

  it('records concurrent changes one by one: each begins with the value that the one before has left', async () => {
    const project = await owner.api.createProject('0');
    const names = Array.from({ length: 12 }, (_, index) => String(index + 1));
    await Promise.all(names.map((name) => owner.api.patch(`/projects/${project}/`, { body: { name } })));
    const changes = (await recordsOf(project, '&action=project.changed')).map(({ changes: { name } }) => name!);
    assert.deepEqual(new Set(changes.map(([, after]) => after)), new Set(names));
    assert.equal(changes.length, names.length);
    // Each value except the last one is the old value of exactly one change.
    assert.deepEqual(new Set(changes.map(([before]) => before)).size, names.length);
  });

  it('records refusals with any status, but none for objects that do not exist', async () => {
    const project = await owner.api.createProject();
    const workflow = await owner.api.createWorkflow(project, chain(1), 'Secret plans');
    const [viewer, stranger] = [await createAccount(stack), await createAccount(stack)];
    await giveRole(stack, viewer, project, 'viewer');
    const statuses = [
      await viewer.api.patch(`/workflows/${workflow}/`, { body: { title: 'Mine' } }),
      await viewer.api.post(`/workflows/${workflow}/duplicate/`),
      await stranger.api.delete(`/workflows/${workflow}/`),
      await stranger.api.post('/workflows/', { body: { project, title: 'x', data: chain(1) } }),
      await viewer.api.post(`/projects/${project}/members/`, { body: { user_id: stranger.userId, role: 'viewer' } }),
    ].map(({ status }) => status);
    assert.deepEqual(statuses, [403, 400, 404, 400, 403]);
    const refused = (await recordsOf(project)).filter(({ outcome }) => outcome === 'refused').toReversed();
    assert.deepEqual(
      refused.map(({ action, actor, target }) => [action, actor?.id, target?.type, target?.id]),
      [
        ['workflow.changed', viewer.userId, 'workflow', workflow],
        ['workflow.duplicated', viewer.userId, 'workflow', workflow],
        ['workflow.deleted', stranger.userId, 'workflow', workflow],
        ['workflow.created', stranger.userId, 'project', project],
        ['member.added', viewer.userId, 'project', project],
      ],
    );
    await stranger.api.delete('/workflows/2147483647/');
    await owner.api.delete(`/projects/${project}/provider-keys/2147483647/`);
    assert.equal((await recordsBy(stranger.userId)).length, 2);
    assert.equal((await recordsOf(project)).filter(({ outcome }) => outcome === 'refused').length, 5);
  });

  it('records the user of a sign-in, even of a refused one, and nothing that was typed', async () => {
    const person = await createPerson(stack);
    const browser = new Browser(stack.apiUrl);
    const typed = `typed ${randomUUID()}`;
    await browser.logIn({ email: person.email, password: typed });
    await browser.logIn({ email: typed, password: typed });
    await browser.logIn(person);
    const [succeeded, refused] = await recordsBy(person.userId);
    const target = { type: 'user', id: person.userId, name: 'Ada' };
    assert.deepEqual(
      [succeeded, refused].map((record) => [record?.action, record?.outcome, record?.via, record?.actor?.id]),
      [
        ['login.succeeded', 'success', 'session', person.userId],
        ['login.refused', 'refused', 'session', person.userId],
      ],
    );
    assert.deepEqual([succeeded?.target, refused?.target, succeeded?.project], [target, target, null]);
    const rows = await queryDatabase(stack, 'SELECT FROM audit_records AS record WHERE record::text LIKE $1', [
      `%${typed}%`,
    ]);
    assert.equal(rows.length, 0);
    await browser.logOut();
    assert.equal((await recordsBy(person.userId))[0]?.action, 'session.ended');
  });

  it('keeps the records of a key that is restricted to a project in that project', async () => {
    const project = await owner.api.createProject();
    const session = await sessionOf(stack, owner);
    const made = await session.post<{ id: number; api_key: string }>('/api-keys/', { body: { label: 'ci', project } });
    assert.equal(made.status, 201);
    const created = await newestOf(project);
    assert.deepEqual(
      [created.action, created.via, created.target],
      ['key.created', 'session', { type: 'key', id: made.body.id, name: 'ci' }],
    );
    assert.ok(!JSON.stringify(created).includes(made.body.api_key.slice(-4)));
    await session.delete(`/api-keys/${made.body.id}/`);
    assert.equal((await newestOf(project)).action, 'key.deleted');
  });

  it('names the refused users of keys without API access and of keys of another project', async () => {
    const [one, other] = [await owner.api.createProject(), await owner.api.createProject()];
    const bound = await restrictedTo(stack, one, owner);
    const { status } = await bound.api.patch(`/projects/${other}/`, { body: { name: 'x' } });
    assert.ok(status === 403 || status === 404, String(status));
    const refused = await newestOf(other);
    assert.deepEqual([refused.action, refused.outcome, refused.key_id], ['project.changed', 'refused', bound.keyId]);
    const barred = await createAccount(stack);
    await changeUser(stack, barred, { api_access: false });
    assert.equal((await barred.api.patch(`/projects/${one}/`, { body: { name: 'x' } })).status, 403);
    const record = await newestOf(one);
    assert.deepEqual([record.outcome, record.actor?.id, record.key_id], ['refused', barred.userId, barred.keyId]);
  });

  it('counts the refusals of one address and target above 60 a minute in one record', async () => {
    const project = await owner.api.createProject();
    const viewer = await createAccount(stack);
    await giveRole(stack, viewer, project, 'viewer');
    // If the requests cross the end of a minute, the limit applies to each minute, and one of them has at least 75.
    const attempts = Array.from({ length: 150 }, () =>
      viewer.api.patch(`/projects/${project}/`, { body: { name: 'x' } }),
    );
    const statuses = new Set((await Promise.all(attempts)).map(({ status }) => status));
    assert.deepEqual([...statuses], [403]);
    await queryDatabase(stack, `UPDATE audit_refusals SET minute = minute - interval '5 minutes' WHERE count > 60`);
    const text = "SELECT count FROM audit_records WHERE project_id = $1 AND outcome = 'refused'";
    const records = await eventually(async () => {
      const rows = await queryDatabase<{ count: number }>(stack, text, [project]);
      return rows.reduce((sum, { count }) => sum + count, 0) === attempts.length && rows;
    });
    assert.ok(records.length <= 2 * 61, `${records.length} records`);
    const [newest] = await recordsOf(project, '&action=project.changed');
    assert.ok(newest!.count >= 75 - 60, `the newest counts ${newest!.count}`);
    assert.deepEqual([newest!.outcome, newest!.actor?.id], ['refused', viewer.userId]);
  });

  it('records how a refused delivery of a hook or a cancellation was sent, and records no run starts', async () => {
    const project = await owner.api.createProject();
    const data = drawing(linkInRow([trigger(), node('wait', { mode: 'callback' })]));
    const workflow = await owner.api.createWorkflow(project, data);
    const hook = await owner.api.post<{ url: string }>(`/workflows/${workflow}/hooks/`, {
      body: { verify: 'hmac-sha256' },
    });
    const refusedDelivery = await fetch(hook.body.url, { method: 'POST', body: '{}' });
    assert.equal(refusedDelivery.status, 401);
    const byHook = await newestOf(project);
    assert.deepEqual(
      [byHook.action, byHook.outcome, byHook.via, byHook.actor],
      ['hook.refused', 'refused', 'hook', null],
    );
    const before = (await recordsOf(project)).length;
    const started = await owner.api.run(workflow);
    assert.equal(started.status, 201, JSON.stringify(started));
    assert.equal((await recordsOf(project)).length, before);
    const cancelled = await owner.api.post(`/workflows/${workflow}/history/${started.data.id}/cancel/`);
    assert.equal(cancelled.status, 200);
    const record = await newestOf(project);
    assert.deepEqual([record.action, record.via, record.target?.id], ['run.cancelled', 'key', started.data.id]);
    await owner.api.pollToEnd(started.data.id);
    assert.equal((await recordsOf(project, '&action=run.cancelled')).length, 1);
  });

  it('is readable for owners and admins of the project, and for administrators over all projects', async () => {
    const project = await owner.api.createProject();
    const editor = await createAccount(stack);
    await giveRole(stack, editor, project, 'editor');
    assert.equal((await editor.api.get(`/projects/${project}/audit/`)).status, 403);
    const admin = await createAccount(stack);
    await giveRole(stack, admin, project, 'admin');
    for (const reader of [owner, admin]) {
      const { status, body } = await reader.api.get<Page<AuditRecord>>(`/projects/${project}/audit/`);
      assert.deepEqual([status, body.items.at(-1)?.action], [200, 'project.created']);
      assert.equal((await reader.api.get('/audit/')).status, 403);
    }
    const { body } = await administrator.get<Page<AuditRecord>>(`/audit/?user=${owner.userId}&size=1`);
    assert.equal(body.items[0]?.project, project);
  });

  it('filters by action, user and time, and refuses invalid values', async () => {
    const project = await owner.api.createProject();
    await owner.api.patch(`/projects/${project}/`, { body: { name: 'x' } });
    const today = new Date().toISOString().slice(0, 10);
    const count = async (query: string): Promise<number> => (await recordsOf(project, query)).length;
    assert.equal(await count('&action=project.created'), 1);
    assert.equal(await count(`&user=${owner.userId}`), 2);
    assert.equal(await count('&user=1'), 0);
    assert.equal(await count(`&from=${today}&to=${today}`), 2);
    assert.equal(await count('&to=2020-01-01'), 0);
    const [changed] = await recordsOf(project, '&action=project.changed');
    const at = encodeURIComponent(changed!.at);
    assert.equal(await count(`&to=${at}`), 1);
    for (const query of ['action=project.painted', 'from=yesterday', 'to=2026-02-30', 'user=x', 'page=0']) {
      const { status, body } = await owner.api.get<object>(`/projects/${project}/audit/?${query}`);
      assert.deepEqual([status, Object.keys(body)], [400, [query.split('=')[0]]], query);
    }
  });

  it('chains each record to the one before it within ten seconds of its commit', async () => {
    const project = await owner.api.createProject();
    for (const name of ['a', 'b', 'c']) await owner.api.patch(`/projects/${project}/`, { body: { name } });
    const committedAt = performance.now();
    const records = await eventually(async () => {
      const now = await recordsOf(project);
      return now.every(({ hash }) => hash !== null) && now;
    });
    // The next round chains them, after two seconds at most; a busy machine gets ten times as long.
    assert.ok(performance.now() - committedAt < 20_000);
    assert.equal(new Set(records.map(({ hash }) => hash)).size, 4);
    const [head] = await queryDatabase<{ entries: string; last_hash: Buffer }>(
      stack,
      'SELECT entries, last_hash FROM audit_chains WHERE project_id = $1',
      [project],
    );
    assert.deepEqual([Number(head?.entries), head?.last_hash.toString('hex')], [4, records[0]?.hash]);
    assert.equal(records[0]?.hash?.length, createHash('sha256').digest('hex').length);
  });

  it('allows neither changes nor deletions of its records, even by SQL', async () => {
    const project = await owner.api.createProject();
    const { id } = await newestOf(project);
    await eventually(async () => (await newestOf(project)).hash !== null);
    for (const text of [
      `UPDATE audit_records SET actor_name = 'Somebody else' WHERE id = $1`,
      'UPDATE audit_records SET position = NULL, hash = NULL WHERE id = $1',
      `UPDATE audit_records SET hash = '\\x00' WHERE id = $1`,
      'DELETE FROM audit_records WHERE id = $1',
    ]) {
      await assert.rejects(queryDatabase(stack, text, [id]), /never changed/, text);
    }
  });

  it('records the changes of all routes that are not in LEFT_OUT, and the refusals of all routes', () => {
    const changing = routes.filter(({ method, audit }) => method !== 'GET' || audit !== undefined);
    const nameOf = ({ method, path }: RouteDeclaration): string => `${method} ${path}`;
    assert.deepEqual(changing.filter(({ audit }) => audit === undefined).map(nameOf), []);
    assert.deepEqual(
      changing
        .filter(({ audit }) => audit!.records === 'refusals')
        .map(nameOf)
        .toSorted(),
      Object.keys(LEFT_OUT).toSorted(),
    );
  });

  it('records changes of cases, pins, files, links and conversations, without their contents', async () => {
    const project = await owner.api.createProject();
    const secret = 'a-secret-nobody-tells';
    const data = drawing(linkInRow([trigger([{ id: 'token', is_secret: true }]), node('set', { value: '1' })]));
    const workflow = await owner.api.createWorkflow(project, data);
    await owner.api.patch(`/workflows/${workflow}/`, { body: { is_chat: true } });
    const at = `/workflows/${workflow}`;
    const before = (await recordsOf(project)).length;
    const made = await owner.api.post<{ id: number }>(`${at}/cases/`, {
      body: { name: 'one', input: { token: secret } },
    });
    await owner.api.patch(`${at}/cases/${made.body.id}/`, { body: { name: 'two', input: { token: `${secret}!` } } });
    const begun = await owner.api.post<{ id: string }>(`${at}/cases/run/`, { body: { case_ids: [] } });
    await owner.api.post(`${at}/case-runs/${begun.body.id}/cancel/`);
    await owner.api.delete(`${at}/cases/${made.body.id}/`);
    const [first] = data.nodes;
    for (const content of [secret, `${secret}!`]) {
      await owner.api.put(`${at}/pins/${first!.id}/`, { body: { result: { content } } });
    }
    await owner.api.delete(`${at}/pins/${first!.id}/`);
    const file = await createFileClient({ apiUrl: stack.apiUrl, apiKey: owner.apiKey }).upload(project, secret);
    await owner.api.post(`/files/${file.file_id}/link/`, { body: {} });
    const chat = await owner.api.post<{ id: string }>(`${at}/conversations/`, { body: { title: 'Talk' } });
    await owner.api.patch(`/conversations/${chat.body.id}/`, { body: { title: 'Talks' } });
    const records = (await recordsOf(project)).slice(0, -before).toReversed();
    const hidden = ['********', '********'];
    assert.deepEqual(
      records.map(({ action, target, changes }) => [action, target?.type, target?.id, changes]),
      [
        [
          'case.created',
          'case',
          made.body.id,
          {
            name: [null, 'one'],
            required: [null, false],
            workflow: [null, workflow],
            content: [null, '********'],
          },
        ],
        ['case.changed', 'case', made.body.id, { name: ['one', 'two'], content: hidden }],
        [
          'case.deleted',
          'case',
          made.body.id,
          { name: ['two', null], required: [false, null], workflow: [workflow, null], content: ['********', null] },
        ],
        [
          'pin.changed',
          'pin',
          first!.id,
          { node: [null, first!.id], paths: [null, ['']], workflow: [null, workflow], outcome: [null, '********'] },
        ],
        ['pin.changed', 'pin', first!.id, { outcome: hidden }],
        [
          'pin.deleted',
          'pin',
          first!.id,
          { node: [first!.id, null], paths: [[''], null], workflow: [workflow, null], outcome: ['********', null] },
        ],
        [
          'file.uploaded',
          'file',
          file.file_id,
          { name: [null, 'a.txt'], size: [null, secret.length], type: [null, 'text/plain'] },
        ],
        ['file_link.created', 'file', file.file_id, {}],
        [
          'conversation.created',
          'conversation',
          chat.body.id,
          { title: [null, 'Talk'], workflow: [null, workflow], author: [null, owner.userId] },
        ],
        ['conversation.changed', 'conversation', chat.body.id, { title: ['Talk', 'Talks'] }],
      ],
    );
    assert.ok(!JSON.stringify(records).includes(secret));
  });

  it('records refused starts of runs by the routes of workflows, messages and chat completions', async () => {
    const project = await owner.api.createProject();
    const data = chain(1);
    const workflow = await owner.api.createWorkflow(project, data, 'Secret plans');
    const { data: run } = await owner.api.run(workflow);
    await owner.api.patch(`/workflows/${workflow}/`, { body: { is_chat: true } });
    const chat = await owner.api.post<{ id: string }>(`/workflows/${workflow}/conversations/`, { body: {} });
    const viewer = await createAccount(stack);
    await giveRole(stack, viewer, project, 'viewer');
    const stranger = await createAccount(stack);
    const at = `/workflows/${workflow}`;
    const tried = { mode: 'from', node: data.start_node };
    const asked: [string, object, string][] = [
      [`${at}/run/`, {}, 'run.started'],
      [`${at}/history/${run.id}/re-run/`, {}, 'run.started'],
      [`${at}/history/${run.id}/resume/`, {}, 'run.started'],
      [`${at}/test/`, tried, 'run.started'],
      [`${at}/cases/run/`, {}, 'run.started'],
      [`${at}/estimate/`, tried, 'workflow.estimated'],
      [`${at}/check_workflow/`, { drawing: data }, 'workflow.checked'],
      [`/conversations/${chat.body.id}/messages/`, { content: 'hello' }, 'run.started'],
    ];
    for (const account of [viewer, stranger]) {
      const before = await recordsOf(project, `&user=${account.userId}`);
      for (const [path, body] of asked) {
        assert.ok([400, 403, 404].includes((await account.api.post(path, { body })).status), path);
      }
      const completion = { model: `workflow:${workflow}`, messages: [{ role: 'user', content: 'hello' }] };
      const refused = await fetch(`${stack.apiUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(completion),
      });
      assert.equal(refused.status, 404);
      const records = (await recordsOf(project, `&user=${account.userId}`)).slice(0, -before.length || undefined);
      assert.deepEqual(
        records.toReversed().map(({ action, outcome }) => [action, outcome]),
        [...asked.map(([, , action]) => [action, 'refused']), ['chat.called', 'refused']],
      );
    }
    const reader = await owner.api.run(workflow);
    assert.equal(reader.status, 201);
    assert.equal((await recordsOf(project, '&action=run.started')).length, 12, 'starts that are taken leave none');
  });

  it('lists its actions in the OpenAPI document', async () => {
    const document = await (await fetch(`${stack.apiUrl}/api/v1/openapi.json`)).text();
    for (const action of ['member.added', 'key.created', 'workflow.changed', 'run.cancelled', 'login.refused']) {
      assert.ok(document.includes(`"${action}"`), action);
    }
  });

  it('needs a session or key: a request without credentials gets 401', async () => {
    assert.equal((await createApiClient(stack.apiUrl).get('/audit/')).status, 401);
  });
});
