import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { findDraft, lockDraft, storeDraft } from '../../../db/workflows/drafts-repository.js';
import type { ApiAnswer, ApiClient, Envelope } from '../../../harness/client/api-client.js';
import { agent, drawing, http, link, trigger, type Drawing } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { eventually } from '../../../harness/timing/eventually.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { queryDatabase, tablesWith } from '../../support/inspect.js';
import { openRetention } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import { assertBytesRight } from '../../support/stored-bytes.js';
import { createFileClient } from '../../support/upload.js';
import { createAccount, giveRole, removeMembership, restrictedTo, sessionOf, type Account } from '../accounts.js';
import { connect } from '../../db/open-run.js';
import { NOT_FOUND, type Detail, type FieldErrors, type Page, type Workflow } from '../bodies.js';

const MASK = '********';

interface Draft {
  data: Drawing;
  base_version: number;
  updated_at: string;
}

describe('drafts', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let session: ApiClient;
  let project: number;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ api } = account);
    session = await sessionOf(stack, account);
    project = await api.createProject();
    target = await startHttpTarget();
  });
  after(() => target.close());

  /** A drawing that calls the target. With `authorization`, the call has this header, which is a secret. */
  const draw = (authorization?: string): Drawing & { call: string } => {
    const [start, call] = [trigger([{ id: 'name', type: 'text' }]), http(`${target.url}/echo`)];
    if (authorization !== undefined) call.data['headers'] = { Authorization: authorization };
    link(start, call);
    return Object.assign(drawing([start, call]), { call: call.id });
  };
  const withHeader = (data: Drawing, authorization: string): Drawing => {
    const changed = structuredClone(data);
    changed.nodes[1]!.data['headers'] = { Authorization: authorization };
    return changed;
  };
  const at = (id: number): string => `/workflows/${id}/draft/`;
  const read = (id: number, client = api): Promise<ApiAnswer<Draft>> => client.get<Draft>(at(id));
  const put = <T = Draft>(id: number, data: object, headers = {}, client = api): Promise<ApiAnswer<T>> =>
    client.put<T>(at(id), { body: { data, base_version: 1 }, headers });
  const save = <T = Workflow>(client: ApiClient, id: number, body: object): Promise<ApiAnswer<T>> =>
    client.patch<T>(`/workflows/${id}/`, { body });
  const sentLast = (): unknown => target.requests.at(-1)?.headers['authorization'];
  const sentByRun = async (id: number): Promise<unknown> => {
    await api.pollToEnd((await api.run(id)).data.id);
    return sentLast();
  };

  it('one for each user and workflow: kept, read by that user alone, replaced and removed, and the workflow stays', async () => {
    const other = await createAccount(stack);
    await giveRole(stack, other, project, 'owner');
    const [data, id] = [draw(), await api.createWorkflow(project, draw())];
    const workflow = (await api.get<Workflow>(`/workflows/${id}/`)).body;
    for (const answer of [await read(id), await api.delete(at(id))]) {
      assert.deepEqual([answer.status, answer.body], [404, NOT_FOUND]);
    }
    const kept = await put(id, data);
    assert.equal(kept.status, 200);
    const stored = JSON.parse(JSON.stringify(data)) as Drawing;
    const expected = { data: stored, base_version: 1, updated_at: '', assistant_run: null };
    assert.deepEqual({ ...kept.body, updated_at: '' }, expected);
    assert.ok(Math.abs(Date.parse(kept.body.updated_at) - Date.now()) < 600_000);
    for (const client of [api, session]) {
      const found = await read(id, client);
      assert.deepEqual([found.status, found.body], [200, kept.body]);
      assert.equal(found.headers.get('etag'), kept.headers.get('etag'));
    }
    assert.equal((await read(id, other.api)).status, 404, 'an owner of the project');
    assert.equal((await other.api.delete(at(id))).status, 404);
    assert.equal((await read(await api.createWorkflow(project, draw()))).status, 404);
    await put(id, { note: 'of another' }, {}, other.api);
    assert.deepEqual((await read(id)).body, kept.body);
    assert.deepEqual((await put(id, { nodes: [] })).body.data, { nodes: [] });
    assert.deepEqual((await api.get<Workflow>(`/workflows/${id}/`)).body, workflow);
    assert.equal((await api.delete(at(id))).status, 204);
    assert.equal((await read(id)).status, 404);
    assert.equal((await read(id, other.api)).status, 200);
  });

  it('an editor who becomes a viewer gets a 403 by every method; only refusals are recorded', async () => {
    const viewer = await createAccount(stack);
    await giveRole(stack, viewer, project, 'editor');
    const id = await api.createWorkflow(project, draw());
    assert.equal((await put(id, {}, {}, viewer.api)).status, 200);
    await giveRole(stack, viewer, project, 'viewer');
    const answers = [await read(id, viewer.api), await put(id, {}, {}, viewer.api), await viewer.api.delete(at(id))];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [403, 403, 403],
    );
    const path = `/projects/${project}/audit/?user=${viewer.userId}`;
    const { body } = await api.get<Page<{ action: string; outcome: string }>>(path);
    assert.deepEqual(
      body.items.map(({ action, outcome }) => [action, outcome]),
      [
        ['workflow.drafted', 'refused'],
        ['workflow.drafted', 'refused'],
      ],
    );
  });

  it('secrets are sealed: in no answer and no row, sent by a run once the draft is saved with from_draft', async () => {
    const secret = canary();
    const data = draw(`Bearer ${secret}`);
    const id = await api.createWorkflow(project, draw());
    const answers = [await put(id, data), await read(id)];
    for (const { body } of answers) assert.deepEqual(body.data, withHeader(data, MASK));
    assert.deepEqual(await tablesWith(stack, ['workflow_drafts', 'audit_records'], [secret]), []);
    const body = { data: withHeader(data, MASK), from_draft: true };
    const saved = await save(api, id, body);
    assert.deepEqual([saved.status, saved.body.data], [200, withHeader(data, MASK)]);
    assert.equal(await sentByRun(id), `Bearer ${secret}`);
    assert.equal((await read(id)).status, 404, 'the save ends the draft');
    assert.ok(!stack.logs().includes(secret));
    const again = await save<FieldErrors>(api, id, body);
    assert.deepEqual([again.status, again.body], [400, { from_draft: ['You have no draft of this workflow.'] }]);
  });

  it('******** of a draft keeps what the draft has, else means what is stored when it is saved', async () => {
    const [stored, typed] = [canary(), canary()];
    const data = draw(stored);
    const id = await api.createWorkflow(project, data);
    await put(id, withHeader(data, MASK));
    const later = canary();
    await save(api, id, { data: withHeader(data, later) });
    await save(api, id, { data: withHeader(data, MASK), from_draft: true });
    assert.equal(await sentByRun(id), later);
    await put(id, withHeader(data, typed));
    await put(id, withHeader(data, MASK));
    assert.equal((await save(api, id, { data: withHeader(data, MASK), from_draft: true })).status, 200);
    assert.equal(await sentByRun(id), typed, "the draft's value comes first");
  });

  it('a value of the draft goes to the origin that it was typed for, and to no other', async () => {
    const data = draw();
    const id = await api.createWorkflow(project, data);
    const secret = canary();
    await put(id, withHeader(data, secret));
    const moved = withHeader(data, MASK);
    moved.nodes[1]!.data['url'] = 'http://other.example/echo';
    const draft = await put(id, moved);
    assert.equal(draft.status, 200);
    assert.equal((await save(api, id, { data: withHeader(data, MASK), from_draft: true })).status, 200);
    const { body } = await api.get<{ warnings: { code: string }[] }>(`/workflows/${id}/check_workflow/`);
    assert.ok(body.warnings.some(({ code }) => code === 'lost_secret'));
  });

  it('a test takes the values of the draft with from_draft, and those of the workflow without', async () => {
    const [stored, typed] = [canary(), canary()];
    const data = draw(stored);
    const id = await api.createWorkflow(project, data);
    const masked = withHeader(data, MASK);
    const test = async (body: object) => {
      const tried = { mode: 'node', node: data.call, input: {}, drawing: masked, ...body };
      return await api.post<Envelope & FieldErrors>(`/workflows/${id}/test/`, { body: tried });
    };
    const sentBy = async (body: object): Promise<unknown> => {
      const { status, body: started } = await test(body);
      assert.equal(status, 201, JSON.stringify(started));
      await api.pollToEnd(started.data.id);
      return sentLast();
    };
    const without = await test({ from_draft: true });
    assert.deepEqual([without.status, without.body], [400, { from_draft: ['You have no draft of this workflow.'] }]);
    await put(id, withHeader(data, typed));
    assert.equal(await sentBy({}), stored);
    assert.equal(await sentBy({ from_draft: true }), typed);
    assert.equal(await sentBy({ from_draft: false }), stored);
    const nothing = await test({ from_draft: true, drawing: undefined });
    assert.deepEqual([nothing.status, nothing.body], [400, { drawing: ['This field is required with from_draft.'] }]);
    assert.equal((await read(id)).status, 200, 'a test leaves the draft');

    const codesOf = async (body: object): Promise<string[]> => {
      const checked = await api.post<{ warnings: { code: string }[] }>(`/workflows/${bare}/check_workflow/`, { body });
      assert.equal(checked.status, 200, JSON.stringify(checked.body));
      return checked.body.warnings.map(({ code }) => code);
    };
    const bare = await api.createWorkflow(project, draw());
    await put(bare, withHeader(data, typed));
    assert.ok((await codesOf({ drawing: masked })).includes('lost_secret'));
    assert.ok(!(await codesOf({ drawing: masked, from_draft: true })).includes('lost_secret'));

    const estimated = { mode: 'node', node: data.call, input: {}, drawing: masked, from_draft: true };
    assert.equal((await api.post(`/workflows/${id}/estimate/`, { body: estimated })).status, 200);
    await api.post(`/workflows/${id}/cases/`, { body: { name: 'case', mocks: {} } });
    const run = { drawing: masked, from_draft: true };
    const { body: started } = await api.post<{ id: string }>(`/workflows/${id}/cases/run/`, { body: run });
    await api.delete(at(id));
    const runs = `/workflows/${id}/case-runs/${started.id}/`;
    await eventually(async () => (await api.get<{ status: string }>(runs)).body.status !== 'in progress');
    assert.equal(sentLast(), typed, 'the cases have what the draft had when they were started');
  });

  it('a save by session ends the draft of that user, one by a key or without data leaves it', async () => {
    const other = await createAccount(stack);
    await giveRole(stack, other, project, 'editor');
    const data = draw();
    const id = await api.createWorkflow(project, data);
    const isThere = async (): Promise<boolean> => (await read(id)).status === 200;
    await put(id, { note: 'mine' });
    await put(id, { note: 'theirs' }, {}, other.api);
    await save(api, id, { data });
    assert.ok(await isThere(), 'by a key');
    await save(session, id, { title: 'Renamed' });
    assert.ok(await isThere(), 'without data');
    const stale = await session.patch(`/workflows/${id}/`, { body: { data }, headers: { 'if-match': '"0.0"' } });
    assert.deepEqual([stale.status, await isThere()], [412, true], 'refused');
    const refused = await save(session, id, { data, categories: [2147483647] });
    assert.deepEqual([refused.status, await isThere()], [400, true], 'refused later');
    assert.equal((await save<FieldErrors>(session, id, { from_draft: true })).status, 400);
    assert.ok(await isThere());
    assert.equal((await save(session, id, { data })).status, 200);
    assert.equal(await isThere(), false);
    assert.equal((await read(id, other.api)).status, 200);
  });

  it('a save by session that would lose values of the draft is a 400 that names each place; by a key it is none', async () => {
    const [start, call, agentNode] = [
      trigger([{ id: 'token', type: 'text', is_secret: true, default_value: 'stored' }]),
      http(`${target.url}/echo`),
      agent('hello', {}, [{ server_label: 'tools', endpoint_url: `${target.url}/mcp` }]),
    ];
    link(start, call);
    link(call, agentNode);
    const saved = drawing([start, call, agentNode]);
    const id = await api.createWorkflow(project, saved);
    const typed = structuredClone(saved);
    (typed.nodes[0]!.data['input_fields'] as object[]).push({ id: 'pin', is_secret: true, default_value: canary() });
    typed.nodes[1]!.data['headers'] = { Authorization: canary(), Accept: 'text/plain' };
    (typed.nodes[2]!.data['tools'] as Record<string, unknown>[])[0]!['headers'] = { 'X-Api-Key': canary() };
    const masked = (await put(id, typed)).body.data;
    const answer = await save<FieldErrors>(session, id, { data: masked });
    assert.equal(answer.status, 400);
    const places = [
      `field "pin" of the node "${start.id}" (input_fields.1.default_value)`,
      `header "Authorization" of the node "${call.id}" (headers.Authorization)`,
      `header "X-Api-Key" of the node "${agentNode.id}" (tools.0.headers.X-Api-Key)`,
    ];
    assert.deepEqual(answer.body, {
      data: places.map(
        (place) => `The ${place} has a value in your draft alone: send "from_draft": true, or enter the value.`,
      ),
    });
    assert.equal((await read(id)).status, 200);
    const others = await createAccount(stack);
    await giveRole(stack, others, project, 'editor');
    assert.equal((await save(await sessionOf(stack, others), id, { data: masked })).status, 200, 'has no draft');
    assert.equal((await save(api, id, { data: masked })).status, 200, 'by a key');
    assert.equal((await save(session, id, { data: masked, from_draft: true })).status, 200);
    const { body } = await api.get<{ warnings: { code: string }[] }>(`/workflows/${id}/check_workflow/`);
    assert.ok(!body.warnings.some(({ code }) => code === 'lost_secret'), 'nothing is lost');
  });

  it('a stale If-Match is a 412 and changes nothing, also when the draft is gone or was made anew', async () => {
    const id = await api.createWorkflow(project, draw());
    const none = await put<Detail>(id, { note: 'first' }, { 'if-match': '*' });
    assert.deepEqual([none.status, none.body.code], [412, 'precondition_failed']);
    const first = (await put(id, { note: 'first' })).headers.get('etag')!;
    const second = await put(id, { note: 'second' }, { 'if-match': first });
    assert.equal(second.status, 200);
    const tag = second.headers.get('etag')!;
    assert.notEqual(tag, first);
    assert.equal((await put(id, { note: 'third' }, { 'if-match': first })).status, 412);
    assert.equal((await api.delete(at(id), { headers: { 'if-match': first } })).status, 412);
    assert.deepEqual((await read(id)).body, second.body);
    const tries = Array.from({ length: 8 }, (_, n) => put(id, { note: `try ${n}` }, { 'if-match': tag }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    const count = (wanted: number): number => statuses.filter((status) => status === wanted).length;
    assert.deepEqual([count(200), count(412)], [1, 7]);
    const last = (await read(id)).headers.get('etag')!;
    assert.equal((await api.delete(at(id), { headers: { 'if-match': last } })).status, 204);
    assert.equal((await put(id, { note: 'again' }, { 'if-match': last })).status, 412, 'a late save of a gone draft');
    assert.equal((await put(id, { note: 'again' })).status, 200);
    assert.equal((await put(id, { note: 'again' }, { 'if-match': last })).status, 412);
    assert.equal((await put(id, {}, { 'if-match': 'no tag' })).status, 400);
  });

  it('of saves at once by one user none loses a value that the draft has', async () => {
    const data = draw();
    const id = await api.createWorkflow(project, data);
    const secret = canary();
    await put(id, withHeader(data, secret));
    const statuses = await Promise.all(Array.from({ length: 8 }, () => put(id, withHeader(data, MASK))));
    assert.ok(statuses.every(({ status }) => status === 200));
    await save(api, id, { data: withHeader(data, MASK), from_draft: true });
    assert.equal(await sentByRun(id), secret);
  });

  it('more than 1 MiB is a 413; what is no drawing, or begins with no version, a 400', async () => {
    const id = await api.createWorkflow(project, draw());
    const room = 1024 * 1024 - Buffer.byteLength(JSON.stringify({ note: '' }));
    assert.equal((await put(id, { note: 'x'.repeat(room) })).status, 200);
    const large = await put<Detail>(id, { note: 'x'.repeat(room + 1) });
    assert.deepEqual([large.status, large.body], [413, { detail: 'A draft has at most 1 MiB.', code: 'too_large' }]);
    const secret = await put(id, withHeader(draw(), 'x'.repeat(1024 * 1024)));
    assert.equal(secret.status, 413, 'secrets count');
    const wrong: [object, FieldErrors][] = [
      [{ base_version: 1 }, { data: ['This field is required.'] }],
      [{ data: [], base_version: 1 }, { data: ['Expected a JSON object.'] }],
      [{ data: null, base_version: 1 }, { data: ['This field may not be null.'] }],
      [{ data: {} }, { base_version: ['This field is required.'] }],
      [{ data: {}, base_version: '1' }, { base_version: ['A valid integer is required.'] }],
      [{ data: {}, base_version: 0 }, { base_version: ['A valid integer is required.'] }],
      [{ data: {}, base_version: 2 }, { base_version: ['The workflow has no such version.'] }],
    ];
    for (const [body, errors] of wrong) {
      const answer = await api.put(at(id), { body });
      assert.deepEqual([answer.status, answer.body], [400, errors]);
    }
    assert.equal((await read(id)).body.data.nodes, undefined, 'the first draft is still there');
    const elsewhere = await restrictedTo(stack, await api.createProject(), account);
    assert.equal((await read(id, elsewhere.api)).status, 403);
  });

  it('is gone with the membership, the workflow and the project, and counted in their bytes until then', async () => {
    const member = await createAccount(stack);
    const own = await api.createProject();
    await giveRole(stack, member, own, 'editor');
    const [one, two] = [await api.createWorkflow(own, draw()), await api.createWorkflow(own, draw())];
    const before = await assertBytesRight(stack, own);
    for (const id of [one, two]) {
      await put(id, draw('Bearer mine'));
      await put(id, draw('Bearer mine, and longer'));
      await put(id, draw('Bearer theirs'), {}, member.api);
    }
    assert.ok((await assertBytesRight(stack, own)) > before + 4 * 100);
    const drafts = () =>
      queryDatabase<{ workflow_id: number; user_id: number }>(
        stack,
        'SELECT workflow_id, user_id FROM workflow_drafts WHERE workflow_id = ANY ($1) ORDER BY 1, 2',
        [[one, two]],
      );
    const mine = (id: number) => ({ workflow_id: id, user_id: account.userId });
    await removeMembership(stack, member, own);
    assert.deepEqual(await drafts(), [mine(one), mine(two)]);
    await giveRole(stack, member, own, 'editor');
    assert.equal((await read(one, member.api)).status, 404, 'a member again');
    await put(two, {}, {}, member.api);
    assert.equal((await api.delete(`/projects/${own}/members/${member.userId}/`)).status, 204);
    await api.delete(`/workflows/${one}/`);
    assert.deepEqual(await drafts(), [mine(two)]);
    await api.delete(at(two));
    assert.equal(await assertBytesRight(stack, own), before);
    await put(two, {});
    await api.delete(`/projects/${own}/`);
    assert.deepEqual(await drafts(), []);
  });

  it('that is being stored while the membership or the workflow is deleted is deleted, too', async () => {
    const db = await connect(4);
    const isWaiting = async (statement: string): Promise<boolean> => {
      const text = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ILIKE $1`;
      return (await queryDatabase(stack, text, [statement])).length > 0;
    };
    /** Stores a draft in a transaction for which a statement of `end` waits. `waiting`: a pattern of that statement. */
    const storeDuring = async (id: number, userId: number, end: () => Promise<unknown>, waiting: string) => {
      let ended: Promise<unknown> | undefined;
      await db.transaction().execute(async (transaction) => {
        assert.ok(await lockDraft(transaction, { workflowId: id, userId }));
        ended = end();
        await eventually(() => isWaiting(waiting));
        const draft = { document: '{}', secretsEnc: null, baseVersion: 1, writtenBy: null };
        await storeDraft(transaction, { workflowId: id, userId, ...draft });
      });
      await ended;
      assert.equal(await findDraft(db, { workflowId: id, userId }), undefined);
      const again = db.transaction().execute((transaction) => lockDraft(transaction, { workflowId: id, userId }));
      assert.equal(await again, undefined);
    };
    try {
      const member = await createAccount(stack);
      await giveRole(stack, member, project, 'editor');
      const id = await api.createWorkflow(project, draw());
      const leave = () => removeMembership(stack, member, project);
      await storeDuring(id, member.userId, leave, '%delete from "project_members"%');
      await storeDuring(id, account.userId, () => api.delete(`/workflows/${id}/`), '%update "workflows"%archived_at%');
    } finally {
      await db.destroy();
    }
  });

  it('is gone after 30 days, also before retention deletes it, and a new draft takes no secret of it', async () => {
    const data = draw();
    const [id, other] = [await api.createWorkflow(project, data), await api.createWorkflow(project, data)];
    const age = (workflow: number, days: number) =>
      queryDatabase(
        stack,
        'UPDATE workflow_drafts SET updated_at = now() - make_interval(hours => 24 * $2) WHERE workflow_id = $1',
        [workflow, days],
      );
    await put(id, withHeader(data, canary()));
    await age(id, 29);
    assert.equal((await read(id)).status, 200);
    await age(id, 31);
    assert.equal((await read(id)).status, 404);
    assert.equal((await save(api, id, { data, from_draft: true })).status, 400);
    await put(id, withHeader(data, MASK));
    const [row] = await queryDatabase(stack, 'SELECT secrets_enc FROM workflow_drafts WHERE workflow_id = $1', [id]);
    assert.deepEqual(row, { secrets_enc: null });
    await put(other, data);
    await age(other, 31);
    const retention = openRetention(stack);
    try {
      await retention.round();
    } finally {
      await retention.close();
    }
    const left = 'SELECT workflow_id FROM workflow_drafts WHERE workflow_id = ANY ($1)';
    assert.deepEqual(await queryDatabase(stack, left, [[id, other]]), [{ workflow_id: id }]);
  });

  it('holds the files that it names until it is gone', async () => {
    const uploaded = await createFileClient({ apiUrl: stack.apiUrl, apiKey: account.apiKey }).upload(
      project,
      'of a draft',
    );
    const usedBy = async (): Promise<number> =>
      (await api.get<{ used_by: { drawings: number } }>(`/files/${uploaded.file_id}/`)).body.used_by.drawings;
    const id = await api.createWorkflow(project, draw());
    await put(id, { nodes: [{ id: 'a', data: { value: uploaded } }] });
    assert.equal(await usedBy(), 1);
    await put(id, {});
    assert.equal(await usedBy(), 0);
    await put(id, { nodes: [{ id: 'a', data: { value: uploaded } }] });
    await api.delete(at(id));
    assert.equal(await usedBy(), 0);
  });
});

function canary(): string {
  return `canary-${randomBytes(16).toString('hex')}`;
}
