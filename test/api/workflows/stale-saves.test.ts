import assert from 'node:assert/strict';
import type { ApiAnswer, ApiClient } from '../../../harness/client/api-client.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount } from '../accounts.js';
import type { Detail, FieldErrors, Workflow } from '../bodies.js';

describe('ETag and If-Match of a workflow', function () {
  this.timeout(120_000);
  let api: ApiClient;
  let project: number;
  let id: number;

  before(async () => {
    ({ api } = await createAccount(await sharedStack()));
    project = await api.createProject();
  });
  beforeEach(async () => {
    id = await api.createWorkflow(project, { note: 'first' });
  });

  const read = (): Promise<ApiAnswer<Workflow>> => api.get<Workflow>(`/workflows/${id}/`);
  const tagOf = async (): Promise<string> => (await read()).headers.get('etag') ?? '';
  const save = <T = Workflow>(condition: string, body: object = { data: { note: condition } }): Promise<ApiAnswer<T>> =>
    api.patch<T>(`/workflows/${id}/`, { body, headers: { 'if-match': condition } });

  it('of two people who edit one drawing, the second save is a 412 and nothing of the first is lost', async () => {
    const tag = await tagOf();
    const first = await save(tag);
    assert.equal(first.status, 200);
    const stored = (await read()).body;
    const second = await save<Detail>(tag, { title: 'mine', data: { note: 'second' }, categories: [] });
    assert.equal(second.status, 412);
    assert.deepEqual(second.body, {
      detail: 'It has been changed since you read it. Read it again.',
      code: 'precondition_failed',
    });
    assert.deepEqual((await read()).body, stored);
    assert.equal((await api.get<{ total: number }>(`/workflows/${id}/versions/`)).body.total, 2);
    assert.equal((await save(await tagOf())).status, 200, 'read again');
  });

  it('of ten saves at once with the same tag exactly one is made', async () => {
    const tag = await tagOf();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => save(tag, { data: { note: `note ${index}` } })),
    );
    const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
    assert.deepEqual([count(200), count(412)], [1, 9]);
    assert.equal((await api.get<{ total: number }>(`/workflows/${id}/versions/`)).body.total, 2);
  });

  it('of saves at once each answer shows its own save, with the tag of it', async () => {
    const titles = Array.from({ length: 30 }, (_, index) => `save ${index}`);
    const answers = await Promise.all(
      titles.map((title) => api.patch<Workflow>(`/workflows/${id}/`, { body: { title } })),
    );
    assert.deepEqual(
      answers.map(({ body }) => body.title),
      titles,
    );
    assert.equal(new Set(answers.map(({ headers }) => headers.get('etag'))).size, titles.length);
  });

  it('every answer with the workflow carries the tag, and each change of it another one', async () => {
    const created = await api.post<Workflow>('/workflows/', { body: { project, title: 'T', data: {} } });
    id = created.body.id;
    const tags = [created.headers.get('etag')];
    assert.equal(await tagOf(), tags[0], 'reading changes nothing');
    const changes = [{ title: 'Other' }, { data: { a: 1 } }, { data: { a: 1, viewport: { x: 1 } } }, { run_fee: '1' }];
    for (const body of changes) {
      const answer = await api.patch(`/workflows/${id}/`, { body });
      tags.push(answer.headers.get('etag'));
      assert.equal(await tagOf(), tags.at(-1));
    }
    const restored = await api.post(`/workflows/${id}/versions/1/restore/`);
    tags.push(restored.headers.get('etag'));
    const copy = await api.post<Workflow>(`/workflows/${id}/duplicate/`);
    tags.push(copy.headers.get('etag'));
    for (const tag of tags) assert.match(tag ?? '', /^"[!#-~]+"$/);
    assert.equal(new Set(tags).size, tags.length);
  });

  it('another position in the project makes no save stale', async () => {
    const tag = await tagOf();
    await api.post(`/workflows/${id}/reorder/`, { body: { sort_id: 1 } });
    assert.equal((await save(tag)).status, 200);
  });

  it('* and lists of tags are taken; a weak tag, and one of another workflow, never match', async () => {
    const other = (await api.get(`/workflows/${await api.createWorkflow(project, {})}/`)).headers.get('etag')!;
    const cases: [condition: (tag: string) => string, status: number][] = [
      [() => '*', 200],
      [(tag) => `"x", ${tag}`, 200],
      [(tag) => `${tag},"a,b"`, 200],
      [(tag) => `W/${tag}`, 412],
      [(tag) => tag.toUpperCase().replace('.', '..'), 412],
      [() => '""', 412],
      [() => other, 412],
    ];
    for (const [condition, expected] of cases) {
      const given = condition(await tagOf());
      assert.equal((await save(given, { title: given })).status, expected, given);
    }
  });

  it('an If-Match that is no list of tags is a 400', async () => {
    const before = (await read()).body;
    const tag = await tagOf();
    for (const given of [
      tag.replaceAll('"', ''),
      `${tag}, *`,
      '"open',
      ',',
      "'1.1'",
      `${tag} or so`,
      'x'.repeat(8000),
    ]) {
      const answer = await save<FieldErrors>(given);
      assert.deepEqual([answer.status, Object.keys(answer.body)], [400, ['if-match']], given.slice(0, 50));
    }
    assert.deepEqual((await read()).body, before);
  });

  it('restoring a version honours If-Match, too', async () => {
    const stale = await tagOf();
    await save('*');
    const path = `/workflows/${id}/versions/1/restore/`;
    assert.equal((await api.post(path, { headers: { 'if-match': stale } })).status, 412);
    assert.equal((await read()).body['version'], 2);
    assert.equal((await api.post(path, { headers: { 'if-match': await tagOf() } })).status, 200);
    assert.equal((await read()).body['version'], 3);
  });

  it('a deleted workflow is a 404, whatever If-Match is', async () => {
    await api.delete(`/workflows/${id}/`);
    assert.equal((await save('"stale"')).status, 404);
  });
});
