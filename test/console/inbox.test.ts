import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { createAccount, giveRole, type Account } from '../api/accounts.js';
import { eventually } from '../../harness/timing/eventually.js';
import { agent, drawing, linkInRow, node, trigger } from '../../harness/drawing/drawing.js';
import { startToolServer } from '../../harness/target/tool-server.js';
import { taskOf } from '../support/waiting.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';
import { countPresses } from './presses.js';

interface Asked {
  projectId: number;
  workflowId: number;
  runId: string;
  nodeId: string;
  requestId: string;
  model: string;
}

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';
const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

describe('the inbox', function () {
  this.timeout(120_000);
  const world = useConsole(async () => ({ tools: await startToolServer() }));

  /** Starts a run whose agent waits for a decision on a call of `note`. */
  async function ask(
    account: Account,
    args: object | string = { text: 'hello' },
    title = 'Clerk',
    settings: object = {},
  ): Promise<Asked> {
    const { api } = account;
    const model = `inbox-${randomUUID()}`;
    world.stack.modelProvider.script(model, [{ toolCalls: [{ name: 'note', arguments: args }] }, { text: 'done' }]);
    const helper = agent('Note it', { model_name: model, ...settings }, [{ endpoint_url: world.tools.url }], {
      label: `The clerk ${MARKUP}`,
    });
    const projectId = await api.createProject('Sums');
    const workflowId = await api.createWorkflow(projectId, drawing(linkInRow([trigger(), helper])), title);
    const runId = (await api.run(workflowId)).data.id;
    const path = `/workflows/workflow_run/${runId}/agent-approval/`;
    const request = await eventually(async () => (await api.get<{ request_id: string }[]>(path)).body[0]);
    return { projectId, workflowId, runId, nodeId: helper.id, requestId: request.request_id, model };
  }

  const decideOver = (by: Account, { runId, requestId }: Asked, word: string, reason = '') =>
    by.api.post(`/workflows/workflow_run/${runId}/agent-approval/${requestId}/${word}/`, { body: { reason } });

  it('asks for fields whose types are chosen in the editor, and whose ids say what reads them', async () => {
    const account = await createAccount(world.stack);
    const person = node('human', { label: 'Ask', message: 'How much?', fields: [{ id: 'amount', type: 'text' }] });
    const data = drawing(linkInRow([trigger(), person]));
    const id = await account.api.createWorkflow(await account.api.createProject('Sums'), data, 'Asks');
    const page = await world.browser.person(account.userId, `/workflows/${id}`);
    await page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: 'Ask', exact: true }).click();
    const form = page.getByRole('region', { name: 'Node', exact: true });
    const type = form.getByRole('combobox', { name: 'Type', exact: true });
    assert.deepEqual((await type.getByRole('option').allTextContents()).slice(0, 6), [
      'text',
      'long text',
      'number',
      'checkbox',
      'choice',
      'JSON',
    ]);
    await type.selectOption('number');
    await form.getByText('Later nodes read it as values.amount of the result').waitFor();
    await button(page, 'Save').click();
    await eventually(async () => {
      const { body } = await account.api.get<{ data: { nodes: { data: { fields?: object[] } }[] } }>(
        `/workflows/${id}/`,
      );
      assert.deepEqual(body.data.nodes[1]?.data.fields, [{ id: 'amount', type: 'number' }]);
      return true;
    });
    await page.context().close();
  });

  it('shows tasks with their message, takes fields and a comment, and goes on by a button', async () => {
    const account = await createAccount(world.stack);
    const { api } = account;
    const person = node('human', {
      label: `Pay ${MARKUP}`,
      message: `# Order 7\n**Pay** it? ${MARKUP}`,
      fields: [{ id: 'amount', title: 'Amount', type: 'number', input_requirements: true }, { id: 'note' }],
      actions: [
        { id: 'yes', label: 'Pay now' },
        { id: 'no', label: 'Refuse' },
      ],
    });
    const projectId = await api.createProject('Sums');
    const workflowId = await api.createWorkflow(projectId, drawing(linkInRow([trigger(), person])), 'Orders');
    const runId = (await api.run(workflowId)).data.id;
    const task = await taskOf(api, runId, person.id);
    const page = await world.browser.person(account.userId, '/inbox', NARROW);
    const article = page.getByRole('article', { name: `Pay ${MARKUP}` });
    await article.getByText(`it? ${MARKUP}`).waitFor();
    await article.getByRole('heading', { name: 'Order 7' }).waitFor();
    assert.equal(await page.title(), 'Inbox · Workflow automation', 'the markup is text');
    await page.getByText('1 task waits for you.').waitFor();
    await page.getByText('0 requests wait for a decision.').waitFor();
    assert.equal(await page.getByText('Nothing waits for you.').count(), 0);
    await assertAccessible(page, 'a task');
    await article.getByRole('button', { name: 'Pay now' }).click();
    await article.getByText('Fill this in.').waitFor();
    await article.getByRole('textbox', { name: 'Amount' }).fill('12.5');
    await article.getByRole('textbox', { name: 'Comment' }).fill('as agreed');
    await article.getByRole('button', { name: 'Pay now' }).click();
    await article.getByText('You chose Pay now.').waitFor();
    await article.getByText('Comment: as agreed').waitFor();
    await article.locator(':focus').getByText('You chose Pay now.').waitFor();
    await page.getByText('Nothing waits for you.').waitFor();
    const end = await api.pollToEnd(runId);
    assert.deepEqual(end.data.data![person.id]!.result!['values'], { amount: 12.5 });
    await page.goto(`${world.stack.apiUrl}/inbox/${task}`);
    await page.getByRole('article').getByText('You chose Pay now.').waitFor();
    await page.goto(`${world.stack.apiUrl}/inbox?tab=tasks`);
    await page.getByText('1 task', { exact: true }).waitFor();
    await assertAccessible(page, 'ended tasks');
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('expired');
    await page.getByText('No task has ended this way yet.').waitFor();
    await page.reload();
    await page.getByText('0 tasks', { exact: true }).waitFor();
  });

  it('keeps what is typed while the person looks at another tab or page, until it is sent', async () => {
    const account = await createAccount(world.stack);
    const { requestId } = await ask(account);
    const person = node('human', { label: 'Pay', message: 'Well?', fields: [{ id: 'amount', title: 'Amount' }] });
    const data = drawing(linkInRow([trigger(), person]));
    const workflowId = await account.api.createWorkflow(await account.api.createProject('Sums'), data, 'Orders');
    const task = await taskOf(account.api, (await account.api.run(workflowId)).data.id, person.id);
    const page = await world.browser.person(account.userId, '/inbox');
    const [pay, note] = ['Pay', 'note of tools'].map((name) => page.getByRole('article', { name, exact: true }));
    const written = [
      pay!.getByRole('textbox', { name: 'Amount' }),
      pay!.getByRole('textbox', { name: 'Comment' }),
      note!.getByRole('textbox', { name: 'Arguments as JSON' }),
      note!.getByRole('textbox', { name: 'Reason' }),
    ];
    const texts = ['12', 'as agreed', '{"text": "mine"}', 'shorter'];
    await button(page, 'Edit and approve').click();
    for (const [at, field] of written.entries()) await field.fill(texts[at]!);
    const areKept = async (from: number, to: number): Promise<void> => {
      await written[from]!.waitFor();
      const values = written.slice(from, to).map((field) => field.inputValue());
      assert.deepEqual(await Promise.all(values), texts.slice(from, to));
    };
    await tab(page, 'Decided').click();
    await page.getByText('No request has ended this way yet.').waitFor();
    await tab(page, 'Waiting').click();
    await areKept(2, 4);
    await areKept(0, 2);
    await pay!.getByRole('link', { name: 'Pay', exact: true }).first().click();
    await page.waitForURL(`**/inbox/${task}`);
    await areKept(0, 2);
    await page.getByRole('link', { name: 'To the inbox' }).click();
    await button(page, 'Approve as edited').click();
    await note!.getByText('Reason: shorter').waitFor();
    await pay!.getByRole('button', { name: 'Done' }).click();
    await pay!.getByText('Comment: as agreed').waitFor();
    const { body } = await account.api.get<{ status: string }>(`/agent-approvals/${requestId}/`);
    assert.equal(body.status, 'approved');
    await page.context().close();
  });

  it('takes the form from a task that is answered elsewhere, and leaves the task in its place', async () => {
    const account = await createAccount(world.stack);
    const { api } = account;
    const person = node('human', { label: 'Pay', message: 'Well?', actions: [{ id: 'yes', label: 'Pay now' }] });
    const projectId = await api.createProject('Sums');
    const workflowId = await api.createWorkflow(projectId, drawing(linkInRow([trigger(), person])), 'Orders');
    const task = await taskOf(api, (await api.run(workflowId)).data.id, person.id);
    const page = await world.browser.person(account.userId, '/inbox');
    const article = page.getByRole('article', { name: 'Pay' });
    await article.getByRole('button', { name: 'Pay now' }).waitFor();
    const { status } = await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'yes', values: {} } });
    assert.equal(status, 200);
    await article.getByText('You chose Pay now.').waitFor();
    assert.equal(await article.getByRole('button', { name: 'Pay now' }).count(), 0);
    // A task that is decided changes no more, so it is not polled beside the list.
    const polled: string[] = [];
    page.on('request', (request) => polled.push(new URL(request.url()).pathname));
    const polls = (path: string): number => polled.filter((each) => each === path).length;
    await eventually(() => polls('/api/v1/human-tasks/') >= 2, { timeoutMs: 60_000 });
    assert.equal(polls(`/api/v1/human-tasks/${task}/`), 0);
    await page.context().close();
  });

  it('shows that a task which others have answered cannot be loaded, until it can', async () => {
    const account = await createAccount(world.stack);
    const { api } = account;
    const person = node('human', { label: 'Pay', message: 'Well?', actions: [{ id: 'yes', label: 'Pay now' }] });
    const workflowId = await api.createWorkflow(
      await api.createProject('Sums'),
      drawing(linkInRow([trigger(), person])),
    );
    const task = await taskOf(api, (await api.run(workflowId)).data.id, person.id);
    const page = await world.browser.person(account.userId, `/inbox/${task}`);
    const article = page.getByRole('article', { name: 'Pay' });
    await article.getByRole('button', { name: 'Pay now' }).waitFor();
    // The page asks for an approval request of this id first, so its own polls do not reach the task.
    await page.route(`**/api/v1/agent-approvals/${task}/`, () => undefined);
    await page.route(`**/api/v1/human-tasks/${task}/`, (route) => route.fulfill({ status: 500, json: {} }));
    await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'yes', values: {} } });
    await article.getByRole('button', { name: 'Pay now' }).click();
    const alert = article.getByRole('alert');
    await alert.getByText('The task has been settled').waitFor();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.getByText('The service has failed to do this.').waitFor();
    await page.unroute(`**/api/v1/human-tasks/${task}/`);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await article.locator(':focus').getByText('You chose Pay now.').waitFor();
    await page.context().close();
  });

  it('is three presses away from an approval on a phone', async () => {
    const account = await createAccount(world.stack);
    const { runId } = await ask(account);
    const page = await world.browser.person(account.userId, '/workflows', NARROW);
    const presses = await countPresses(page);
    await button(page, 'Menu').click();
    await page.getByRole('link', { name: 'Inbox, 1 waiting' }).click();
    await button(page, 'Approve').click();
    await page.getByRole('article').getByText('You approved this.').waitFor();
    assert.equal(await presses(), 3);
    assert.equal((await account.api.pollToEnd(runId)).data.status, 'succeed');
    await page.context().close();
  });

  it('shows on a phone who asks what, where and until when, and approves with one touch', async () => {
    const account = await createAccount(world.stack);
    const asked = await ask(account, { text: MARKUP });
    const page = await world.browser.person(account.userId, '/inbox', NARROW);
    const article = page.getByRole('article', { name: 'note of tools' });
    await article.getByText(JSON.stringify(MARKUP)).waitFor();
    const text = await article.innerText();
    for (const part of ['test user', 'in Sums', '2 days 23 hours left']) assert.ok(text.includes(part), text);
    const hrefOf = (name: string) => article.getByRole('link', { name, exact: true }).getAttribute('href');
    assert.equal(await hrefOf('Clerk'), `/workflows/${asked.workflowId}`);
    assert.equal(await hrefOf(`The clerk ${MARKUP}`), `/runs/${asked.runId}?node=${asked.nodeId}`);
    for (const name of ['Approve', 'Reject']) {
      const box = await article.getByRole('button', { name, exact: true }).boundingBox();
      assert.ok(box!.height >= 44, `${name}: ${box!.height}`);
    }
    await assertFits(page);
    await assertAccessible(page, 'inbox at 390 px');
    // The closed menu keeps its name. Its description and a number on it tell how many requests wait.
    const menu = page.getByRole('button', { name: 'Menu', exact: true });
    await eventually(async () => (await menu.getAttribute('aria-description')) === '1 waiting in the inbox');
    const shown = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('[aria-controls="navigation"]'), '::after').content`,
    );
    assert.match(shown, /^"1"/);
    await page.getByText('1 request waits for a decision.').waitFor();
    await article.getByRole('button', { name: 'Approve', exact: true }).click();
    await article.getByText('You approved this.').waitFor();
    assert.equal(await article.getByRole('button', { name: 'Approve' }).count(), 0);
    assert.match(await page.evaluate('document.activeElement.textContent'), /^You approved this\./);
    assert.equal((await account.api.pollToEnd(asked.runId)).data.status, 'succeed');
    await page.getByText('0 requests wait for a decision.').waitFor();
    await article.waitFor();
    assert.deepEqual(
      world.tools
        .callsOf('note')
        .map(({ arguments: given }) => given)
        .filter(({ text: said }) => said === MARKUP),
      [{ text: MARKUP }],
    );
    await page.context().close();
  });

  it('rejects with a reason, which the model is told, and lists it among the decided ones', async () => {
    const account = await createAccount(world.stack);
    const asked = await ask(account);
    const page = await world.browser.person(account.userId, '/inbox');
    await page.getByRole('textbox', { name: 'Reason' }).fill('not <b>today</b>');
    await button(page, 'Reject').click();
    await page.getByRole('article').getByText('You rejected this.').waitFor();
    await account.api.pollToEnd(asked.runId);
    assert.ok(world.stack.modelProvider.requestsFor(asked.model).at(-1)!.text.includes('not <b>today</b>'));
    await tab(page, 'Decided').click();
    await page.waitForURL(/tab=decided/);
    const article = page.getByRole('article', { name: 'note of tools' });
    await article.getByText('Reason: not <b>today</b>').waitFor();
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('approved');
    await page.getByText('No request has ended this way yet.').waitFor();
    await tab(page, 'Waiting').click();
    await article.getByText('You rejected this.').waitFor();
    await page.context().close();
  });

  it('lets a person edit the arguments, says who has approved which, and that others have changed them', async () => {
    const [account, other] = [await createAccount(world.stack), await createAccount(world.stack)];
    const asked = await ask(account, { text: 'hello', count: 12 }, 'Clerk', { approval: { required: 2 } });
    await giveRole(world.stack, other, asked.projectId, 'editor');
    const page = await world.browser.person(account.userId, '/inbox', NARROW);
    const article = page.getByRole('article', { name: 'note of tools' });
    await article.getByText('0 of 2').waitFor();
    const box = article.getByRole('textbox', { name: 'Arguments as JSON' });
    const decision = `/workflows/workflow_run/${asked.runId}/agent-approval/${asked.requestId}/approve/`;
    const theirs = { text: `theirs ${asked.requestId}` };
    await button(page, 'Edit and approve').click();
    assert.deepEqual(JSON.parse(await box.inputValue()), { text: 'hello', count: 12 });
    await box.fill('[1]');
    await button(page, 'Approve as edited').click();
    await article.getByText('Write a JSON object.').waitFor();
    await box.fill('{"text": 5}');
    await button(page, 'Approve as edited').click();
    await article.getByText(/do not fit the tool/).waitFor();
    await box.fill('{"text": "mine"}');
    await other.api.post(decision, { body: { arguments: theirs, reason: 'shorter' } });
    await article.getByText('1 of 2').waitFor();
    assert.equal(await box.inputValue(), '{"text": "mine"}');
    await button(page, 'Approve as edited').click();
    await page.getByRole('alert').filter({ hasText: 'Your approval does not count.' }).waitFor();
    await article.getByRole('list', { name: 'Decisions' }).getByText('test user approved').waitFor();
    await article.getByRole('heading', { name: 'What the model asked for' }).waitFor();
    await assertAccessible(page, 'an edited request at 390 px');
    await assertFits(page);
    await button(page, 'Keep the arguments').click();
    await button(page, 'Approve').click();
    await article.getByText('You approved this.').waitFor();
    await account.api.pollToEnd(asked.runId);
    assert.equal(world.tools.callsOf('note').filter(({ arguments: { text } }) => text === theirs.text).length, 1);
    await page.goto(new URL(`/runs/${asked.runId}?node=${asked.nodeId}`, page.url()).href);
    const steps = page.getByRole('region', { name: 'Steps' });
    await steps.getByText('A person has changed these arguments.').waitFor();
    await steps.getByText(`"theirs ${asked.requestId}"`).first().waitFor();
    await assertAccessible(page, 'the steps of an agent');
    await page.context().close();
  });

  it('says plainly that somebody else was first', async () => {
    const [account, other] = [await createAccount(world.stack), await createAccount(world.stack)];
    const asked = await ask(account);
    await giveRole(world.stack, other, asked.projectId, 'editor');
    const page = await world.browser.person(account.userId, '/inbox');
    await button(page, 'Approve').waitFor();
    // The page must not have received the decision before the click.
    await page.route('**/api/v1/agent-approvals/?*', () => undefined);
    await decideOver(other, asked, 'reject', 'no');
    await button(page, 'Approve').click();
    await page
      .getByRole('alert')
      .filter({ hasText: 'Your approval does not count: test user rejected this before.' })
      .waitFor();
    await page.getByText('Reason: no').waitFor();
    await page.context().close();
  });

  it('keeps what is being read in its place while requests come and are decided elsewhere', async () => {
    const account = await createAccount(world.stack);
    const first = await ask(account, { text: 'first' }, 'First');
    const page = await world.browser.person(account.userId, '/inbox');
    const articles = page.getByRole('article');
    await articles.getByText('"first"').waitFor();
    const before = await articles.first().boundingBox();
    await ask(account, { text: 'second' }, 'Second');
    const show = page.getByRole('button', { name: '1 new request, show' });
    await show.waitFor();
    assert.deepEqual(await articles.first().boundingBox(), before);
    assert.equal(await articles.count(), 1);
    await show.click();
    await articles.getByText('"second"').waitFor();
    assert.equal(await articles.count(), 2);
    await decideOver(account, first, 'approve');
    await articles.nth(1).getByText('You approved this.').waitFor();
    assert.equal(await articles.count(), 2);
    await page.context().close();
  });

  it('tells a viewer that the role does not allow deciding', async () => {
    const [owner, viewer] = [await createAccount(world.stack), await createAccount(world.stack)];
    const asked = await ask(owner);
    await giveRole(world.stack, viewer, asked.projectId, 'viewer');
    const page = await world.browser.person(viewer.userId, `/inbox/${asked.requestId}`);
    await page.getByText('Your role in this project, viewer, does not allow deciding.').waitFor();
    assert.equal(await button(page, 'Approve').count(), 0);
    await page.context().close();
  });

  it('opens one request by its id, and says Not found for an unknown one', async () => {
    const account = await createAccount(world.stack);
    const asked = await ask(account);
    const page = await world.browser.person(account.userId, `/inbox/${asked.requestId}`);
    await button(page, 'Approve').click();
    await page.getByRole('article').getByText('You approved this.').waitFor();
    for (const id of [randomUUID(), '%00', 'x'.repeat(300), '..%2Fme']) {
      await page.goto(`/inbox/${id}`);
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    }
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.context().close();
  });

  it('shows every digit and every hidden character, and says where it has cut', async () => {
    const account = await createAccount(world.stack);
    const lines = Array.from({ length: 60 }, (_, at) => `"k${at}": ${at}`).join(',');
    await ask(account, `{"text": "a\u202eb", "account": 12345678901234567890, ${lines}}`);
    const page = await world.browser.person(account.userId, '/inbox');
    await page.getByText('"account": 12345678901234567890').waitFor();
    await page.getByText(String.raw`"a\u202eb"`).waitFor();
    assert.equal(await page.getByText('"k59": 59').count(), 0);
    await page.getByText(/of [\d,]+ characters are shown/).waitFor();
    await button(page, 'Show all').click();
    await page.getByText('"k59": 59').waitFor();
    await page.context().close();
  });

  it('tells a newcomer what appears here, and failures with a way to try again', async () => {
    const account = await createAccount(world.stack);
    const page = await world.browser.person(account.userId, '/inbox', { colorScheme: 'dark' });
    await page.getByText('Nothing waits for you.').waitFor();
    await assertAccessible(page, 'empty inbox, dark');
    await page.route('**/api/v1/agent-approvals/?*', (route) => route.fulfill({ status: 500, json: {} }));
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'The service has failed to do this.' }).waitFor();
    await page.unroute('**/api/v1/agent-approvals/?*');
    await button(page, 'Try again').click();
    await page.getByText('Nothing waits for you.').waitFor();
    await page.context().close();
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
