import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { pageOfMessages } from '../../../db/conversations/messages-repository.js';
import { createDatabase } from '../../../db/core/client.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { drawing, link, llm, node, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { endedDaysAgo, openRetention } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createFileClient } from '../../support/upload.js';
import { callBack, callbackUrlOf, untilWaiting } from '../../support/waiting.js';
import { createAccount, giveRole, restrictedTo, type Account } from '../accounts.js';
import {
  answerTo,
  converse,
  createChat,
  createChatDrawing,
  heard,
  messagesOf,
  post,
  say,
  type Conversation,
} from './chats.js';

const { data: DRAWING, pause: PAUSE, person: PERSON } = createChatDrawing();

describe('conversations', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let project: number;
  let chat: number;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    api = account.api;
    project = await api.createProject();
    chat = await createChat(api, project, DRAWING);
  });

  const release = async (runId: string): Promise<void> => {
    assert.equal((await callBack(await callbackUrlOf(api, runId, PAUSE))).status, 200);
  };

  describe('as records', () => {
    it('are made, listed by end user, renamed and deleted; a workflow that is no chat cannot have any', async () => {
      const ada = await converse(api, chat, { title: 'First', user: 'ada', inputs: { tone: 'calm', big: 12 } });
      const { id, title, user, inputs, created_at: createdAt } = ada;
      assert.deepEqual({ title, user, inputs }, { title: 'First', user: 'ada', inputs: { tone: 'calm', big: 12 } });
      assert.equal(new Date(createdAt).toISOString(), createdAt);
      await converse(api, chat, { user: 'bob' });
      const path = `/workflows/${chat}/conversations/`;
      const found = await api.get<{ total: number; items: Conversation[] }>(`${path}?user=ada`);
      assert.deepEqual([found.status, found.body.total, found.body.items], [200, 1, [ada]]);
      const renamed = await api.patch<Conversation>(`/conversations/${id}/`, { body: { title: 'Second' } });
      assert.deepEqual([renamed.status, renamed.body], [200, { ...ada, title: 'Second' }]);
      assert.deepEqual((await api.get(`/conversations/${id}/`)).body, renamed.body);
      assert.equal((await api.delete(`/conversations/${id}/`)).status, 204);
      assert.equal((await api.get(`/conversations/${id}/`)).status, 404);
      const other = await api.createWorkflow(project, DRAWING);
      for (const { status, body } of [
        await api.get<Record<string, unknown>>(`/workflows/${other}/conversations/`),
        await api.post<Record<string, unknown>>(`/workflows/${other}/conversations/`, { body: {} }),
      ])
        assert.deepEqual([status, body['code']], [400, 'not_chat']);
    });

    it('are changed by their author, read by owners and admins, and unknown to everybody else', async () => {
      const member = async (role: 'admin' | 'editor' | 'viewer') => {
        const made = await createAccount(stack);
        await giveRole(stack, made, project, role);
        return made;
      };
      const [admin, editor, viewer] = [await member('admin'), await member('editor'), await member('viewer')];
      const stranger = await createAccount(stack);
      const { id } = await converse(editor.api, chat);
      await answerTo(editor.api, id, await say(editor.api, id, 'mine'));
      const outcome = async ({ api: by }: Pick<Account, 'api'>) => {
        const own = `/conversations/${id}/`;
        const answers = [
          await by.get(own),
          await by.get(`${own}messages/`),
          await by.patch(own, { body: { title: 'x' } }),
          await by.post(`${own}messages/`, { body: { content: 'x' } }),
          await by.delete(own),
        ];
        return answers.map(({ status }) => status).join(' ');
      };
      assert.equal(await outcome(admin), '200 200 403 403 403');
      assert.equal(await outcome(account), '200 200 403 403 403');
      assert.equal(await outcome(viewer), '404 404 404 404 404');
      assert.equal(await outcome(stranger), '404 404 404 404 404');
      assert.equal((await viewer.api.post(`/workflows/${chat}/conversations/`, { body: {} })).status, 403);
      const elsewhere = await restrictedTo(stack, await editor.api.createProject(), editor);
      assert.equal((await elsewhere.api.get(`/conversations/${id}/`)).status, 403);
      const listOf = async (by: ApiClient) =>
        (await by.get<{ items: Conversation[] }>(`/workflows/${chat}/conversations/?size=100`)).body.items.map(
          (conversation) => conversation.id,
        );
      assert.deepEqual(await listOf(editor.api), [id]);
      assert.equal((await listOf(admin.api)).includes(id), true);
      assert.deepEqual(await listOf(viewer.api), []);
      await giveRole(stack, editor, project, 'viewer');
      assert.equal(await outcome(editor), '200 200 403 403 403');
    });

    it('wrong bodies are refused with the field, and nothing is stored', async () => {
      const wrong: [object, string][] = [
        [{ inputs: [] }, 'inputs'],
        [{ inputs: { messages: [] } }, 'inputs'],
        [{ inputs: { text: 'x'.repeat(70_000) } }, 'inputs'],
        [{ user: 7 }, 'user'],
        [{ title: 'x'.repeat(256) }, 'title'],
      ];
      for (const [body, field] of wrong) {
        const answer = await api.post<object>(`/workflows/${chat}/conversations/`, { body });
        assert.deepEqual([answer.status, Object.keys(answer.body)], [400, [field]]);
      }
      const { id } = await converse(api, chat);
      const messages: [object, string][] = [
        [{}, 'content'],
        [{ content: ' ' }, 'content'],
        [{ content: ['x'] }, 'content'],
        [{ content: 'x'.repeat(262_145) }, 'content'],
        [{ content: 'x', files: ['x'] }, 'files'],
        [{ content: 'x', files: Array.from({ length: 101 }, () => randomUUID()) }, 'files'],
        [{ content: 'x', on_busy: 'wait' }, 'on_busy'],
        [{ content: 'x', replaces: 'x' }, 'replaces'],
        [{ content: 'x', replaces: randomUUID() }, 'replaces'],
      ];
      for (const [body, field] of messages) {
        const answer = await post(api, id, body);
        assert.deepEqual([answer.status, Object.keys(answer.body)], [400, [field]], JSON.stringify(body).slice(0, 80));
      }
      const unknown = await post(api, id, { content: 'x', files: [randomUUID()] });
      assert.deepEqual([unknown.status, Object.keys(unknown.body)], [422, ['detail', 'code', 'errors']]);
      assert.deepEqual(await messagesOf(api, id), []);
    });
  });

  describe('messages', () => {
    it('start runs that get the earlier messages, and whose outputs become messages with their cost', async () => {
      const asked = llm('{{ input.message }}');
      const begin = trigger([{ id: 'tone', label: 'Tone', type: 'text', input_requirements: true }]);
      link(begin, asked);
      const paid = await createChat(api, project, drawing([begin, asked]));
      const { id } = await converse(api, paid, { inputs: { tone: 'calm' } });
      const first = await say(api, id, 'Hello\nthere');
      const { role, content, files, run_id: of, status, cost, error, replaces } = first.message;
      assert.deepEqual(
        { role, content, files, of, cost, error, replaces },
        { role: 'user', content: 'Hello\nthere', files: [], of: first.run_id, cost: null, error: null, replaces: null },
      );
      assert.match(status, /^in (queue|progress)$/);
      const answer = await answerTo(api, id, first);
      assert.deepEqual([answer.content, answer.status, answer.error], ['echo: Hello\nthere', 'succeed', null]);
      const run = await api.history(paid, first.run_id);
      assert.notEqual(run.cost['USD'], '0');
      assert.deepEqual(answer.cost, run.cost);
      const second = await say(api, id, 'Again');
      await answerTo(api, id, second);
      assert.deepEqual((await api.history(paid, second.run_id))['input_data'], {
        tone: 'calm',
        message: 'Again',
        messages: [
          { role: 'user', content: 'Hello\nthere' },
          { role: 'assistant', content: 'echo: Hello\nthere' },
          { role: 'user', content: 'Again' },
        ],
        conversation_id: id,
        files: [],
      });
      const all = await messagesOf(api, id);
      assert.deepEqual(
        all.map((message) => [message.role, message.run_id]),
        [first, first, second, second].map((sent, at) => [at % 2 === 0 ? 'user' : 'assistant', sent.run_id]),
      );
      assert.equal((await api.get<Conversation>(`/conversations/${id}/`)).body.title, 'Hello');
      const refused = await post(api, (await converse(api, paid)).id, { content: 'x' });
      assert.deepEqual(
        [refused.status, Object.keys((refused.body as unknown as { errors: object }).errors)],
        [422, ['tone']],
      );
    });

    it('have answers with U+FFFD in place of half a surrogate pair', async () => {
      stack.modelProvider.script('half-a-word', [{ text: 'before \ud83d after' }]);
      const begin = trigger();
      const asked = llm('{{ input.message }}', { settings: { model_name: 'half-a-word' } });
      link(begin, asked);
      const { id } = await converse(api, await createChat(api, project, drawing([begin, asked])));
      const answer = await answerTo(api, id, await say(api, id, 'Hello'));
      assert.deepEqual([answer.content, answer.status], ['before \uFFFD after', 'succeed']);
    });

    it('wait in a queue for earlier ones, in order; a run that waits for a person does not block them', async () => {
      const { id } = await converse(api, chat);
      const held = await say(api, id, 'hold 1');
      const others = [await say(api, id, 'two'), await say(api, id, 'three')];
      await untilWaiting(api, held.run_id, PAUSE);
      for (const { run_id: runId, message } of others) {
        assert.equal(message.status, 'in queue');
        assert.equal((await api.poll(runId)).data.status, 'in queue');
      }
      await release(held.run_id);
      const [two, three] = [await answerTo(api, id, others[0]!), await answerTo(api, id, others[1]!)];
      assert.deepEqual(heard(two), ['hold 1', '(answer)', 'two']);
      assert.deepEqual(heard(three), ['hold 1', '(answer)', 'two', '(answer)', 'three']);
      const asking = await say(api, id, 'ask 4');
      const behind = await say(api, id, 'five');
      assert.deepEqual(heard(await answerTo(api, id, behind)).slice(-2), ['ask 4', 'five']);
      assert.equal((await untilWaiting(api, asking.run_id, PERSON)).waiting?.for, 'human');
    });

    it('with `stop` cancel earlier ones, with `reject` are a 409; a cancelled run keeps status and error', async () => {
      const { id } = await converse(api, chat);
      const held = await say(api, id, 'hold');
      await untilWaiting(api, held.run_id, PAUSE);
      const queued = await say(api, id, 'queued');
      const rejected = await post(api, id, { content: 'x', on_busy: 'reject' }, { 'idempotency-key': randomUUID() });
      assert.deepEqual([rejected.status, (rejected.body as unknown as { code: string }).code], [409, 'busy']);
      const last = await say(api, id, 'last', { on_busy: 'stop' });
      assert.deepEqual(heard(await answerTo(api, id, last)), ['hold', 'queued', 'last']);
      for (const stopped of [held, queued]) {
        const { status, content, error } = await answerTo(api, id, stopped);
        assert.deepEqual([status, content, error?.code], ['cancelled', null, 'cancelled']);
      }
      const { status } = await post(api, id, { content: 'free', on_busy: 'reject' });
      assert.equal(status, 201);
    });

    it('a queued run can be cancelled at once, and the next one takes its turn', async () => {
      const { id } = await converse(api, chat);
      const held = await say(api, id, 'hold');
      await untilWaiting(api, held.run_id, PAUSE);
      const [queued, next] = [await say(api, id, 'queued'), await say(api, id, 'next')];
      const cancelled = await api.post<Record<string, unknown>>(`/workflows/${chat}/history/${queued.run_id}/cancel/`);
      assert.deepEqual([cancelled.status, cancelled.body['status']], [200, 'Cancelled']);
      await release(held.run_id);
      assert.deepEqual(heard(await answerTo(api, id, next)), ['hold', '(answer)', 'queued', 'next']);
    });

    it('that replace an earlier one begin a new branch; the old branch stays readable', async () => {
      const { id } = await converse(api, chat);
      const sent = [];
      for (const content of ['one', 'two', 'three']) {
        const posted = await say(api, id, content);
        sent.push({ ...posted, answer: await answerTo(api, id, posted) });
      }
      const two = sent[1]!;
      const anew = await say(api, id, 'two, please', { replaces: two.answer.id });
      assert.equal(anew.message.replaces, two.message.id);
      assert.deepEqual(heard(await answerTo(api, id, anew)), ['one', '(answer)', 'two, please']);
      const after = await say(api, id, 'four');
      assert.deepEqual(heard(await answerTo(api, id, after)), ['one', '(answer)', 'two, please', '(answer)', 'four']);
      assert.equal((await messagesOf(api, id)).length, 10);
    });

    it('of a page that is too long are cut; an answer without content is not', async () => {
      const { id } = await converse(api, chat);
      for (const content of ['one', 'two', 'three']) await answerTo(api, id, await say(api, id, content));
      await queryDatabase(
        stack,
        `UPDATE conversation_messages SET answer = CASE ordinal WHEN ordinals.first THEN repeat('x', 1048577)
          WHEN ordinals.last THEN repeat('y', 1001) END
        FROM (SELECT min(ordinal) AS first, max(ordinal) AS last FROM conversation_messages WHERE conversation_id = $1)
          AS ordinals
        WHERE conversation_id = $1`,
        [id],
      );
      const options = { poolMax: 1, applicationName: 'test', onError: () => undefined };
      const db = createDatabase({ url: stack.stack.database_url, ...options });
      try {
        const { messages } = await pageOfMessages(db, id, { limit: 100, offset: 0 });
        const answers = messages.filter(({ role }) => role === 'assistant');
        assert.deepEqual(
          answers.map(({ content, isCut }) => [content?.length, isCut]),
          [
            [1_000, true],
            [undefined, false],
            [1_000, true],
          ],
        );
      } finally {
        await db.destroy();
      }
    });

    it('with the same Idempotency-Key start one run, even concurrently; another body is refused', async () => {
      const { id } = await converse(api, chat);
      const headers = { 'idempotency-key': randomUUID() };
      const answers = await Promise.all(Array.from({ length: 4 }, () => post(api, id, { content: 'once' }, headers)));
      assert.deepEqual(
        answers.map(({ status, body }) => [status, body.run_id, body.message.id]),
        answers.map(() => [201, answers[0]!.body.run_id, answers[0]!.body.message.id]),
      );
      assert.equal(answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true').length, 3);
      const other = await post(api, id, { content: 'twice' }, headers);
      assert.deepEqual([other.status, (other.body as unknown as { code: string }).code], [400, 'idempotency_mismatch']);
    });

    it('sent concurrently are answered one after the other, each by one run; too many are a 409', async () => {
      const { id } = await converse(api, chat);
      const sent = await Promise.all(Array.from({ length: 5 }, (_, index) => say(api, id, `m${index}`)));
      const answers = await Promise.all(sent.map((posted) => answerTo(api, id, posted)));
      const lines = answers.map(heard).toSorted((one, other) => one.length - other.length);
      const order = lines.map((line) => line.at(-1)!);
      assert.deepEqual(order.toSorted(), ['m0', 'm1', 'm2', 'm3', 'm4']);
      assert.deepEqual(
        lines,
        order.map((_, index) =>
          order.slice(0, index + 1).flatMap((said, at) => (at < index ? [said, '(answer)'] : [said])),
        ),
      );
      await say(api, id, 'hold');
      const many = await Promise.all(Array.from({ length: 22 }, () => post(api, id, { content: 'x' })));
      assert.deepEqual(
        many.map(({ status }) => status).toSorted((one, other) => one - other),
        [...Array.from({ length: 20 }, () => 201), 409, 409],
      );
      const last = 'UPDATE conversation_messages SET ordinal = 10000 WHERE run_id = $1';
      await queryDatabase(stack, last, [many.find(({ status }) => status === 201)!.body.run_id]);
      const { status, body } = await post(api, id, { content: 'x', on_busy: 'stop' });
      assert.deepEqual([status, (body as unknown as { code: string }).code], [409, 'conversation_full']);
      assert.equal((await api.delete(`/conversations/${id}/`)).status, 204);
    });

    it('that are queued are checked when their turn comes: access of the author, and is_chat', async () => {
      const editor = await createAccount(stack);
      await giveRole(stack, editor, project, 'editor');
      const own = await createChat(api, project, DRAWING);
      const [mine, theirs] = [await converse(api, own), await converse(editor.api, own)];
      const begin = async (by: ApiClient, id: string) => {
        const held = await say(by, id, 'hold');
        const queued = await say(by, id, 'queued');
        await untilWaiting(by, held.run_id, PAUSE);
        return { held, queued };
      };
      const [first, second] = [await begin(api, mine.id), await begin(editor.api, theirs.id)];
      await giveRole(stack, editor, project, 'viewer');
      await release(second.held.run_id);
      assert.equal((await answerTo(api, theirs.id, second.queued)).error?.code, 'author_lost_access');
      await api.patch(`/workflows/${own}/`, { body: { is_chat: false } });
      await release(first.held.run_id);
      const refused = await answerTo(api, mine.id, first.queued);
      assert.deepEqual([refused.status, refused.error?.code], ['failed', 'not_chat']);
      const { status, body } = await post(api, mine.id, { content: 'x' });
      assert.deepEqual([status, (body as unknown as { code: string }).code], [400, 'not_chat']);
      assert.equal((await messagesOf(api, mine.id)).length, 4);
    });

    it('a deleted conversation cancels its open runs, also those that wait for a person', async () => {
      const { id } = await converse(api, chat);
      const asking = await say(api, id, 'ask');
      await untilWaiting(api, asking.run_id, PERSON);
      const held = await say(api, id, 'hold');
      const queued = await say(api, id, 'queued');
      assert.equal((await api.delete(`/conversations/${id}/`)).status, 204);
      assert.equal((await post(api, id, { content: 'x' })).status, 404);
      const records = await queryDatabase<{ action: string }>(
        stack,
        'SELECT action FROM audit_records WHERE target_id = ANY ($1) ORDER BY action',
        [[id, asking.run_id, held.run_id, queued.run_id]],
      );
      assert.deepEqual(
        records.map(({ action }) => action),
        ['conversation.created', 'conversation.deleted', 'run.cancelled', 'run.cancelled', 'run.cancelled'],
      );
      for (const { run_id: runId } of [asking, held, queued]) {
        await api.pollToEnd(runId);
        assert.equal((await api.history(chat, runId)).status, 'Cancelled');
      }
    });
  });

  it('files of a message are input.files of its run, those in the output are files of the answer', async () => {
    const client = createFileClient({ apiUrl: stack.apiUrl, apiKey: account.apiKey });
    const file = await client.upload(project, `bytes ${randomUUID()}`);
    const [begin, end] = [trigger(), node('output', { value: { got: '{{ input.files }}' } })];
    link(begin, end);
    const { id } = await converse(api, await createChat(api, project, drawing([begin, end])));
    const sent = await say(api, id, '', { files: [file.file_id] });
    assert.deepEqual(sent.message.files, [file]);
    const answer = await answerTo(api, id, sent);
    assert.deepEqual([answer.files, JSON.parse(answer.content!)], [[file], { got: [file] }]);
    const facts = async () =>
      (await api.get<{ used_by: Record<string, number> }>(`/files/${file.file_id}/`)).body.used_by;
    assert.deepEqual((await facts())['messages'], 2);
    assert.equal((await api.delete(`/files/${file.file_id}/`)).status, 204);
    assert.deepEqual(
      (await messagesOf(api, id)).map(({ files }) => files),
      [[{ ...file, deleted: true }], [{ ...file, deleted: true }]],
    );
  });

  it('answers stay when the results of their runs are deleted; a conversation goes with its workflow', async () => {
    const file = await createFileClient({ apiUrl: stack.apiUrl, apiKey: account.apiKey }).upload(project, randomUUID());
    const own = await createChat(api, project, DRAWING);
    const { id } = await converse(api, own, { inputs: { kept: file } });
    const sent = await say(api, id, 'Hello', { files: [file] });
    await answerTo(api, id, sent);
    const before = await messagesOf(api, id);
    const retention = openRetention(stack);
    try {
      await endedDaysAgo(stack, 31, sent.run_id);
      await retention.round();
      assert.equal((await api.poll(sent.run_id)).data.status, 'not found');
      assert.deepEqual(await messagesOf(api, id), before);
      const usedBy = () => api.get<{ used_by: Record<string, number> }>(`/files/${file.file_id}/`);
      const { runs, messages } = (await usedBy()).body.used_by;
      assert.deepEqual({ runs, messages }, { runs: 0, messages: 2 });
      assert.equal((await api.delete(`/workflows/${own}/`)).status, 204);
      assert.equal((await api.get(`/conversations/${id}/`)).status, 404);
      await retention.round();
      assert.deepEqual(await queryDatabase(stack, 'SELECT FROM conversations WHERE workflow_id = $1', [own]), []);
      assert.equal((await usedBy()).body.used_by['messages'], 0);
    } finally {
      await retention.close();
    }
  });

  it('secrets of the inputs and of the drawing are masked in messages, and reach the run', async () => {
    const secret = `secret-${randomUUID()}`;
    const begin = trigger([{ id: 'token', label: 'Token', type: 'text', is_secret: true }]);
    const [checks, end] = [
      node('set', { value: '{{ input.token }}' }),
      node('output', { value: '{{ input.message }}' }),
    ];
    link(begin, checks);
    link(checks, end);
    const { id, inputs } = await converse(api, await createChat(api, project, drawing([begin, checks, end])), {
      inputs: { token: secret },
    });
    assert.deepEqual(inputs, { token: '********' });
    const sent = await say(api, id, `It is ${secret}.`);
    assert.equal(sent.message.content, 'It is ********.');
    assert.equal((await answerTo(api, id, sent)).content, 'It is ********.');
    await eventually(async () => (await api.poll(sent.run_id)).data.status === 'succeed');
    assert.equal(JSON.stringify(await messagesOf(api, id)).includes(secret), false);
  });
});
