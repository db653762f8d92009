// The hooks of a workflow: how members create, list and delete them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { historyOf, queryDatabase } from '../../support/inspect.js';
import { startOtlpReceiver } from '../../support/otlp-receiver.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, restrictedTo, type Account } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import type { Detail, FieldErrors, Page } from '../bodies.js';
import { copy, publish } from '../marketplace-setup.js';
import { atProcess, deliverTo, gitHubHeaders, makeStartHook, standardHeaders, type StartHook } from './hook-sender.js';

describe('hooks', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    api = account.api;
    project = await api.createProject();
  });

  const workflow = (): Promise<number> => api.createWorkflow(project, chain(1));
  const list = async (id: number, client = api): Promise<StartHook[]> =>
    (await client.get<Page<StartHook>>(`/workflows/${id}/hooks/?size=100`)).body.items;

  it('are made with an address below PUBLIC_URL and a secret that is shown once', async () => {
    const id = await workflow();
    const none = await makeStartHook(api, id, { verify: 'none', header: null, secret: null });
    const standard = await makeStartHook(api, id, { verify: 'standard-webhooks' });
    const hmac = await makeStartHook(api, id, { verify: 'hmac-sha256' });
    const own = await makeStartHook(api, id, { verify: 'hmac-sha256', header: 'X-Mine', secret: 'of my own' });
    assert.equal('secret' in none, false);
    assert.match(standard.secret!, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.match(hmac.secret!, /^[0-9a-f]{64}$/);
    assert.equal(own.secret, 'of my own');
    const made = [none, standard, hmac, own];
    assert.deepEqual(
      made.map(({ verify, header }) => [verify, header]),
      [
        ['none', null],
        ['standard-webhooks', null],
        ['hmac-sha256', 'X-Hub-Signature-256'],
        ['hmac-sha256', 'X-Mine'],
      ],
    );
    for (const { url } of made) assert.ok(new RegExp(`^${stack.apiUrl}/api/v1/hooks/[\\w-]{43}/$`).test(url), url);
    assert.deepEqual(await list(id), made.map(withoutSecret));
    assert.equal(new Set(made.map(({ url }) => url)).size, 4);
  });

  it('are listed page by page, oldest first', async () => {
    const id = await workflow();
    const made = [];
    for (let count = 0; count < 3; count += 1) made.push((await makeStartHook(api, id)).id);
    const { body } = await api.get<Page<StartHook>>(`/workflows/${id}/hooks/?page=2&size=2`);
    assert.deepEqual(
      { ...body, items: body.items.map((hook) => hook.id) },
      { page: 2, size: 2, total: 3, items: made.slice(2) },
    );
  });

  it('are listed for all members; only their authors and owners see the addresses', async () => {
    const id = await workflow();
    const hook = await makeStartHook(api, id, { verify: 'standard-webhooks' });
    const { url, ...rest } = withoutSecret(hook);
    for (const role of ['viewer', 'editor', 'admin'] as const) {
      const member = await createAccount(stack);
      await giveRole(stack, member, project, role);
      assert.deepEqual(await list(id, member.api), [rest], role);
    }
    const [editor, owner] = [await createAccount(stack), await createAccount(stack)];
    await giveRole(stack, editor, project, 'editor');
    await giveRole(stack, owner, project, 'owner');
    const own = await makeStartHook(editor.api, id);
    const urls = async (client: ApiClient) => (await list(id, client)).map((each) => each.url);
    assert.deepEqual(await urls(editor.api), [undefined, own.url]);
    assert.deepEqual(await urls(owner.api), [url, own.url]);
    const renewed = await editor.api.patch<StartHook>(`/workflows/${id}/hooks/${hook.id}/`, { body: { secret: null } });
    assert.deepEqual([renewed.status, renewed.body.url], [200, undefined]);
  });

  it('cannot be reached through other workflows, from other projects, or by other users', async () => {
    const [id, other] = [await workflow(), await workflow()];
    const hook = await makeStartHook(api, id, { verify: 'hmac-sha256' });
    const stranger = await createAccount(stack);
    const theirs = await stranger.api.createWorkflow(await stranger.api.createProject(), chain(1));
    const { api: elsewhere } = await restrictedTo(stack, await api.createProject(), account);
    const attempts: [ApiClient, number][] = [
      [api, other],
      [stranger.api, id],
      [stranger.api, theirs],
      [elsewhere, id],
    ];
    for (const [client, workflowId] of attempts) {
      const path = `/workflows/${workflowId}/hooks/${hook.id}/`;
      const answers = [await client.delete<Detail>(path), await client.patch<Detail>(path, { body: { secret: null } })];
      const refusal = client === elsewhere ? [403, 'key_project'] : [404, 'not_found'];
      for (const { status, body } of answers) assert.deepEqual([status, body.code], refusal);
    }
    const signed = await gitHubHeaders(hook.secret!, 'event', '{}');
    assert.equal((await deliverTo(hook.url, '{}', signed)).status, 202, 'it is as it was');
    assert.deepEqual(await list(theirs, stranger.api), []);
  });

  it('are a 400 that names the wrong field', async () => {
    const id = await workflow();
    const refused: [body: object, errors: FieldErrors][] = [
      [{}, { verify: ['This field is required.'] }],
      [{ verify: 'sha1' }, { verify: ['"sha1" is not a valid choice.'] }],
      [{ verify: 'none', secret: 'x' }, { secret: ['The hook asks for no signatures.'] }],
      [{ verify: 'none', header: 'X-A' }, { header: ['Only hmac-sha256 has a header to choose.'] }],
      [{ verify: 'standard-webhooks', header: 'X-A' }, { header: ['Only hmac-sha256 has a header to choose.'] }],
      [
        { verify: 'standard-webhooks', secret: 'no base64' },
        { secret: ['Enter whsec_ and base64, as the sender shows it.'] },
      ],
      [{ verify: 'hmac-sha256', secret: '' }, { secret: ['This field may not be blank.'] }],
      [{ verify: 'hmac-sha256', header: 'X A' }, { header: ['Enter the name of a header.'] }],
      [{ verify: 'hmac-sha256', header: '' }, { header: ['Enter the name of a header.'] }],
      [{ verify: 'hmac-sha256', secret: 7 }, { secret: ['Not a valid string.'] }],
    ];
    for (const [body, errors] of refused) {
      const answer = await api.post<FieldErrors>(`/workflows/${id}/hooks/`, { body });
      assert.deepEqual([answer.status, answer.body], [400, errors], JSON.stringify(body));
    }
    const [none, standard] = [
      await makeStartHook(api, id),
      await makeStartHook(api, id, { verify: 'standard-webhooks' }),
    ];
    for (const [hook, secret] of [
      [none, null],
      [standard, 'no base64'],
    ] as const) {
      const answer = await api.patch<FieldErrors>(`/workflows/${id}/hooks/${hook.id}/`, { body: { secret } });
      assert.deepEqual([answer.status, Object.keys(answer.body)], [400, ['secret']]);
    }
  });

  it('are at most 20 in a workflow, even with concurrent requests', async () => {
    const id = await workflow();
    const make = () => api.post<Detail>(`/workflows/${id}/hooks/`, { body: { verify: 'none' } });
    const answers = await Promise.all(Array.from({ length: 25 }, make));
    assert.equal(answers.filter(({ status }) => status === 201).length, 20);
    for (const { status, body } of answers) {
      if (status !== 201) assert.deepEqual([status, body.code], [400, 'too_many_hooks']);
    }
    const [first] = await list(id);
    await api.delete(`/workflows/${id}/hooks/${first!.id}/`);
    assert.equal((await make()).status, 201);
  });

  it('are not copied with a duplicate or a copy from the marketplace', async () => {
    const published = await publish(stack, account);
    await makeStartHook(api, published.workflowId);
    const { body: duplicate } = await api.post<{ id: number }>(`/workflows/${published.workflowId}/duplicate/`);
    const receiver = await createAccount(stack);
    const copied = await copy(receiver, published.slug);
    assert.deepEqual([await list(duplicate.id), await list(copied, receiver.api)], [[], []]);
    assert.equal((await list(published.workflowId)).length, 1);
  });

  it('have tokens and secrets that are stored as hashes or encrypted', async () => {
    const id = await workflow();
    const hook = await makeStartHook(api, id, { verify: 'hmac-sha256', secret: 'nobody reads this' });
    const [row] = await queryDatabase<Record<string, unknown>>(stack, 'SELECT * FROM hooks WHERE id = $1', [hook.id]);
    const texts = Object.values(row!).map((value) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
    );
    const token = hook.url.split('/').at(-2)!;
    assert.ok(!texts.some((text) => text.includes('nobody reads') || text.includes(token)));
    assert.ok(row!['token_enc'] instanceof Buffer && row!['secret_enc'] instanceof Buffer);
  });

  it('have tokens and secrets that are in no log, span, metric, history or row of a run', async () => {
    const receiver = await startOtlpReceiver();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '100', LOG_LEVEL: 'trace' };
    const talkative = await startApiProcess(stack, env);
    try {
      const client = createApiClient(talkative.apiUrl, account.apiKey);
      const id = await workflow();
      const made = await makeStartHook(client, id, { verify: 'standard-webhooks' });
      const url = atProcess(made.url, talkative.apiUrl);
      const good = await deliverTo(url, '{}', standardHeaders(made.secret!, 'event', '{}'));
      const answers = [good, await deliverTo(url, '{'), await deliverTo(url, new Uint8Array([0xff]))];
      answers.push(await deliverTo(url.replace(/\/$/, '?x=1')), await deliverTo(`${url}more/`));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [202, 401, 401, 401, 404],
      );
      await api.pollToEnd(good.body.id);
      await eventually(() => receiver.spans.filter(({ name }) => name === 'POST /api/v1/hooks/:token/').length === 4);
      const rows = await queryDatabase(
        stack,
        `SELECT to_jsonb(runs) AS run, (SELECT jsonb_agg(to_jsonb(event)) FROM run_events AS event WHERE event.run_id = runs.id),
          (SELECT jsonb_agg(to_jsonb(used)) FROM idempotency_keys AS used WHERE used.run_id = runs.id)
        FROM runs WHERE id = $1`,
        [good.body.id],
      );
      assert.equal(rows.length, 1);
      const metrics = await (await fetch(`${talkative.apiUrl}/metrics`)).text();
      assert.ok(metrics.includes('route="/api/v1/hooks/:token/"'));
      const places = {
        log: talkative.output(),
        stackLog: stack.logs(),
        spans: Buffer.concat(receiver.bodies).toString('latin1'),
        metrics,
        history: JSON.stringify(await historyOf(stack, good.body.id)),
        rows: JSON.stringify(rows),
        answers: answers.map(({ text }) => text).join('\n'),
      };
      const token = made.url.split('/').at(-2)!;
      for (const [place, text] of Object.entries(places)) {
        assert.ok(text.length > 0, place);
        assert.equal(text.includes(token), false, `${place} holds the token`);
        assert.equal(text.includes(made.secret!.slice('whsec_'.length)), false, `${place} holds the secret`);
      }
      assert.equal(JSON.stringify(await list(id)).includes(made.secret!), false);
    } finally {
      await talkative.stop();
      await receiver.close();
    }
  });

  it('200 deliveries of 40 events in any order over two processes, 50 at once, start 40 runs', async () => {
    const id = await workflow();
    const second = await startApiProcess(stack);
    try {
      const hooks = await Promise.all(
        Array.from({ length: 4 }, () => makeStartHook(api, id, { verify: 'standard-webhooks' })),
      );
      const events = Array.from({ length: 40 }, (_, index) => ({ id: randomUUID(), hook: hooks[index % 4]! }));
      const queue = shuffled(Array.from({ length: 5 }, () => events).flat()).entries();
      const runs = new Map<string, Set<string>>();
      const work = async (): Promise<void> => {
        for (const [index, { id: event, hook }] of queue) {
          const body = JSON.stringify({ event });
          const url = index % 2 === 0 ? hook.url : atProcess(hook.url, second.apiUrl);
          const answer = await deliverTo(url, body, standardHeaders(hook.secret!, event, body));
          assert.equal(answer.status, 202, answer.text);
          runs.set(event, (runs.get(event) ?? new Set()).add(answer.body.id));
        }
      };
      await Promise.all(Array.from({ length: 50 }, work));
      assert.deepEqual([runs.size, new Set([...runs.values()].flatMap((ids) => [...ids])).size], [40, 40]);
      const [stored] = await queryDatabase<{ count: number }>(
        stack,
        'SELECT count(*)::integer AS count FROM runs WHERE workflow_id = $1',
        [id],
      );
      assert.equal(stored!.count, 40);
    } finally {
      await second.stop();
    }
  });
});

function withoutSecret(hook: StartHook): StartHook {
  const { secret, ...rest } = hook;
  assert.notEqual(secret, '');
  return rest;
}

function shuffled<T>(items: readonly T[]): T[] {
  const places = items.map((item) => ({ item, place: Math.random() }));
  return places.toSorted((one, other) => one.place - other.place).map(({ item }) => item);
}
