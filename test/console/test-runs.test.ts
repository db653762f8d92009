// Test runs in the editor (docs/use/test-runs.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createAccount, giveRole } from '../api/accounts.js';
import type { Envelope } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  drawing,
  http,
  linkInRow,
  llm,
  node as graphNode,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { createGate } from '../../harness/timing/gate.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole, type ConsoleBrowser } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string | RegExp) => region(page, 'Graph').getByRole('group', { name, exact: true });
const field = (page: Page, name: string) => region(page, 'Node').getByRole('textbox', { name, exact: true });
const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const focused = (page: Page, text: string) =>
  eventually(() => page.evaluate(`document.activeElement.textContent === ${JSON.stringify(text)}`));
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Test', exact: true });

describe('test runs of drawings', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Trying'), target: await startHttpTarget() };
  });

  interface Row {
    workflowId: number;
    nodes: DrawingNode[];
    /** The number of calls of each of the two addresses. */
    calls: () => number[];
  }

  /** Creates Start, `First` and `Second` in a row. `Second` sends the answer of `First`. */
  async function makeRow(answer = 'one'): Promise<Row> {
    const paths = [`/${randomUUID()}`, `/${randomUUID()}`];
    world.target.on(paths[0]!, [{ body: answer }]);
    world.target.on(paths[1]!, [{ body: 'two' }]);
    const start = trigger([{ id: 'word', type: 'text', title: 'Word' }], { label: 'Start' });
    const first = http(`${world.target.url}${paths[0]}?word={{ input.word }}`, { label: 'First' });
    const body = `{"said": "${resultOf(first)}"}`;
    const second = http(`${world.target.url}${paths[1]}`, { label: 'Second', method: 'POST', body });
    const nodes = linkInRow([start, first, second]);
    const workflowId = await world.owner.api.createWorkflow(world.project, drawing(nodes), 'In a row');
    return { workflowId, nodes, calls: () => paths.map((path) => world.target.requestsTo(path).length) };
  }

  const open = (workflowId: number, options: Parameters<ConsoleBrowser['person']>[2] = {}) =>
    world.browser.person(world.owner.userId, `/workflows/${workflowId}`, options);

  async function ask(page: Page, label: string | RegExp, mode: string): Promise<void> {
    await region(page, 'Graph').getByRole('group', { name: label, exact: true }).click();
    await press(region(page, 'Node'), 'Test');
    await page.getByRole('menuitem', { name: mode, exact: true }).click();
    await dialog(page).waitFor();
  }

  it('says what will be called and what it costs, names what is missing, and tests up to there instead', async () => {
    const { workflowId, calls } = await makeRow();
    const page = await open(workflowId);
    await ask(page, 'Second', 'Only this node');
    const called = dialog(page).getByRole('region', { name: 'What is called' });
    await called.getByText('may change something').waitFor();
    assert.equal(await called.getByRole('listitem').count(), 1);
    await dialog(page).getByText('It costs nothing.').waitFor();
    await assertAccessible(page, 'the dialog Test');
    await press(dialog(page), 'Start test');
    const alert = dialog(page).getByRole('alert');
    await alert.getByText('First', { exact: true }).waitFor();
    assert.deepEqual(calls(), [0, 0]);
    const estimates = createGate();
    await page.route('**/estimate/', async (route) => {
      await estimates.opened;
      await route.continue();
    });
    await press(alert, 'Up to here');
    await dialog(page).getByRole('textbox', { name: 'Word' }).fill('hello');
    assert.equal(await dialog(page).getByRole('button', { name: 'Start test' }).isDisabled(), true);
    assert.equal(await called.count(), 0, 'the calls of the other test are not shown');
    estimates.open();
    await called.getByText('First').waitFor();
    assert.equal(await called.getByRole('listitem').count(), 2);
    await press(dialog(page), 'Start test');
    await dialog(page).waitFor({ state: 'detached' });
    await node(page, 'Second, succeeded').waitFor();
    await node(page, 'First, succeeded').waitFor();
    const result = region(page, 'Test result');
    await result.getByText('two', { exact: true }).waitFor();
    assert.deepEqual(calls(), [1, 1]);
    await assertAccessible(page, 'a test result');
    await node(page, 'First, succeeded').click();
    await result.getByText('one', { exact: true }).waitFor();
    const runLink = result.getByRole('link', { name: 'Open run' });
    await runLink.click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    await page.goBack();
    await node(page, 'Second, succeeded').waitFor();
    await page.context().close();
  });

  it('finds the cost of an open test for the page of its run', async () => {
    const slow = http(`${world.target.url}/hold/${randomUUID()}`, { label: 'Slow' });
    const data = drawing(linkInRow([trigger([], { label: 'Start' }), slow]));
    const workflowId = await world.owner.api.createWorkflow(world.project, data, 'Slow');
    const { body } = await world.owner.api.post<Envelope>(`/workflows/${workflowId}/test/`, {
      body: { mode: 'up_to', node: slow.id },
    });
    const page = await world.browser.person(world.owner.userId);
    const answered = page.waitForResponse((answer) => /\/api\/v1\/runs\/\?.*started_before=/.test(answer.url()));
    await page.goto(`/runs/${body.data.id}?node=${slow.id}`);
    const { items } = (await (await answered).json()) as { items: { id: string }[] };
    assert.deepEqual(
      items.map(({ id }) => id),
      [body.data.id],
    );
    world.target.release(new URL(String(slow.data['url'])).pathname);
    await page.getByRole('button', { name: 'Save as case' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^(Run again|Change input|Resume)/ }).count(), 0);
    await page.context().close();
  });

  it('tries the drawing as it is drawn, unsaved, and takes what comes before from the test before', async () => {
    const { workflowId, calls } = await makeRow();
    const page = await open(workflowId);
    await ask(page, 'Second', 'Up to here');
    await press(dialog(page), 'Start test');
    await node(page, 'Second, succeeded').click();
    await field(page, 'Label').fill('Changed');
    await region(page, 'Test result').getByText('The node has changed since.').waitFor();
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    await ask(page, 'Changed', 'Only this node');
    await press(dialog(page), 'Start test');
    await eventually(() => Promise.resolve(calls()[1] === 2));
    await region(page, 'Test result').getByText('The node has changed since.').waitFor({ state: 'detached' });
    assert.equal(calls()[0], 1, 'what comes before is not called again');
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    await page.context().close();
  });

  it('pins a result, edits the pin, takes it in place of calling, says when it is stale, and removes it', async () => {
    const { workflowId, calls } = await makeRow();
    const page = await open(workflowId);
    await ask(page, 'First', 'Up to here');
    await press(dialog(page), 'Start test');
    await node(page, 'First, succeeded').waitFor();
    const result = region(page, 'Test result');
    await press(result, 'Pin result');
    await node(page, 'First, succeeded, pinned').waitFor();
    await press(result, 'Edit pin');
    const editor = page.getByRole('textbox', { name: 'Pinned result' });
    assert.match(await editor.inputValue(), /"content": "one"/);
    await editor.fill('{"content": ');
    await page.getByText('This is no JSON object yet.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save pin' }).isDisabled(), true);
    await editor.fill('{"content": "said by a pin"}');
    await assertAccessible(page, 'the editor of a pin');
    await press(page, 'Save pin');
    await result.getByText('said by a pin').waitFor();
    await ask(page, 'Second', 'Up to here');
    await press(dialog(page), 'Start test');
    await node(page, 'Second, succeeded').waitFor();
    assert.deepEqual(calls(), [1, 1]);
    await page.reload();
    await node(page, 'First, pinned').click();
    await field(page, 'Label').fill('Renamed');
    await region(page, 'Node').getByRole('textbox', { name: 'URL' }).fill(`${world.target.url}/echo`);
    await page.keyboard.press('Control+s');
    await node(page, 'Renamed, pinned, stale').waitFor();
    await press(region(page, 'Test result'), 'Remove pin');
    await node(page, 'Renamed').waitFor();
    assert.equal(await region(page, 'Test result').count(), 0);
    await page.context().close();
  });

  it('shows a failure where it is, and cancels a test', async () => {
    const slow = http(`${world.target.url}/delay/60000`, { label: 'Slow' });
    const broken = http(`${world.target.url}/status/404`, { label: 'Broken' });
    const data = drawing(linkInRow([trigger([], { label: 'Start' }), broken, slow]));
    const page = await open(await world.owner.api.createWorkflow(world.project, data, 'Failing'));
    await ask(page, 'Broken', 'Only this node');
    await press(dialog(page), 'Start test');
    await node(page, 'Broken, failed').waitFor();
    const result = region(page, 'Test result');
    await result.getByText('http_status').first().waitFor();
    await press(result, 'Pin result');
    await node(page, 'Broken, failed, pinned').waitFor();
    await press(result, 'Edit pin');
    await page.getByRole('textbox', { name: 'Pinned result' }).fill('{"content": "mended"}');
    await press(page, 'Save pin');
    await ask(page, 'Slow', 'Only this node');
    await press(dialog(page), 'Start test');
    await node(page, 'Slow, in progress').waitFor();
    await press(result, 'Cancel test');
    await node(page, 'Slow, cancelled').waitFor();
    await page.getByRole('status').getByText('Test cancelled').waitFor();
    await page.context().close();
  });

  it('shows the real values of variables, with their parts, and inserts one by a click', async () => {
    const { workflowId, nodes } = await makeRow('{"orders": [{"customer": {"name": "Ada"}}]}');
    const { data: run } = await world.owner.api.run(workflowId, { word: 'of the run' });
    await world.owner.api.pollToEnd(run.id);
    const page = await open(workflowId);
    await node(page, 'Second, succeeded').click();
    await field(page, 'URL').fill('');
    await press(region(page, 'Node'), 'Insert variable');
    const variables = page.getByRole('dialog', { name: 'Variables' });
    await variables.getByRole('button', { name: /^Word.*of the run/ }).waitFor();
    await assertAccessible(page, 'variables with values');
    await press(variables, 'Parts of orders');
    await press(variables, 'Parts of [0]');
    await variables.getByRole('button', { name: /^customer/ }).waitFor();
    await variables.getByRole('searchbox').fill('orders[0].customer.name');
    await variables.getByRole('button', { name: /orders\[0\]\.customer\.name.*Ada/ }).click();
    await eventually(async () => {
      const chip = field(page, 'URL').getByTitle(`{{ ${nodes[1]!.id}.result.json.orders[0].customer.name }}`);
      assert.equal(await chip.textContent(), 'First › json.orders[0].customer.name');
      return true;
    });
    await world.owner.api.put(`/workflows/${workflowId}/pins/${nodes[1]!.id}/`, {
      body: { result: { content: 'of the pin' } },
    });
    await page.context().close();
    const again = await open(workflowId);
    await node(again, 'Second, succeeded').click();
    await press(region(again, 'Node'), 'Insert variable');
    await again.getByRole('button', { name: /^Content.*of the pin/ }).waitFor();
    await again.context().close();
  });

  it('says the most that models may cost', async () => {
    const data = drawing(linkInRow([trigger([], { label: 'Start' }), llm('Hello', { label: 'Answer' })]));
    const page = await open(await world.owner.api.createWorkflow(world.project, data, 'Priced'));
    await ask(page, 'Answer', 'Only this node');
    await dialog(page)
      .getByText(/^It costs at most 0\.\d+ USD\.$/)
      .waitFor();
    await page.context().close();
  });

  it('says what a test calls if it calls nothing, and that its maximum cost is not known', async () => {
    const value = graphNode('set', { label: 'Said', value: 'x' });
    const data = drawing(linkInRow([trigger([], { label: 'Start' }), value]));
    const page = await open(await world.owner.api.createWorkflow(world.project, data, 'Calls nothing'));
    await ask(page, 'Said', 'Only this node');
    await dialog(page).getByText('It makes no calls.').waitFor();
    await page.keyboard.press('Escape');
    await page.route('**/estimate/', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), reserved: null } });
    });
    await ask(page, 'Said', 'Up to here');
    await dialog(page).getByText('The maximum cost is not known.').waitFor();
    await page.context().close();
  });

  it('shows why Try cannot execute what the node reads, in the mode that the service has refused', async () => {
    const first = http('', { label: 'First' });
    const second = graphNode('set', { label: 'Second', value: resultOf(first) });
    const data = drawing(linkInRow([trigger([], { label: 'Start' }), first, second]));
    const page = await open(await world.owner.api.createWorkflow(world.project, data, 'Refused'));
    await node(page, 'Second').click();
    await press(region(page, 'Node'), 'Try');
    await dialog(page).getByText('Up to here', { exact: true }).waitFor();
    await dialog(page).getByRole('alert').getByText('First').waitFor();
    await page.context().close();
  });

  it('tries a node of a body in the iteration that a person names, shows its result, and pins it', async () => {
    const said = graphNode('set', { label: 'Said', value: '' });
    const each = graphNode('for_each', { label: 'Each', items: ['a', 'b', 'c'], body_node: said.id });
    said.data['value'] = `item {{ ${each.id}.item }}`;
    const data = drawing([...linkInRow([trigger([], { label: 'Start' }), each]), said]);
    const workflowId = await world.owner.api.createWorkflow(world.project, data, 'Bodies');
    const page = await open(workflowId);
    await ask(page, 'Said', 'Up to here');
    const iteration = dialog(page).getByRole('spinbutton', { name: 'Iteration', exact: true });
    assert.equal(await iteration.inputValue(), '0');
    await iteration.fill('-1');
    await dialog(page).getByText('This is no whole number from 0 on.').waitFor();
    assert.equal(await dialog(page).getByRole('button', { name: 'Start test' }).isDisabled(), true);
    await iteration.fill('2');
    await press(dialog(page), 'Start test');
    await node(page, 'Said, succeeded').waitFor();
    const result = region(page, 'Test result');
    await result.getByText('item c', { exact: true }).first().waitFor();
    await result.getByText('Each [2]').waitFor();
    await press(result, 'Pin result');
    await node(page, 'Said, succeeded, pinned').waitFor();
    await press(result, 'Remove pin');
    await node(page, 'Said, succeeded').waitFor();
    await page.context().close();
    const { data: run } = await world.owner.api.run(workflowId, {});
    await world.owner.api.pollToEnd(run.id);
    const again = await open(workflowId);
    await node(again, 'Said, succeeded').waitFor();
    await ask(again, 'Said, succeeded', 'Only this node');
    await dialog(again).getByRole('spinbutton', { name: 'Iteration', exact: true }).fill('1');
    await press(dialog(again), 'Start test');
    await region(again, 'Test result').getByText('item b', { exact: true }).first().waitFor();
    await again.context().close();
  });

  it('works by keyboard alone, in the dark, and on a phone without scrolling sidewards', async () => {
    const { workflowId } = await makeRow();
    // The editor shows the test of the first round as soon as it is loaded.
    for (const [options, name] of [
      [{}, 'First'],
      [{ ...NARROW, colorScheme: 'dark' }, 'First, succeeded'],
    ] as const) {
      const page = await open(workflowId, options);
      await node(page, name).focus();
      await page.keyboard.press('Enter');
      await region(page, 'Node').getByRole('button', { name: 'Test', exact: true }).focus();
      await page.keyboard.press('Enter');
      await focused(page, 'Only this node');
      await page.keyboard.press('ArrowDown');
      await focused(page, 'Up to here');
      await page.keyboard.press('Enter');
      await dialog(page).getByRole('textbox', { name: 'Word' }).focus();
      await page.keyboard.type('typed');
      await assertAccessible(page, `the dialog, ${JSON.stringify(options)}`);
      await assertFits(page, 'the dialog');
      await page.keyboard.press('Enter');
      await node(page, 'First, succeeded').waitFor();
      await region(page, 'Test result').getByRole('button', { name: 'Pin result' }).focus();
      await page.keyboard.press('Enter');
      await node(page, 'First, succeeded, pinned').waitFor();
      await assertAccessible(page, `the editor, ${JSON.stringify(options)}`);
      await assertFits(page, 'the editor');
      await region(page, 'Test result').getByRole('button', { name: 'Remove pin' }).focus();
      await page.keyboard.press('Enter');
      await node(page, 'First, succeeded').waitFor();
      await page.context().close();
    }
  });

  it('offers no test to a person who may only look, and breaks no policy', async () => {
    const { workflowId } = await makeRow();
    const viewer = await createAccount(world.stack);
    await giveRole(world.stack, viewer, world.project, 'viewer');
    const page = await world.browser.person(viewer.userId, `/workflows/${workflowId}`);
    await node(page, 'First').click();
    await field(page, 'Label').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Test', exact: true }).count(), 0);
    await page.context().close();
    world.browser.assertClean();
  });
});
