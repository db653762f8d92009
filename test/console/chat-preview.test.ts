// The preview of a chat beside its drawing, and the message field with which a new chat opens.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import { createChat } from '../api/conversations/chats.js';
import { drawing, linkInRow, node, trigger } from '../../harness/drawing/drawing.js';
import { eventually } from '../../harness/timing/eventually.js';
import { createGate } from '../../harness/timing/gate.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';
import { countPresses } from './presses.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const graphNode = (page: Page, name: string) => region(page, 'Graph').getByRole('group', { name, exact: true });
const press = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true }).click();
const preview = (page: Page) => region(page, 'Chat preview');
const message = (page: Page | Locator) => page.getByRole('textbox', { name: 'Message', exact: true });
const answers = (page: Page | Locator) =>
  page.getByRole('log', { name: 'Messages' }).getByRole('article', { name: 'Answer', exact: true });

describe('a chat beside its drawing', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Chats') };
  });

  /** Opens a page for which the service lists one model. The model repeats the last message. */
  async function open(path: string, options?: object): Promise<Page> {
    const model = `echo-${randomUUID()}`;
    world.stack.modelProvider.script(model, ({ body }) => {
      const messages = body['messages'] as { content: string }[];
      return { text: `Heard: ${messages.at(-1)!.content}` };
    });
    const page = await world.browser.person(world.owner.userId, '/workflows', options);
    await page.route('**/api/v1/models/', async (route) => {
      const [first] = (await (await route.fetch()).json()) as object[];
      await route.fulfill({ json: [{ ...first, id: model }] });
    });
    if (path !== '/workflows') await page.goto(path);
    return page;
  }

  const empty = () => world.owner.api.createWorkflow(world.project, { nodes: [], edges: [] }, 'Talk');

  it('takes five presses from the list of workflows to two answers', async () => {
    const page = await open('/workflows');
    const pressed = await countPresses(page);
    await press(page, 'New workflow');
    await page.keyboard.type('Echo');
    await page.keyboard.press('Enter');
    await press(region(page, 'Start'), 'Chat');
    await message(preview(page)).waitFor();
    for (const text of ['Good morning', 'And good night']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
      await answers(page).getByText(`Heard: ${text}`).waitFor();
    }
    assert.equal(await pressed(), 5);
    await page.getByText('All changes saved').waitFor();
    await assertAccessible(page, 'the chat preview');
    const [graph, beside] = [await region(page, 'Graph').boundingBox(), await preview(page).boundingBox()];
    assert.ok(graph!.x + graph!.width <= beside!.x && beside!.height > 600, 'beside the canvas, in all its height');
    await preview(page).getByRole('link', { name: 'Open the chat' }).click();
    await answers(page).getByText('Heard: And good night').waitFor();
    await page.context().close();
  });

  it('leaves the focus in the field in which a person is typing when it appears', async () => {
    const id = await empty();
    const page = await open(`/workflows/${id}`);
    const gate = createGate();
    await page.route(`**/api/v1/workflows/${id}/`, async (route) => {
      if (route.request().method() === 'PATCH') await gate.opened;
      await route.continue();
    });
    await press(region(page, 'Start'), 'Chat');
    await preview(page).waitFor();
    await graphNode(page, 'Output').click();
    const label = region(page, 'Node').getByLabel('Label', { exact: true });
    await label.fill('Said ');
    gate.open();
    await message(preview(page)).waitFor();
    await page.keyboard.type('back');
    assert.equal(await label.inputValue(), 'Said back');
    assert.equal(await message(preview(page)).inputValue(), '');
    await page.context().close();
  });

  it('answers with what is drawn now, and keeps Undo of the drawing out of its field', async () => {
    const page = await open(`/workflows/${await empty()}`);
    await press(region(page, 'Start'), 'Chat');
    await graphNode(page, 'Output').click();
    const value = region(page, 'Node').getByRole('textbox', { name: 'Value', exact: true });
    await value.fill('Changed answer');
    await page.getByText('A message saves your changes first.').waitFor();
    await message(preview(page)).fill('Hello');
    await page.keyboard.press('Control+z');
    await graphNode(page, 'Output').getByText('Changed answer').waitFor();
    await message(preview(page)).fill('Hello');
    await page.keyboard.press('Enter');
    await answers(page).getByText('Changed answer').waitFor();
    await press(preview(page), 'New conversation');
    assert.equal(await answers(page).count(), 0);
    await press(preview(page), 'Close chat preview');
    await preview(page).waitFor({ state: 'detached' });
    await press(page, 'Chat preview');
    await message(preview(page)).waitFor();
    await page.context().close();
  });

  it('has another unsent message than the assistant of the same drawing', async () => {
    const page = await open(`/workflows/${await empty()}`);
    await press(region(page, 'Start'), 'Chat');
    await message(preview(page)).fill('For the chat');
    await press(page, 'Assistant');
    const assistant = message(region(page, 'Assistant'));
    assert.equal(await assistant.inputValue(), '');
    await assistant.fill('For the assistant');
    await press(page, 'Chat preview');
    assert.equal(await message(preview(page)).inputValue(), 'For the chat');
    await page.context().close();
  });

  it('says why a message was not sent, and loses neither message nor drawing', async () => {
    const page = await open(`/workflows/${await empty()}`);
    await press(region(page, 'Start'), 'Chat');
    await message(preview(page)).fill('Anybody there?');
    await page.route('**/api/v1/workflows/*/', (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    );
    await page.keyboard.press('Enter');
    await preview(page).getByRole('alert').getByText('cannot be reached').waitFor();
    assert.equal(await message(preview(page)).inputValue(), 'Anybody there?');
    await page.unroute('**/api/v1/workflows/*/');
    await press(preview(page), 'Try again');
    await answers(page).getByText('Heard: Anybody there?').waitFor();
    await page.context().close();
  });

  it('says why a drawing is not offered as a chat, and offers it when asked again', async () => {
    const id = await empty();
    const page = await open(`/workflows/${id}`);
    await page.route('**/api/v1/workflows/*/', (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    );
    await press(region(page, 'Start'), 'Chat');
    const alert = page.getByRole('alert').filter({ hasText: 'The workflow is not offered as a chat.' });
    await alert.getByText('cannot be reached').waitFor();
    await preview(page).waitFor({ state: 'detached' });
    await page.unroute('**/api/v1/workflows/*/');
    await press(alert, 'Try again');
    await preview(page).waitFor();
    await alert.waitFor({ state: 'detached' });
    await eventually(async () => (await world.owner.api.get<{ is_chat: boolean }>(`/workflows/${id}/`)).body.is_chat);
    await page.context().close();
  });

  it('fills a phone, and goes when it is closed', async () => {
    const page = await open(`/workflows/${await empty()}`, { ...NARROW, colorScheme: 'dark' });
    await press(region(page, 'Start'), 'Chat');
    await message(preview(page)).fill('Hello');
    await press(preview(page), 'Send');
    await answers(page).getByText('Heard: Hello').waitFor();
    await assertAccessible(page, 'the chat preview on a phone');
    await assertFits(page, 'the chat preview');
    assert.deepEqual(await preview(page).boundingBox(), { x: 0, y: 0, width: 390, height: 844 });
    await press(preview(page), 'Close chat preview');
    await graphNode(page, 'Output').waitFor();
    await page.context().close();
  });

  it('opens with a composer, which begins the conversation, and with the fields that it needs', async () => {
    const fields = [{ id: 'tone', title: 'Tone', type: 'text', input_requirements: true }];
    const end = node('output', { value: 'so {{ input.tone }}: {{ input.message }}' });
    const id = await createChat(world.owner.api, world.project, drawing(linkInRow([trigger(fields), end])));
    const page = await open(`/workflows/${id}/chat`);
    await message(page).fill('Well?');
    await press(page, 'Send');
    const tone = page.getByRole('textbox', { name: 'Tone' });
    await eventually(() =>
      tone.evaluate((field: { matches: (selector: string) => boolean }) => field.matches(':focus:invalid')),
    );
    assert.equal(await message(page).inputValue(), 'Well?');
    await tone.fill('calm');
    await assertAccessible(page, 'a chat without conversations');
    await press(page, 'Send');
    await answers(page).getByText('so calm: Well?').waitFor();
    assert.match(new URL(page.url()).pathname, new RegExp(`^/workflows/${id}/chat/[0-9a-f-]{36}$`));
    await page
      .getByRole('list', { name: 'Conversations' })
      .getByRole('link', { name: /^Well\?/ })
      .waitFor();
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});
