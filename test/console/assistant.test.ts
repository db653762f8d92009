// The assistant in the editor, in a browser (docs/use/assistants.md, "In the editor"). Only the model is fake.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { drawing, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { killAndAwaitRestart } from '../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import type { ModelAnswer, ModelRequest } from '../../harness/target/fake-model-provider.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { eventually } from '../../harness/timing/eventually.js';
import { createAccount, type Account } from '../api/accounts.js';
import type { Page as Listed } from '../api/bodies.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, openConsole, type ConsoleBrowser } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const nodes = (page: Page) => region(page, 'Graph').getByRole('group');
const graphNode = (page: Page, name: string | RegExp) =>
  region(page, 'Graph').getByRole('group', { name, exact: typeof name === 'string' });
const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true });
const panel = (page: Page) => region(page, 'Assistant');
const message = (page: Page) => panel(page).getByRole('textbox', { name: 'Message', exact: true });
const log = (page: Page) => panel(page).getByRole('log', { name: 'Messages' });

const tool = (name: string, args: object): ModelAnswer => ({ toolCalls: [{ name, arguments: args }] });

/** Returns the last message of the person. */
function said({ messages }: ModelRequest): string {
  return String(messages.findLast(({ role }) => role === 'user')?.content);
}

/** Returns the number of tool results in the request. */
function stepOf({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === 'tool').length;
}

describe('the assistant beside the canvas', function () {
  this.timeout(240_000);
  let stack: StartedStack;
  let browser: ConsoleBrowser;
  let target: HttpTarget;
  let owner: Account;
  let project: number;

  before(async () => {
    [stack, target] = await Promise.all([startStack(), startHttpTarget()]);
    browser = await openConsole(stack);
    owner = await createAccount(stack);
    project = await owner.api.createProject('Built');
  });
  after(async () => {
    await browser?.close();
    await target?.close();
    await stack?.stop();
  });

  interface Talk {
    page: Page;
    id: number;
    held: string;
  }

  /** Opens an editor. The model of its assistant answers the keywords of `steps`. */
  async function open(options?: BrowserContextOptions): Promise<Talk> {
    const id = await owner.api.createWorkflow(project, drawing(linkInRow([trigger()])), 'Built');
    const start = (await owner.api.get<{ data: { start_node: string } }>(`/workflows/${id}/`)).body.data.start_node;
    const held = `/hold/${randomUUID()}`;
    const add = (node: string, kind: string, after: string, data: object) => ({
      add: { id: node, kind, label: node, after, data },
    });
    const draw = [
      add('Send', 'http-node', start, { method: 'POST', url: `${target.url}/sent` }),
      add('Done', 'output-node', 'Send', { value: 'sent' }),
      { rename: { node: start, label: 'Begin' } },
    ];
    const wait = [add('Wait', 'http-node', start, { method: 'GET', url: `${target.url}${held}` })];
    const steps: Record<string, ModelAnswer[]> = {
      draw: [tool('edit_workflow', { id, changes: draw }), { text: 'I have drawn **two** nodes.' }],
      try: [tool('test_workflow', { id, mode: 'from', execute: ['Send'] }), { text: 'It was sent.' }],
      wait: [
        tool('edit_workflow', { id, changes: wait }),
        tool('test_workflow', { id, mode: 'node', node: 'Wait' }),
        { text: 'It has waited.' },
      ],
      again: [tool('test_workflow', { id, mode: 'node', node: 'Wait' }), { text: 'Never said.' }],
    };
    const model = `assistant-${randomUUID()}`;
    stack.modelProvider.script(model, (request) => steps[said(request)]?.[stepOf(request)] ?? { text: 'Hm.' });
    const page = await browser.person(owner.userId, '/workflows', options);
    await page.route('**/api/v1/models/', async (route) => {
      const [first] = (await (await route.fetch()).json()) as object[];
      await route.fulfill({ json: [{ ...first, id: model }] });
    });
    await page.goto(`/workflows/${id}`);
    await openPanel(page);
    return { page, id, held };
  }

  async function openPanel(page: Page): Promise<void> {
    await button(page, 'Assistant').click();
    await message(page).waitFor();
  }

  async function say(page: Page, text: string): Promise<void> {
    await message(page).fill(text);
    await button(panel(page), 'Send').click();
  }

  const isHeld = (path: string) => eventually(() => target.requests.some((request) => request.path === path));

  it('draws what it is told as one step of Undo, marks it, and takes it back', async () => {
    const { page, id } = await open();
    assert.match(await panel(page).getByRole('combobox', { name: 'Model' }).inputValue(), /^assistant-/);
    await say(page, 'draw');
    await log(page).getByText('I have drawn two nodes.').waitFor();
    await graphNode(page, 'Send, changed by the assistant').waitFor();
    await graphNode(page, 'Begin, changed by the assistant').waitFor();
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    await panel(page).getByText('3 nodes were changed.').waitFor();
    await panel(page)
      .getByText(/^Cost/)
      .getByText(/0\.\d*[1-9]/)
      .waitFor();
    await assertAccessible(page, 'the assistant');
    const [graph, beside] = [await region(page, 'Graph').boundingBox(), await panel(page).boundingBox()];
    assert.ok(graph!.x + graph!.width <= beside!.x, 'beside the canvas');
    await button(page, 'Undo').click();
    await eventually(async () => (await nodes(page).count()) === 1);
    await button(page, 'Redo').click();
    await graphNode(page, 'Done').waitFor();
    await say(page, 'hello');
    await log(page).getByText('Hm.').waitFor();
    assert.equal(await graphNode(page, /changed by the assistant/).count(), 0, 'marked until the next answer');
    assert.equal(await button(panel(page), 'Undo these changes').count(), 0);
    await button(page, 'Save').click();
    await page.getByText('All changes saved').waitFor();
    const { body } = await owner.api.get<{ data: { nodes: object[] } }>(`/workflows/${id}/`);
    assert.equal(body.data.nodes.length, 3);
    assert.equal((await owner.api.get<Listed<object>>(`/workflows/${id}/history/`)).body.total, 0);
    await page.context().close();
  });

  it('undoes the changes of an answer, and leaves what the person has drawn since', async () => {
    const { page, id } = await open();
    await say(page, 'draw');
    await graphNode(page, 'Done, changed by the assistant').waitFor();
    await button(page, 'Add Code').click();
    await graphNode(page, /^Code/).waitFor();
    await button(panel(page), 'Undo these changes').click();
    await graphNode(page, 'Done').waitFor({ state: 'detached' });
    assert.equal(await graphNode(page, /^Code/).count(), 1);
    const drawn = async () => {
      const { body } = await owner.api.get<{ data: { nodes: object[] } }>(`/workflows/${id}/draft/`);
      return body.data.nodes.length;
    };
    await eventually(async () => (await drawn()) === 2);
    await page.context().close();
  });

  it('asks before a test sends something', async () => {
    const { page } = await open();
    await say(page, 'draw');
    await graphNode(page, 'Send, changed by the assistant').waitFor();
    const sent = () => target.requests.filter(({ method }) => method === 'POST').length;
    const earlier = sent();
    await say(page, 'try');
    await button(panel(page), 'Approve').click();
    await log(page).getByText('It was sent.').waitFor();
    assert.equal(sent(), earlier + 1);
    await page.context().close();
  });

  it('goes on after a reload and a killed worker in the middle of its answer', async () => {
    const { page, id, held } = await open();
    // The name of the node also has the status of its test.
    const drawnWait = /^Wait,.* changed by the assistant$/;
    await say(page, 'wait');
    await isHeld(held);
    await graphNode(page, drawnWait).waitFor();
    await killAndAwaitRestart(stack, 'worker');
    await page.reload();
    await graphNode(page, drawnWait).waitFor();
    await openPanel(page);
    await panel(page).getByRole('group', { name: 'Question' }).getByText('wait', { exact: true }).waitFor();
    await button(panel(page), 'Stop').waitFor();
    target.release(held);
    await log(page).getByText('It has waited.').waitFor({ timeout: 120_000 });
    await button(panel(page), 'Undo these changes').click();
    await eventually(async () => (await nodes(page).count()) === 1);
    const { body } = await owner.api.get<Listed<{ id: string }>>(`/runs/?purpose=test&workflow=${id}`);
    assert.equal(body.total, 1, 'the repeated call has found the test of the first one');
    await page.context().close();
  });

  it('stops with its test', async () => {
    const { page, id, held } = await open();
    await say(page, 'wait');
    await isHeld(held);
    await button(panel(page), 'Stop').click();
    await log(page).getByText('It was cancelled, so there is no answer.').waitFor();
    await eventually(async () => {
      const { body } = await owner.api.get<Listed<{ status: string }>>(`/runs/?purpose=test&workflow=${id}`);
      return body.items.length === 1 && body.items[0]!.status === 'Cancelled';
    });
    target.release(held);
    await page.context().close();
  });

  it('fills a phone', async () => {
    const { page } = await open({ ...NARROW, colorScheme: 'dark' });
    await say(page, 'draw');
    await log(page).getByText('I have drawn two nodes.').waitFor();
    await button(panel(page), 'Undo these changes').waitFor();
    await assertAccessible(page, 'the assistant on a phone');
    await assertFits(page, 'the assistant');
    assert.deepEqual(await panel(page).boundingBox(), { x: 0, y: 0, width: 390, height: 844 });
    await button(panel(page), 'Close assistant').click();
    await graphNode(page, 'Send, changed by the assistant').waitFor();
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => browser.assertClean());
});
