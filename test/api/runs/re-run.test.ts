import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { ApiClient, Envelope, SendOptions } from '../../../harness/client/api-client.js';
import { chain, drawing, http, link, llm, trigger, type Drawing } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole } from '../accounts.js';
import { NOT_FOUND, type Detail, type Page } from '../bodies.js';

const MASK = '********';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
type Field = Record<string, unknown>;

const canary = (): string => `canary-${randomBytes(12).toString('hex')}"+/`;

describe('re-run', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
    target = await startHttpTarget();
  });
  after(() => target.close());

  /** A drawing that sends the field `token` in a header to the target. */
  const draw = (token: Field, path = '/echo'): Drawing => {
    const start = trigger([{ id: 'token', ...token }, { id: 'note' }]);
    const call = http(`${target.url}${path}`, { headers: { 'X-Token': '{{ input.token }}' } });
    link(start, call);
    return drawing([start, call]);
  };
  const workflowOf = (data: object): Promise<number> => api.createWorkflow(project, data);
  const runToEnd = async (id: number, input: unknown): Promise<string> => {
    const { data } = await api.run(id, input);
    await api.pollToEnd(data.id);
    return data.id;
  };
  const reRun = <T = Envelope>(id: number, run: string, options: SendOptions = {}, client = api) =>
    client.post<T>(`/workflows/${id}/history/${run}/re-run/`, options);
  /** Waits until the new run has ended. Returns its id. */
  const reRunToEnd = async (id: number, run: string, options: SendOptions = {}): Promise<string> => {
    const { status, body } = await reRun(id, run, options);
    assert.equal(status, 201, JSON.stringify(body));
    await api.pollToEnd(body.data.id);
    return body.data.id;
  };
  const inputOf = async (id: number, run: string): Promise<unknown> => (await api.history(id, run))['input_data'];
  const sentToken = (path = '/echo'): unknown => target.requestsTo(path).at(-1)?.headers['x-token'];

  describe('201', () => {
    it('is answered with the envelope of a run start and a new run of the same workflow', async () => {
      const id = await workflowOf(chain(1));
      const original = await runToEnd(id, { a: 1 });
      const { status, body } = await reRun(id, original);
      assert.equal(status, 201);
      assert.match(body.data.id, UUID);
      assert.notEqual(body.data.id, original);
      assert.deepEqual(body, { status: 201, data: { id: body.data.id, status: 'in queue', data: null } });
      await api.pollToEnd(body.data.id);
      const { items } = (await api.get<Page<{ id: string }>>(`/workflows/${id}/history/`)).body;
      assert.deepEqual(
        items.map((item) => item.id),
        [body.data.id, original],
      );
    });

    it('without a body the original input is reused, an object, an array and a text alike', async () => {
      const id = await workflowOf(chain(1));
      for (const text of ['{"a":{"b":[1,null]}}', '[1,{"c":2}]', 'plain words']) {
        const { body } = await api.post<Envelope>(`/workflows/${id}/run/`, { text });
        await api.pollToEnd(body.data.id);
        for (const options of [{}, { text: '' }, { text: ' \n' }]) {
          const again = await reRunToEnd(id, body.data.id, options);
          assert.deepEqual(await inputOf(id, again), await inputOf(id, body.data.id), text);
        }
      }
    });

    it('with a body that body is the input, as in run: {} is an input too', async () => {
      const id = await workflowOf(chain(1));
      const original = await runToEnd(id, { a: 1 });
      const inputs: [text: string, input: unknown][] = [
        ['{}', {}],
        ['null', {}],
        ['{"b":2}', { b: 2 }],
        ['words', { __raw_input__: 'words' }],
        ['{"broken":', { __raw_input__: '{"broken":' }],
        ['"quoted"', { __raw_input__: 'quoted' }],
        ['[3]', [3]],
      ];
      for (const [text, input] of inputs) {
        assert.deepEqual(await inputOf(id, await reRunToEnd(id, original, { text })), input, text);
      }
    });

    it('runs the workflow as it is now, and today`s defaults fill what the original input lacks', async () => {
      const id = await workflowOf(draw({}, '/before'));
      const original = await runToEnd(id, { note: 'kept' });
      const now = draw({ default_value: 'new default' }, '/after');
      await api.patch(`/workflows/${id}/`, { body: { data: now } });
      const again = await reRunToEnd(id, original);
      assert.deepEqual(await inputOf(id, again), { note: 'kept', token: 'new default' });
      assert.equal(sentToken('/after'), 'new default');
      assert.deepEqual((await api.history(id, again))['data'], JSON.parse(JSON.stringify(now)));
    });

    it('a draft can be run again when its workflow has been mended', async () => {
      const broken = chain(2, () => llm(''));
      const id = await workflowOf(broken);
      const draft = (await api.run(id, { a: 1 })).data.id;
      await api.patch(`/workflows/${id}/`, { body: { data: chain(1) } });
      assert.deepEqual(await inputOf(id, await reRunToEnd(id, draft)), { a: 1 });
    });

    it('a re-run can be run again', async () => {
      const id = await workflowOf(draw({ is_secret: true }));
      const secret = canary();
      const original = await runToEnd(id, { token: secret });
      await reRunToEnd(id, await reRunToEnd(id, original));
      assert.equal(sentToken(), secret);
    });
  });

  describe('201: secrets', () => {
    it('without a body the original run`s secret is used and not shown', async () => {
      const [stored, given] = [canary(), canary()];
      const id = await workflowOf(draw({ is_secret: true, default_value: stored }));
      const original = await runToEnd(id, { token: given, note: `see ${given}` });
      const again = await reRunToEnd(id, original);
      assert.equal(sentToken(), given);
      assert.deepEqual(await inputOf(id, again), { token: MASK, note: `see ${MASK}` });
      const shown = JSON.stringify([await api.history(id, again), await api.poll(again)]);
      assert.ok(!shown.includes(given.slice(0, -3)));
    });

    it('******** is the original run`s value, a new value replaces it, without the field the default counts', async () => {
      const [stored, given, other] = [canary(), canary(), canary()];
      const id = await workflowOf(draw({ is_secret: true, default_value: stored }));
      const original = await runToEnd(id, { token: given });
      const sentWith = async (input: unknown): Promise<unknown> => {
        await reRunToEnd(id, original, { body: input });
        return sentToken();
      };
      assert.equal(await sentWith({ token: MASK }), given);
      assert.equal(await sentWith({ token: other }), other);
      assert.equal(await sentWith({}), stored);
      const fromDefault = await runToEnd(id, {});
      await api.patch(`/workflows/${id}/`, { body: { data: draw({ is_secret: true, default_value: canary() }) } });
      await reRunToEnd(id, fromDefault, { body: { token: MASK } });
      assert.equal(sentToken(), stored, 'the default of then was the original run`s value');
    });

    it('******** is the stored default where the original run had no value, else it counts as not given', async () => {
      const stored = canary();
      const plain = draw({ is_secret: true });
      const id = await workflowOf(plain);
      const original = await runToEnd(id, {});
      await reRunToEnd(id, original, { body: { token: MASK } });
      assert.equal(sentToken(), '');
      await api.patch(`/workflows/${id}/`, { body: { data: draw({ is_secret: true, default_value: stored }) } });
      await reRunToEnd(id, original, { body: { token: MASK } });
      assert.equal(sentToken(), stored);
    });

    for (const secret of ['canary-of-a-published-field', 'abc']) {
      it(`a secret (${secret.length} characters) whose field was made public since is not revealed`, async () => {
        const id = await workflowOf(draw({ is_secret: true }));
        const original = await runToEnd(id, { token: secret, note: `${secret.length > 5 ? secret : ''} noted` });
        await api.patch(`/workflows/${id}/`, { body: { data: draw({}) } });
        const again = await reRunToEnd(id, original);
        assert.equal(sentToken(), '');
        const shown = JSON.stringify([await api.history(id, again), await api.poll(again)]);
        assert.ok(!shown.includes(`"${secret}`), shown);
      });
    }

    it('a field that was made secret since is hidden in the new run', async () => {
      const value = canary();
      const id = await workflowOf(draw({}));
      const original = await runToEnd(id, { token: value });
      await api.patch(`/workflows/${id}/`, { body: { data: draw({ is_secret: true }) } });
      const again = await reRunToEnd(id, original);
      assert.equal(sentToken(), value);
      assert.deepEqual(await inputOf(id, again), { token: MASK });
    });

    it('the stored default is hidden in an input that quotes it, though another value is used', async () => {
      const [stored, given] = [canary(), canary()];
      const id = await workflowOf(draw({ is_secret: true, default_value: stored }));
      const run = await runToEnd(id, { token: given, note: `not ${stored}` });
      assert.deepEqual(await inputOf(id, run), { token: MASK, note: `not ${MASK}` });
      assert.deepEqual(await inputOf(id, await reRunToEnd(id, run)), { token: MASK, note: `not ${MASK}` });
    });
  });

  describe('400', () => {
    interface Refusal extends Detail {
      status: number;
      data: { id: string | null; status: string; data: Record<string, unknown> | null };
    }

    it('node validation is an outer 400 that names every error, and is kept as a draft', async () => {
      const id = await workflowOf(chain(1));
      const original = await runToEnd(id, { a: 1 });
      const start = trigger([{ id: 'must', input_requirements: true }]);
      const model = llm('');
      link(start, model);
      await api.patch(`/workflows/${id}/`, { body: { data: drawing([start, model]) } });
      const { status, body } = await reRun<Refusal>(id, original);
      assert.deepEqual([status, body.code, body.status, body.data.status], [400, 'invalid_nodes', 422, 'failed']);
      assert.ok(body.detail);
      assert.deepEqual(Object.keys(body.data.data ?? {}).toSorted(), [start.id, model.id].toSorted());
      const draft = await api.history(id, body.data.id ?? '');
      assert.deepEqual([draft.status, draft['input_data']], ['Draft', { a: 1 }]);
    });

    it('a drawing that no longer runs is an outer 400 and leaves no run', async () => {
      const id = await workflowOf(chain(1));
      const original = await runToEnd(id, {});
      await api.patch(`/workflows/${id}/`, { body: { data: { nodes: [] } } });
      const { status, body } = await reRun<Refusal>(id, original);
      assert.deepEqual([status, body.code, body.status, body.data.id], [400, 'invalid_workflow', 400, null]);
      assert.equal((await api.get<Page<unknown>>(`/workflows/${id}/history/`)).body.total, 1);
    });

    it('text that cannot be stored is refused', async () => {
      const id = await workflowOf(chain(1));
      const original = await runToEnd(id, {});
      for (const text of ['a\0b', '{"a":"\\u0000"}', '['.repeat(1000)]) {
        const { status, body } = await reRun<Detail>(id, original, { text });
        assert.deepEqual([status, body.code], [400, 'parse_error']);
      }
    });
  });

  describe('403 and 404', () => {
    it('a viewer may not, a stranger finds nothing', async () => {
      const id = await workflowOf(chain(1));
      const original = await runToEnd(id, {});
      const member = await createAccount(stack);
      assert.equal((await reRun(id, original, {}, member.api)).status, 404);
      await giveRole(stack, member, project, 'viewer');
      assert.equal((await reRun(id, original, {}, member.api)).status, 403);
      const count = await queryDatabase(stack, 'SELECT id FROM runs WHERE workflow_id = $1', [id]);
      assert.equal(count.length, 1);
      await giveRole(stack, member, project, 'editor');
      const { status, body } = await reRun(id, original, {}, member.api);
      assert.equal(status, 201);
      await api.pollToEnd(body.data.id);
    });

    it('an unknown workflow, an unknown run, another workflow`s run and what is no UUID', async () => {
      const [id, other] = [await workflowOf(chain(1)), await workflowOf(chain(1))];
      const run = await runToEnd(other, {});
      const answers = [
        await reRun(id, randomUUID()),
        await reRun(id, run),
        await reRun(id, 'x'),
        await reRun(2147483647, run),
      ];
      for (const { status, body } of answers) assert.deepEqual([status, body], [404, NOT_FOUND]);
    });
  });
});
