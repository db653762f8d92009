import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createAccount, giveRole, type Account } from '../api/accounts.js';
import { oauthConnection, signIn } from '../api/connections/sign-in.js';
import { answerTo, converse, createChat, messagesOf, say } from '../api/conversations/chats.js';
import { eventually } from '../../harness/timing/eventually.js';
import type { ModelAnswer } from '../../harness/target/fake-model-provider.js';
import { agent, drawing, http, linkInRow, llm, node, trigger } from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import { createGate } from '../../harness/timing/gate.js';
import { startTokenProvider } from '../support/token-provider.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { startToolServer } from '../../harness/target/tool-server.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const LONG = Array.from({ length: 60 }, (_, line) => `Line ${line}`).join('\n\n');

const log = (page: Page): Locator => page.getByRole('log', { name: 'Messages' });
const field = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' });
const button = (within: Page | Locator, name: string): Locator => within.getByRole('button', { name, exact: true });
const answers = (page: Page): Locator => log(page).getByRole('article', { name: 'Answer', exact: true });
const top = (page: Page): Promise<number> => log(page).evaluate((element: { scrollTop: number }) => element.scrollTop);

/** Copies the first message of a conversation, with its run. */
const MORE_MESSAGES = `
  WITH first AS (SELECT * FROM conversation_messages WHERE conversation_id = $1), copies AS (
    SELECT number, gen_random_uuid() AS run_id FROM generate_series(1, $2::integer) AS number
  ), made AS (
    INSERT INTO runs SELECT copy.* FROM copies, first JOIN runs ON runs.id = first.run_id,
      LATERAL jsonb_populate_record(runs, jsonb_build_object('id', copies.run_id)) AS copy RETURNING id
  )
  INSERT INTO conversation_messages
    (id, conversation_id, ordinal, run_id, content, files, created_at, answer_id, answer, answered_at)
  SELECT gen_random_uuid(), $1, number + 1, copies.run_id, 'Number ' || number, '[]',
    now() + make_interval(secs => number), gen_random_uuid(), 'Answer ' || number, now() + make_interval(secs => number + 0.5)
  FROM copies, first`;

describe('the chat of a workflow', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({
    ...(await createOwner(stack, 'Talks')),
    tools: await startToolServer(),
    target: await startHttpTarget(),
    provider: await startTokenProvider(),
  }));

  /** Creates a chat whose model gives these answers, one after the other. */
  function modelChat(answer: ModelAnswer | ModelAnswer[]): Promise<number> {
    const model = `chat-${randomUUID()}`;
    world.stack.modelProvider.script(model, answer);
    const writer = llm('{{ input.message }}', { label: 'Answer', settings: { model_name: model, temperature: 0 } });
    return createChat(world.account.api, world.projectId, drawing(linkInRow([trigger(), writer])));
  }

  /** Creates a chat whose agent calls `note`, which a person must approve. */
  function agentChat(): Promise<number> {
    const model = `chat-${randomUUID()}`;
    world.stack.modelProvider.script(model, [
      { toolCalls: [{ name: 'note', arguments: { text: 'buy <b>milk</b>' } }] },
      { text: 'It is **noted**.' },
    ]);
    const clerk = agent('{{ input.message }}', { model_name: model }, [{ endpoint_url: world.tools.url }], {
      label: 'Clerk',
    });
    return createChat(world.account.api, world.projectId, drawing(linkInRow([trigger(), clerk])));
  }

  const open = (path: string, who: Account = world.account, options = {}): Promise<Page> =>
    world.browser.person(who.userId, `/workflows/${path}`, options);
  const begin = async (workflowId: number): Promise<string> => (await converse(world.account.api, workflowId)).id;

  it('begins from the editor of a workflow that one switch has made a chat', async () => {
    const id = await modelChat({ text: 'Good day' });
    await world.account.api.patch(`/workflows/${id}/`, { body: { is_chat: false } });
    const page = await open(`${id}`);
    await button(page, 'More').click();
    assert.equal(await page.getByRole('menuitem', { name: 'Chat', exact: true }).count(), 0);
    await page.getByRole('menuitem', { name: 'Starts by itself' }).click();
    const section = page.getByRole('region', { name: 'Chat', exact: true });
    await section.getByRole('checkbox', { name: 'Offer as chat' }).check();
    await section.getByRole('link', { name: 'Open the chat' }).waitFor();
    await assertAccessible(page, 'the switch of a chat');
    await eventually(async () => (await world.account.api.get<{ is_chat: boolean }>(`/workflows/${id}/`)).body.is_chat);
    await page.goto(`${world.stack.apiUrl}/workflows/${id}`);
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Chat', exact: true }).click();
    await page.getByText('There is no conversation yet.').waitFor();
    await button(page, 'New conversation').click();
    await field(page).fill('Hello');
    await field(page).press('Enter');
    await answers(page).getByText('Good day').waitFor();
    await page
      .getByRole('list', { name: 'Conversations' })
      .getByRole('link', { name: /^Hello/ })
      .waitFor();
    await page.context().close();
  });

  it('shows words as they come, and the text so far to a person who opens the chat during an answer', async () => {
    const isSeen = createGate();
    const parts = ['It *begins*', isSeen, ' and <img src=x onerror="document.title=1"> ends'];
    const id = await modelChat({ parts });
    const conversation = await begin(id);
    const page = await open(`${id}/chat/${conversation}`);
    await field(page).fill('first line');
    await field(page).press('Shift+Enter');
    await page.keyboard.type('second line');
    await button(page, 'Send').click();
    const answer = answers(page).last();
    await answer.getByText('begins', { exact: true }).waitFor();
    assert.equal(await answer.locator('em').innerText(), 'begins');
    await log(page).getByRole('group', { name: 'Question' }).getByText('first line\nsecond line').waitFor();
    const other = await open(`${id}/chat/${conversation}`);
    await answers(other).getByText('begins', { exact: true }).waitFor();
    await button(other, 'Stop').waitFor();
    isSeen.open();
    for (const each of [page, other]) {
      await answers(each).getByText('ends').waitFor();
      await answers(each).getByRole('link', { name: 'Run' }).waitFor();
      await answers(each)
        .getByText(/^[\d.]+ USD$/)
        .waitFor();
      await button(each, 'Stop').waitFor({ state: 'detached' });
      assert.match(await each.title(), /^Chat/);
    }
    await assertAccessible(page, 'a chat');
    await page.context().close();
    await other.context().close();
  });

  it('has approvals as cards, and tool calls as rows that open', async () => {
    const id = await agentChat();
    const page = await open(`${id}/chat/${await begin(id)}`);
    await field(page).fill('Note it');
    await field(page).press('Enter');
    const card = log(page).getByRole('article', { name: /^note/ });
    await card.getByText('buy <b>milk</b>').waitFor();
    const row = answers(page).getByRole('list', { name: 'Tool calls' }).getByRole('listitem');
    await row.getByText('waiting').waitFor();
    await assertAccessible(page, 'a chat with an approval');
    await button(card, 'Approve').click();
    await answers(page).getByText('noted', { exact: true }).waitFor();
    await page.reload();
    await row.getByText('done').click();
    await row.getByText('buy <b>milk</b>').first().waitFor();
    assert.equal(await row.count(), 1);
    await page.context().close();
  });

  it('has human tasks as cards with their buttons', async () => {
    const end = node('output', { value: 'It went on' });
    const actions = [{ id: 'yes', label: 'Go on', node: end.id }];
    const person = node('human', { label: 'Check', message: 'Shall it go on?', actions });
    const data = drawing([...linkInRow([trigger(), person]), end]);
    const id = await createChat(world.account.api, world.projectId, data);
    const conversation = await begin(id);
    await say(world.account.api, conversation, 'Begin');
    const page = await open(`${id}/chat/${conversation}`, world.account, NARROW);
    await answers(page).getByText('waiting', { exact: true }).waitFor();
    await button(log(page).getByRole('article', { name: 'Check' }), 'Go on').click();
    await answers(page).getByText('It went on').waitFor();
    await page.context().close();
  });

  it('has tasks of sub-workflows as cards, at any depth', async () => {
    const { api } = world.account;
    const person = node('human', { label: 'Check', message: 'Shall it go on?' });
    const inner = await api.createWorkflow(world.projectId, drawing(linkInRow([trigger(), person])));
    const calls = (id: number) => node('workflow', { label: 'Call it', workflow_id: id, input: {} });
    const outer = await api.createWorkflow(world.projectId, drawing(linkInRow([trigger(), calls(inner)])));
    const end = node('output', { value: 'It went on' });
    const id = await createChat(api, world.projectId, drawing(linkInRow([trigger(), calls(outer), end])));
    const conversation = await begin(id);
    await say(api, conversation, 'Begin');
    const page = await open(`${id}/chat/${conversation}`);
    await button(log(page).getByRole('article', { name: 'Check' }), 'Done').click();
    await answers(page).getByText('It went on').waitFor();
    await log(page).getByRole('article', { name: 'Check' }).waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('has a sign-in that is needed as a card with its button', async () => {
    const { account, projectId, stack } = world;
    const connection = await oauthConnection(account, projectId, world.provider, 'calendar');
    const call = http(`${world.provider.url}/day`, { label: 'Call', connection });
    const end = node('output', { value: 'It was read' });
    const id = await createChat(account.api, projectId, drawing(linkInRow([trigger(), call, end])));
    const conversation = await begin(id);
    await say(account.api, conversation, 'Begin');
    const page = await open(`${id}/chat/${conversation}`, account, NARROW);
    const card = log(page).getByRole('article', { name: 'Sign in again: calendar' });
    await button(card, 'Sign in').waitFor();
    await assertFits(page, 'a sign-in in a chat');
    await signIn(stack, account, { projectId, id: connection });
    await answers(page).getByText('It was read').waitFor();
    await page.context().close();
  });

  it('keeps what is typed while another conversation is looked at', async () => {
    const id = await modelChat([{ text: 'Yes' }, { text: 'Yes again' }]);
    const conversation = await begin(id);
    await answerTo(world.account.api, conversation, await say(world.account.api, conversation, 'Well?'));
    await world.account.api.patch(`/conversations/${await begin(id)}/`, { body: { title: 'Other' } });
    const page = await open(`${id}/chat/${conversation}`);
    const list = page.getByRole('list', { name: 'Conversations' });
    const draft = (): Promise<string> => field(page).inputValue();
    await field(page).fill('Half a sent');
    await list.getByRole('link', { name: /^Other/ }).click();
    await page.getByRole('heading', { name: 'Other' }).waitFor();
    assert.equal(await draft(), '');
    await list.getByRole('link', { name: /^Well/ }).click();
    await eventually(async () => (await draft()) === 'Half a sent');
    await button(log(page), 'Ask anew').click();
    assert.equal(await draft(), 'Well?');
    await button(page, 'Cancel').click();
    assert.equal(await draft(), 'Half a sent');
    await button(page, 'Send').click();
    await answers(page).getByText('Yes again').waitFor();
    assert.equal(await draft(), '');
    await page.context().close();
  });

  it('keeps what is typed while a message is being sent, the first one too', async () => {
    const id = await modelChat([{ text: 'Yes' }, { text: 'Yes again' }]);
    const page = await open(`${id}/chat`);
    const isTyped = [createGate(), createGate()];
    let sent = 0;
    await page.route('**/messages/', async (route) => {
      if (route.request().method() === 'POST') await isTyped[sent++]?.opened;
      await route.continue();
    });
    await button(page, 'New conversation').click();
    await field(page).fill('One');
    for (const [at, next] of ['Two', 'Three'].entries()) {
      await field(page).press('Enter');
      await eventually(() => sent === at + 1);
      await field(page).press('End');
      await page.keyboard.type(` ${next}`);
      isTyped[at]!.open();
      await eventually(async () => (await field(page).inputValue()) === next);
    }
    await answers(page).getByText('Yes again').waitFor();
    const conversation = new URL(page.url()).pathname.split('/').at(-1)!;
    const said = await messagesOf(world.account.api, conversation);
    assert.deepEqual(
      said.map(({ content }) => content),
      ['One', 'Yes', 'Two', 'Yes again'],
    );
    await page.context().close();
  });

  it('keeps what is typed into other fields, and the conversation of a failed message until it is used', async () => {
    const { api } = world.account;
    const fields = [{ id: 'tone', title: 'Tone', type: 'text', input_requirements: true }];
    for (const isUsed of [false, true]) {
      const end = node('output', { value: 'so {{ input.tone }}' });
      const id = await createChat(api, world.projectId, drawing(linkInRow([trigger(fields), end])));
      const older = await converse(api, id, { inputs: { tone: 'old' } });
      await api.patch(`/conversations/${older.id}/`, { body: { title: 'Older' } });
      const conversations = async () =>
        (await api.get<{ items: { id: string }[] }>(`/workflows/${id}/conversations/`)).body.items;
      const page = await open(`${id}/chat`);
      const tone = page.getByRole('textbox', { name: 'Tone' });
      await button(page, 'New conversation').click();
      await tone.fill('calm');
      await button(page, 'New conversation').click();
      await page.locator('textarea:focus').and(field(page)).waitFor();
      assert.equal(await tone.inputValue(), 'calm');
      await page.keyboard.type('Well?');
      await page.route('**/messages/', (route) =>
        route.request().method() === 'POST'
          ? route.fulfill({ status: 400, json: { detail: 'Not now.' } })
          : route.continue(),
      );
      await button(page, 'Send').click();
      await page.getByRole('alert').waitFor();
      await page
        .getByRole('list', { name: 'Conversations' })
        .getByRole('link', { name: /^Older/ })
        .click();
      await page.getByRole('heading', { name: 'Older' }).waitFor();
      await page.unroute('**/messages/');
      const failed = (await conversations()).find((conversation) => conversation.id !== older.id)!;
      if (isUsed) await say(api, failed.id, 'From elsewhere');
      await button(page, 'New conversation').click();
      assert.equal(await tone.inputValue(), 'calm');
      assert.equal(await field(page).inputValue(), 'Well?');
      await button(page, 'Send').click();
      await answers(page).getByText('so calm').waitFor();
      assert.equal((await conversations()).length, isUsed ? 3 : 2);
      await button(page, 'New conversation').click();
      assert.equal(await tone.inputValue(), '');
      await page.context().close();
    }
  });

  it('queues what is sent meanwhile, stops what is being answered, and asks it anew', async () => {
    const slow = { parts: ['Never ', { waitMs: 60_000 }, 'ready'] };
    const id = await modelChat([slow, { text: 'The second' }, { text: 'The third' }]);
    const conversation = await begin(id);
    const page = await open(`${id}/chat/${conversation}`);
    await field(page).fill('One');
    await field(page).press('Enter');
    await answers(page).getByText('Never').waitFor();
    await field(page).fill('Two');
    await field(page).press('Enter');
    await log(page).getByText('Queued: it is answered after the messages before it.').waitFor();
    await button(page, 'Stop').click();
    await answers(page).getByText('It was cancelled, so there is no answer.').waitFor();
    await answers(page).getByText('The second').waitFor();
    await button(answers(page).first(), 'Ask anew').click();
    assert.equal(await field(page).inputValue(), 'One');
    await field(page).fill('One, again');
    await field(page).press('Enter');
    await answers(page).getByText('The third').waitFor();
    assert.equal(await answers(page).count(), 1);
    await log(page).getByText('Before it was asked anew: 2 messages').click();
    await answers(page).getByText('The second').waitFor();
    const said = await messagesOf(world.account.api, conversation);
    assert.equal(said.find(({ content }) => content === 'One, again')?.replaces, said[0]!.id);
    await page.context().close();
  });

  it('stops what is being answered while an earlier message waits for a person', async () => {
    const path = `/hold/${randomUUID()}`;
    const call = http(`${world.target.url}${path}-{{ input.message }}`, { label: 'Call' });
    const person = node('human', { label: 'Check', message: 'Shall it go on?' });
    const id = await createChat(world.account.api, world.projectId, drawing(linkInRow([trigger(), call, person])));
    const page = await open(`${id}/chat/${await begin(id)}`);
    await field(page).fill('One');
    await field(page).press('Enter');
    await eventually(() => Promise.resolve(world.target.requestsTo(`${path}-One`).length === 1));
    await field(page).fill('Two');
    await field(page).press('Enter');
    await log(page).getByText('Queued: it is answered after the messages before it.').waitFor();
    world.target.release(`${path}-One`);
    await answers(page).first().getByText('waiting', { exact: true }).waitFor();
    await answers(page).nth(1).getByText('in progress', { exact: true }).waitFor();
    await button(page, 'Stop').click();
    await answers(page).nth(1).getByText('It was cancelled, so there is no answer.').waitFor();
    await answers(page).first().getByText('waiting', { exact: true }).waitFor();
    await page.context().close();
  });

  it('says in a sentence why there is no answer', async () => {
    const id = await modelChat({ status: 400, error: { message: 'The model is away.' } });
    const conversation = await begin(id);
    await answerTo(world.account.api, conversation, await say(world.account.api, conversation, 'Hello'));
    const page = await open(`${id}/chat/${conversation}`);
    await answers(page)
      .getByText(/^There is no answer, because the run failed\. .*The model is away\./)
      .waitFor();
    await button(answers(page), 'Ask anew').waitFor();
    await page.context().close();
  });

  it('takes files, and shows those of answers', async () => {
    const end = node('output', { value: { said: 'Here', file: '{{ input.files }}' } });
    const data = drawing(linkInRow([trigger(), end]));
    const id = await createChat(world.account.api, world.projectId, data);
    const page = await open(`${id}/chat/${await begin(id)}`);
    await page.locator('input[type=file]').setInputFiles({
      name: 'note.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('words of a file'),
    });
    await page.getByRole('list', { name: 'Files of Files' }).getByText('note.txt').waitFor();
    await field(page).fill('Look');
    await eventually(() => button(page, 'Send').isEnabled());
    await button(page, 'Send').click();
    await answers(page).getByRole('figure', { name: 'note.txt' }).getByText('words of a file').waitFor();
    assert.equal(await page.getByRole('list', { name: 'Files of Files' }).count(), 0);
    await page.context().close();
  });

  it('asks a message anew with its own files, not with one that is being uploaded meanwhile', async () => {
    const data = drawing(linkInRow([trigger(), node('output', { value: 'Yes' })]));
    const id = await createChat(world.account.api, world.projectId, data);
    const page = await open(`${id}/chat/${await begin(id)}`);
    const choose = (name: string) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(`words of ${name}`) });
    const files = page.getByRole('list', { name: 'Files of Files' });
    await choose('first.txt');
    await field(page).fill('Look');
    await eventually(() => button(page, 'Send').isEnabled());
    await button(page, 'Send').click();
    await answers(page).getByText('Yes').waitFor();
    const isOver = createGate();
    await page.route('**/api/v1/projects/*/files/', (route) => isOver.opened.then(() => route.abort()));
    await choose('second.txt');
    await files.getByText('second.txt').waitFor();
    await button(log(page), 'Ask anew').click();
    await files.getByText('first.txt').waitFor();
    assert.equal(await files.getByText('second.txt').count(), 0);
    const sent = page.waitForRequest((request) => request.url().endsWith('/messages/') && request.method() === 'POST');
    await button(page, 'Send').click();
    const { files: asked } = (await sent).postDataJSON() as { files: object[] };
    assert.equal(asked.length, 1);
    isOver.open();
    await page.context().close();
  });

  it('opens a conversation of a thousand messages at its end, and loads the earlier ones without moving it', async () => {
    const id = await modelChat({ text: 'Yes' });
    const conversation = await begin(id);
    await answerTo(world.account.api, conversation, await say(world.account.api, conversation, 'Number 0'));
    await queryDatabase(world.stack, MORE_MESSAGES, [conversation, 500]);
    const page = await open(`${id}/chat/${conversation}`);
    await answers(page).getByText('Answer 500', { exact: true }).waitFor();
    await eventually(async () => (await answers(page).count()) === 26);
    const first = log(page).getByText('Number 475', { exact: true });
    await log(page).evaluate((element: { scrollTop: number }) => (element.scrollTop = 0));
    await button(page, 'To the end').waitFor();
    const placeOf = async (): Promise<number> => Math.round((await first.boundingBox())!.y);
    const before = await placeOf();
    await button(page, 'Show earlier messages').click();
    await log(page).getByText('Number 451', { exact: true }).waitFor({ state: 'attached' });
    await eventually(async () => Math.abs((await placeOf()) - before) <= 2);
    await page.context().close();
  });

  it('moves nothing that is read above while an answer grows', async () => {
    const isRead = createGate();
    const id = await modelChat([{ text: LONG }, { parts: ['More', isRead, `\n\n${LONG}`] }]);
    const conversation = await begin(id);
    const page = await open(`${id}/chat/${conversation}`);
    await field(page).fill('Long');
    await field(page).press('Enter');
    await answers(page).getByText('Line 59').waitFor();
    await eventually(async () => (await top(page)) > 500);
    await field(page).fill('Longer');
    await field(page).press('Enter');
    await answers(page).getByText('More').waitFor();
    await log(page).evaluate((element: { scrollTop: number }) => (element.scrollTop = 300));
    await button(page, 'To the end').waitFor();
    const before = await top(page);
    isRead.open();
    await answers(page).last().getByText('Line 59').waitFor();
    assert.equal(await top(page), before);
    await button(page, 'To the end').click();
    await button(page, 'To the end').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('is renamed and deleted; a person who may only read gets no field, and other people do not find it', async () => {
    const id = await modelChat({ text: 'Yes' });
    const conversation = await begin(id);
    await answerTo(world.account.api, conversation, await say(world.account.api, conversation, 'Well?'));
    const [admin, editor, viewer] = await Promise.all(
      (['admin', 'editor', 'viewer'] as const).map(async (role) => {
        const account = await createAccount(world.stack);
        await giveRole(world.stack, account, world.projectId, role);
        return account;
      }),
    );
    const read = await open(`${id}/chat/${conversation}`, admin);
    await answers(read).getByText('Yes').waitFor();
    await read.getByText('Only the person who has begun this conversation writes in it.').waitFor();
    assert.equal(await field(read).count(), 0);
    await read.context().close();
    const lost = await open(`${id}/chat/${conversation}`, editor);
    await lost.getByRole('heading', { name: 'Not found' }).waitFor();
    await lost.context().close();
    const looks = await open(`${id}/chat`, viewer);
    await looks.getByText('There is no conversation yet.').waitFor();
    assert.equal(await button(looks, 'New conversation').count(), 0);
    await looks.context().close();
    const page = await open(`${id}/chat/${conversation}`);
    await button(page, 'Conversation').click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('My talk');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'My talk' }).waitFor();
    await button(page, 'Conversation').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button(page, 'Delete').click();
    await page.getByText('There is no conversation yet.').waitFor();
    assert.equal((await world.account.api.get(`/conversations/${conversation}/`)).status, 404);
    await page.context().close();
  });

  it('asks for the other fields of the trigger, fits a phone, and is accessible in the dark', async () => {
    const fields = [{ id: 'tone', title: 'Tone', type: 'text', input_requirements: true }];
    const end = node('output', { value: 'so {{ input.tone }}' });
    const id = await createChat(world.account.api, world.projectId, drawing(linkInRow([trigger(fields), end])));
    const page = await open(`${id}/chat`, world.account, { ...NARROW, colorScheme: 'dark' });
    await button(page, 'New conversation').click();
    await page.getByRole('textbox', { name: 'Tone' }).fill('calm');
    await field(page).fill('Well?');
    await button(page, 'Send').click();
    await answers(page).getByText('so calm').waitFor();
    await assertAccessible(page, 'a chat on a phone');
    await assertFits(page);
    assert.equal(await page.getByRole('list', { name: 'Conversations' }).isVisible(), false);
    await page.getByRole('link', { name: 'Conversations' }).click();
    await page.getByRole('list', { name: 'Conversations' }).waitFor();
    assert.equal(await field(page).count(), 0);
    await assertAccessible(page, 'the conversations on a phone');
    await assertFits(page);
    await page.context().close();
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
