// Deliveries of other services to hooks, and the answers that they get (docs/use/starts.md).
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { chain, drawing, linkInRow, llm, node as nodeOf, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, removeMembership, revokeAccess, type Account } from '../accounts.js';
import type { Page } from '../bodies.js';
import {
  deliverTo,
  endMinute,
  gitHubHeaders,
  makeStartHook,
  standardHeaders,
  toSvix,
  type StartHook,
} from './hook-sender.js';

const NOT_FOUND = '{"detail":"Not found.","code":"not_found"}';

describe('deliveries to hooks', function () {
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

  /** Draws a workflow whose output is its input. */
  const echo = (fields: Record<string, unknown>[] = []): object =>
    drawing(linkInRow([trigger(fields), nodeOf('output', { value: '{{ input }}' })]));
  const workflow = (data: object = echo()): Promise<number> => api.createWorkflow(project, data);
  const runsOf = async (id: number): Promise<string[]> => {
    const { body } = await api.get<Page<{ id: string }>>(`/workflows/${id}/history/?size=100`);
    return body.items.map((run) => run.id);
  };
  const listed = async (id: number): Promise<StartHook> =>
    (await api.get<Page<StartHook>>(`/workflows/${id}/hooks/`)).body.items[0]!;

  describe('files', () => {
    const doc = { id: 'doc', type: 'file' };
    const stored = () => queryDatabase(stack, `SELECT id FROM files WHERE project_id = ${project}`);
    const bytes = Buffer.from([0x25, 0x50, 0x44, 0x46, 0, 1, 2, 0xff]);
    interface Taken {
      doc: { file_id: string; name: string; type: string; size: number };
      note?: string;
    }

    it('a binary body becomes the file of the trigger, and multipart contains files and the input', async () => {
      const { url } = await makeStartHook(api, await workflow(echo([doc, { id: 'note', type: 'text' }])));
      const headers = { 'content-type': 'application/pdf', 'x-file-name': 'r%C3%A9sum%C3%A9.pdf' };
      const form = new FormData();
      form.append('doc', new Blob([bytes], { type: 'application/pdf' }), 'part.pdf');
      form.append('input', '{"note":"n"}');
      for (const [init, name, note] of [
        [{ body: bytes, headers }, 'résumé.pdf', undefined],
        [{ body: form }, 'part.pdf', 'n'],
      ] as const) {
        const response = await fetch(url, { method: 'POST', ...init });
        const { id } = (await response.json()) as { id: string };
        assert.equal(response.status, 202);
        const { data } = await api.pollToEnd(id);
        const taken = data.output as Taken;
        assert.deepEqual(
          [taken.doc.name, taken.doc.type, taken.doc.size, taken.note],
          [name, 'application/pdf', 8, note],
        );
        const content = await fetch(`${stack.apiUrl}/api/v1/files/${taken.doc.file_id}/content/`, {
          headers: { 'X-API-Key': account.apiKey },
        });
        assert.deepEqual(Buffer.from(await content.arrayBuffer()), bytes);
      }
    });

    it('refused and repeated deliveries leave no files', async () => {
      const id = await workflow(echo([doc]));
      const signed = await makeStartHook(api, id, { verify: 'standard-webhooks' });
      const open = await makeStartHook(api, id);
      const before = (await stored()).length;
      const send = async (url: string, field: string, headers: Record<string, string> = {}) => {
        const form = new FormData();
        form.append(field, new Blob([bytes]), 'x.bin');
        return (await fetch(url, { method: 'POST', body: form, headers })).status;
      };
      assert.equal(await send(signed.url, 'doc'), 401);
      assert.equal(await send(open.url, 'other'), 422);
      const withList = new FormData();
      withList.append('doc', new Blob([bytes]), 'x.bin');
      withList.append('input', '[1]');
      assert.equal((await fetch(open.url, { method: 'POST', body: withList })).status, 400);
      const binary = { 'content-type': 'application/pdf' };
      assert.equal((await fetch(signed.url, { method: 'POST', body: bytes, headers: binary })).status, 401);
      assert.equal((await stored()).length, before);
      const key = { 'idempotency-key': randomUUID() };
      assert.deepEqual([await send(open.url, 'doc', key), await send(open.url, 'doc', key)], [202, 202]);
      assert.equal((await stored()).length, before + 1);
    });
  });

  describe('202', () => {
    it('the body becomes the input as with an API key, for any media type', async () => {
      const id = await workflow();
      const { url } = await makeStartHook(api, id);
      for (const [body, type, input] of [
        ['{"a":{"b":[1,2]}}', 'application/json', { a: { b: [1, 2] } }],
        ['[1,"two"]', 'application/json; charset=utf-8', [1, 'two']],
        ['{"a":1}', 'text/plain', { a: 1 }],
        ['a=1&b=2', 'application/x-www-form-urlencoded', { a: '1', b: '2' }],
        ['"text"', 'application/json', { __raw_input__: 'text' }],
        ['', 'application/octet-stream', {}],
        ['\uFEFF{"a":"grüße \u{1F600}"}', 'application/json', { a: 'grüße \u{1F600}' }],
      ] as const) {
        const answer = await deliverTo(url, body, { 'content-type': type });
        assert.deepEqual([answer.status, Object.keys(answer.body)], [202, ['id']], answer.text);
        const { data } = await api.pollToEnd(answer.body.id);
        assert.deepEqual([data.status, data.output], ['succeed', input], body);
      }
      assert.equal((await runsOf(id)).length, 7);
    });

    it('a form, as GitHub, Slack and Twilio send it, becomes an object; its bytes are signed', async () => {
      const id = await workflow();
      const hook = await makeStartHook(api, id, { verify: 'hmac-sha256' });
      const event = '{"action":"opened","id":12345678901234567890,"title":"a+b & ü"}';
      const body = `payload=${encodeURIComponent(event)}&To=%2B49+30&Media=1&Media=2&latin=%E4%zz%00`;
      const type = 'application/x-www-form-urlencoded; charset=UTF-8';
      const headers = { ...(await gitHubHeaders(hook.secret!, randomUUID(), body)), 'content-type': type };
      assert.equal((await deliverTo(hook.url, `${body}&`, headers)).status, 401, 'the bytes are signed');
      const { status, body: answer } = await deliverTo(hook.url, body, headers);
      assert.equal(status, 202);
      await api.pollToEnd(answer.id);
      const [row] = await queryDatabase<{ input: string }>(stack, 'SELECT input::text FROM runs WHERE id = $1', [
        answer.id,
      ]);
      const fields = '"To":"+49 30","Media":["1","2"],"latin":"%E4%zz%00"';
      assert.equal(row!.input, `{"payload":${event},${fields}}`);
    });

    it('numbers keep all their digits, and headers are no part of the input', async () => {
      const { url } = await makeStartHook(api, await workflow());
      const { body } = await deliverTo(url, '{"id":12345678901234567890}', { 'x-other': 'header' });
      await api.pollToEnd(body.id);
      const { body: poll } = await api.get<object>(`/workflows/workflow_result/?id=${body.id}`);
      const [row] = await queryDatabase<{ input: string }>(stack, 'SELECT input::text FROM runs WHERE id = $1', [
        body.id,
      ]);
      assert.deepEqual([row!.input, JSON.stringify(poll).includes('x-other')], ['{"id":12345678901234567890}', false]);
    });

    it('with signatures of Standard Webhooks, GitHub and Stripe; a repeat gets the first run', async () => {
      const id = await workflow();
      const [standard, github] = [
        await makeStartHook(api, id, { verify: 'standard-webhooks' }),
        await makeStartHook(api, id, { verify: 'hmac-sha256' }),
      ];
      const own = `whsec_${randomBytes(16).toString('hex')}`;
      const stripe = await makeStartHook(api, id, { verify: 'hmac-sha256', header: 'Stripe-Signature', secret: own });
      assert.equal(stripe.secret, own);
      const payload = JSON.stringify({ object: 'event', id: `evt_${randomUUID()}`, type: 'charge.succeeded' });
      const stripeHeader = new Stripe('sk_test').webhooks.generateTestHeaderString({ payload, secret: own });
      const sent: [string, Record<string, string>][] = [
        [standard.url, standardHeaders(standard.secret!, 'msg_1', payload)],
        [github.url, await gitHubHeaders(github.secret!, randomUUID(), payload)],
        [stripe.url, { 'stripe-signature': stripeHeader }],
      ];
      for (const [url, headers] of sent) {
        const first = await deliverTo(url, payload, headers);
        assert.equal(first.status, 202, first.text);
        const again = await deliverTo(url, payload, headers);
        assert.deepEqual([again.status, again.body], [202, first.body]);
        assert.deepEqual(
          [first, again].map((answer) => answer.headers.get('idempotent-replayed')),
          [null, 'true'],
        );
        const other = await deliverTo(url, `${payload} `, headers);
        assert.deepEqual([other.status, other.body.code], [401, 'invalid_signature']);
        assert.match(other.headers.get('www-authenticate') ?? '', /^Signature /);
      }
      assert.equal((await runsOf(id)).length, 3);
    });

    it('the same id in the same header gives the first run, for any body; without an id each gives a run', async () => {
      const id = await workflow();
      const { url } = await makeStartHook(api, id);
      const ids = new Set<string>();
      for (const name of ['webhook-id', 'X-GitHub-Delivery', 'Idempotency-Key', 'svix-id']) {
        const first = await deliverTo(url, '{"n":1}', { [name]: 'same' });
        const again = await deliverTo(url, '{"n":2}', { [name.toUpperCase()]: 'same' });
        assert.equal(again.body.id, first.body.id);
        ids.add(first.body.id);
      }
      assert.equal(ids.size, 4, 'an id is one of its header');
      const both = await deliverTo(url, '{}', { 'webhook-id': 'same', 'idempotency-key': randomUUID() });
      assert.ok(ids.has(both.body.id), 'the webhook-id goes before the others');
      for (const empty of [{}, { 'webhook-id': '' }, {}]) ids.add((await deliverTo(url, '{}', empty)).body.id);
      assert.equal(ids.size, 7);
      assert.deepEqual(new Set(await runsOf(id)), ids);
    });

    it('if the sender signs an id, only this one counts: unsigned headers neither split nor merge events', async () => {
      const id = await workflow();
      const hook = await makeStartHook(api, id, { verify: 'hmac-sha256', header: 'Stripe-Signature' });
      const send = async (event: string, header: string, value: string): Promise<string> => {
        const payload = JSON.stringify({ object: 'event', id: event });
        const signature = new Stripe('sk_test').webhooks.generateTestHeaderString({ payload, secret: hook.secret! });
        return (await deliverTo(hook.url, payload, { 'stripe-signature': signature, [header]: value })).body.id;
      };
      const first = await send('evt_1', 'webhook-id', 'a');
      for (const name of ['webhook-id', 'x-github-delivery', 'idempotency-key']) {
        assert.equal(await send('evt_1', name, 'b'), first, name);
        assert.notEqual(await send(`evt_of_${name}`, name, 'b'), first, name);
      }
      const standard = await makeStartHook(api, id, { verify: 'standard-webhooks' });
      const twice = [1, 2].map(async (number) => {
        const headers = { ...standardHeaders(standard.secret!, 'msg_1', '{}'), 'idempotency-key': String(number) };
        return (await deliverTo(standard.url, '{}', headers)).body.id;
      });
      const [one, other] = await Promise.all(twice);
      assert.equal(one, other);
      const signed = standardHeaders(standard.secret!, 'msg_2', '{}');
      const underSvix = toSvix(signed);
      const svix = await deliverTo(standard.url, '{}', underSvix);
      assert.equal(svix.status, 202, svix.text);
      assert.equal((await deliverTo(standard.url, '{}', signed)).body.id, svix.body.id, 'both names are one id');
      const forged = await deliverTo(standard.url, '{}', { ...underSvix, 'webhook-id': 'msg_3' });
      assert.equal(forged.status, 401, 'an id that is not signed');
    });

    it('ids are unique per hook: the same id at another hook or with an API key starts another run', async () => {
      const id = await workflow();
      const [one, other] = [await makeStartHook(api, id), await makeStartHook(api, id)];
      const key = { 'idempotency-key': 'shared' };
      const answers = [await deliverTo(one.url, '{}', key), await deliverTo(other.url, '{}', key)];
      await api.post(`/workflows/${id}/run/`, { text: '{}', headers: key });
      assert.notEqual(answers[0]!.body.id, answers[1]!.body.id);
      assert.equal((await runsOf(id)).length, 3);
    });

    it('an id may have any length, and any characters that a header allows', async () => {
      const { url } = await makeStartHook(api, await workflow());
      for (const id of ['x'.repeat(8_000), "'; DROP TABLE runs; --", '{"a":1}', 'ÿ']) {
        const answers = [
          await deliverTo(url, '{}', { 'webhook-id': id }),
          await deliverTo(url, '{}', { 'webhook-id': id }),
        ];
        assert.deepEqual([answers[0]!.status, answers[0]!.body.id], [202, answers[1]!.body.id]);
      }
    });

    it('after 24 hours an id is new again', async () => {
      const { url } = await makeStartHook(api, await workflow());
      const send = () => deliverTo(url, '{}', { 'webhook-id': 'old' });
      const first = await send();
      await queryDatabase(
        stack,
        `UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE run_id = $1`,
        [first.body.id],
      );
      assert.notEqual((await send()).body.id, first.body.id);
    });

    it('the run belongs to the user who has made the hook', async () => {
      const id = await workflow();
      const editor = await createAccount(stack);
      await giveRole(stack, editor, project, 'editor');
      const { url, author } = await makeStartHook(editor.api, id);
      const { body } = await deliverTo(url);
      const [run] = await queryDatabase(stack, 'SELECT user_id, project_id FROM runs WHERE id = $1', [body.id]);
      assert.deepEqual(run, { user_id: editor.userId, project_id: project });
      assert.deepEqual(author, { id: editor.userId, name: 'test user' });
    });

    it('a secret field of the input is masked in what can be read, and reaches the run', async () => {
      const { url } = await makeStartHook(api, await workflow(echo([{ id: 'pin', is_secret: true }])));
      const pin = `pin-${randomUUID()}`;
      const { body } = await deliverTo(url, JSON.stringify({ pin }));
      await api.pollToEnd(body.id);
      const [row] = await queryDatabase<{ input: object }>(stack, 'SELECT input FROM runs WHERE id = $1', [body.id]);
      assert.deepEqual(row!.input, { pin: '********' });
    });
  });

  describe('401', () => {
    it('for a missing, wrong or stale signature; nothing is started, and the hook shows the status', async () => {
      const id = await workflow();
      const hook = await makeStartHook(api, id, { verify: 'standard-webhooks' });
      const other = await makeStartHook(api, id, { verify: 'standard-webhooks' });
      const body = '{"a":1}';
      for (const [headers, code] of [
        [{}, 'invalid_signature'],
        [{ 'webhook-id': 'msg' }, 'invalid_signature'],
        [standardHeaders(other.secret!, 'msg', body), 'invalid_signature'],
        [standardHeaders(hook.secret!, 'msg', `${body}x`), 'invalid_signature'],
        [standardHeaders(hook.secret!, 'msg', body, 900), 'stale_signature'],
        [standardHeaders(hook.secret!, 'msg', body, -900), 'stale_signature'],
      ] as const) {
        const answer = await deliverTo(hook.url, body, headers);
        assert.deepEqual([answer.status, answer.body.code], [401, code], JSON.stringify(headers));
      }
      assert.deepEqual(await runsOf(id), []);
      assert.equal((await listed(id)).last_delivery?.status, 401);
      const late = await deliverTo(hook.url, body, standardHeaders(hook.secret!, 'msg', body, 295));
      assert.equal(late.status, 202, 'what was refused has not used its id up');
      assert.equal((await listed(id)).last_delivery?.status, 202);
    });

    it('a secret that was replaced is refused from then on', async () => {
      const id = await workflow();
      const hook = await makeStartHook(api, id, { verify: 'hmac-sha256' });
      const path = `/workflows/${id}/hooks/${hook.id}/`;
      const made = await api.patch<StartHook>(path, { body: { secret: null } });
      const own = await api.patch<StartHook>(path, { body: { secret: 'of the sender' } });
      assert.deepEqual([made.status, own.status, own.body.secret], [200, 200, 'of the sender']);
      assert.equal(own.body.url, hook.url);
      const statuses: number[] = [];
      for (const secret of [hook.secret!, made.body.secret!, 'of the sender']) {
        statuses.push((await deliverTo(hook.url, '{}', await gitHubHeaders(secret, randomUUID(), '{}'))).status);
      }
      assert.deepEqual(statuses, [401, 401, 202]);
    });
  });

  describe('403', () => {
    it('while the author of the hook may not run the workflow', async () => {
      const id = await workflow();
      const author = await createAccount(stack);
      await giveRole(stack, author, project, 'editor');
      const hook = await makeStartHook(author.api, id);
      assert.equal((await deliverTo(hook.url)).status, 202);
      const lose: (() => Promise<void>)[] = [
        () => giveRole(stack, author, project, 'viewer'),
        () => removeMembership(stack, author, project),
      ];
      for (const change of lose) {
        await change();
        const answer = await deliverTo(hook.url);
        assert.deepEqual([answer.status, answer.body.code], [403, 'permission_denied']);
        assert.equal((await listed(id)).inactive_reason, 'author_lost_access');
      }
      await giveRole(stack, author, project, 'editor');
      assert.equal((await listed(id)).inactive_reason, null);
      // Deliveries do not need the API access of the author, which is only for keys.
      await revokeAccess(stack, author);
      assert.equal((await deliverTo(hook.url)).status, 202);
      assert.equal((await runsOf(id)).length, 2);
    });
  });

  describe('404', () => {
    it('for an unknown or malformed token or a deleted hook, always with the same body; GET is a 405', async () => {
      const id = await workflow();
      const { url, id: hookId } = await makeStartHook(api, id);
      const known = url.split('/').at(-2)!;
      assert.match(known, /^[\w-]{43}$/);
      const forged = [
        randomBytes(32).toString('base64url'),
        `${known.slice(0, -1)}_`,
        `${known}A`,
        'x',
        '%00',
        '..%2f',
      ];
      for (const token of forged) {
        const answer = await deliverTo(url.replace(known, token));
        assert.deepEqual([answer.status, answer.text], [404, NOT_FOUND], token);
      }
      assert.equal((await fetch(url)).status, 405);
      assert.equal((await api.delete(`/workflows/${id}/hooks/${hookId}/`)).status, 204);
      const gone = await deliverTo(url);
      assert.deepEqual([gone.status, gone.text], [404, NOT_FOUND]);
    });

    it('when the workflow or the project is deleted; the hooks are deleted with it', async () => {
      const id = await workflow();
      const owned = await api.createProject();
      const inProject = await api.createWorkflow(owned, echo());
      const hooks = [await makeStartHook(api, id), await makeStartHook(api, inProject, { verify: 'hmac-sha256' })];
      assert.equal((await deliverTo(hooks[0]!.url)).status, 202);
      await api.delete(`/workflows/${id}/`);
      await api.delete(`/projects/${owned}/`);
      for (const { url } of hooks) assert.equal((await deliverTo(url)).status, 404);
      const left = await queryDatabase(stack, 'SELECT id FROM hooks WHERE id = ANY ($1)', [
        hooks.map((hook) => hook.id),
      ]);
      assert.deepEqual(left, []);
    });
  });

  describe('422', () => {
    it('names the fields that the trigger refuses, and the id can be used again', async () => {
      const id = await workflow(echo([{ id: 'topic', input_requirements: true }]));
      const { url } = await makeStartHook(api, id);
      const refused = await deliverTo(url, '{"other":1}', { 'webhook-id': 'event' });
      assert.deepEqual(
        [refused.status, refused.body],
        [
          422,
          {
            detail: 'The workflow does not take this input.',
            code: 'invalid_input',
            errors: { topic: ['Field required'] },
          },
        ],
      );
      assert.deepEqual(await runsOf(id), []);
      assert.equal((await listed(id)).last_delivery?.status, 422);
      const accepted = await deliverTo(url, '{"topic":"cats"}', { 'webhook-id': 'event' });
      assert.equal(accepted.status, 202);
      assert.deepEqual(await runsOf(id), [accepted.body.id]);
    });

    it('for a drawing that cannot run, without any details', async () => {
      for (const data of [{}, chain(2, () => llm(''))]) {
        const id = await workflow(data);
        const { url } = await makeStartHook(api, id);
        const answer = await deliverTo(url, '{}', { 'webhook-id': 'event' });
        assert.deepEqual(
          [answer.status, answer.body],
          [422, { detail: 'The workflow cannot run as it is drawn.', code: 'invalid_workflow' }],
        );
        assert.deepEqual(await runsOf(id), []);
        await api.patch(`/workflows/${id}/`, { body: { data: echo() } });
        assert.equal((await deliverTo(url, '{}', { 'webhook-id': 'event' })).status, 202);
      }
    });
  });

  describe('429', () => {
    it('of 70 concurrent deliveries 60 are accepted, and more when the minute has ended', async () => {
      const id = await workflow();
      const hook = await makeStartHook(api, id);
      const answers = await Promise.all(Array.from({ length: 70 }, () => deliverTo(hook.url)));
      const throttled = answers.filter(({ status }) => status === 429);
      assert.deepEqual([throttled.length, answers.filter(({ status }) => status === 202).length], [10, 60]);
      for (const { headers, body } of throttled) {
        const seconds = Number(headers.get('retry-after'));
        assert.ok(seconds >= 1 && seconds <= 60);
        assert.equal(body.code, 'throttled');
      }
      assert.equal((await listed(id)).last_delivery?.status, 202);
      const { url } = await makeStartHook(api, id);
      assert.equal((await deliverTo(url)).status, 202, 'each hook has its own minute');
      await endMinute(stack, hook.id);
      assert.equal((await deliverTo(hook.url)).status, 202);
    });

    it('wrong signatures have a limit of their own, so that they do not block the right sender', async () => {
      const hook = await makeStartHook(api, await workflow(), { verify: 'hmac-sha256' });
      const wrong = await Promise.all(Array.from({ length: 65 }, () => deliverTo(hook.url)));
      assert.deepEqual(
        [401, 429].map((status) => wrong.filter((answer) => answer.status === status).length),
        [60, 5],
      );
      const right = await deliverTo(hook.url, '{}', await gitHubHeaders(hook.secret!, randomUUID(), '{}'));
      assert.equal(right.status, 202);
    });
  });

  describe('hostile bodies', () => {
    it('that are no text, too deep, too large or compressed are refused, and start nothing', async () => {
      const id = await workflow();
      const { url } = await makeStartHook(api, id);
      for (const [body, status, headers] of [
        [new Uint8Array([0xff, 0xfe, 0x00]), 400, {}],
        ['a\0b', 400, {}],
        ['{"a":"\\u0000"}', 400, {}],
        ['{"a":"\\ud800"}', 400, {}],
        ['['.repeat(100_000), 400, {}],
        [`[${'1,'.repeat(500_001)}1]`, 400, {}],
        ['a=1&'.repeat(10_001), 400, { 'content-type': 'application/x-www-form-urlencoded' }],
        ['payload={"a":"%5Cu0000"}', 400, { 'content-type': 'application/x-www-form-urlencoded' }],
        [`payload=${'['.repeat(100_000)}`, 400, { 'content-type': 'application/x-www-form-urlencoded' }],
        ['x'.repeat(10 * 1024 * 1024 + 1), 413, {}],
        ['{}', 415, { 'content-encoding': 'gzip' }],
      ] as const) {
        const answer = await deliverTo(url, body, { 'webhook-id': 'hostile', ...headers });
        assert.equal(answer.status, status, answer.text);
      }
      assert.deepEqual(await runsOf(id), []);
      const { body } = await deliverTo(url, '{"__proto__":{"a":1},"constructor":2}', { 'webhook-id': 'hostile' });
      const { data } = await api.pollToEnd(body.id);
      assert.equal(JSON.stringify(data.output), '{"__proto__":{"a":1},"constructor":2}');
    });

    it('may have 10 MiB without a signature, and 1 MiB with one', async () => {
      const id = await workflow(chain(1));
      const open = await makeStartHook(api, id, { verify: 'none' });
      assert.equal((await deliverTo(open.url, 'x'.repeat(10 * 1024 * 1024), {})).status, 202);
      const hook = await makeStartHook(api, id, { verify: 'standard-webhooks' });
      for (const [bytes, status] of [
        [1024 * 1024, 202],
        [1024 * 1024 + 1, 413],
      ] as const) {
        const body = 'x'.repeat(bytes);
        const answer = await deliverTo(hook.url, body, standardHeaders(hook.secret!, `large ${bytes}`, body));
        assert.equal(answer.status, status, answer.text);
      }
    });
  });
});
