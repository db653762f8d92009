// The chosen node: trying it with one press, and its wide view.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import {
  condition,
  drawing,
  http,
  linkInRow,
  llm,
  node as graphNode,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { eventually } from '../../harness/timing/eventually.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';

const region = (page: Page | Locator, name: string) => page.getByRole('region', { name, exact: true });
/** The name of a node that has run contains its status. */
const node = (page: Page, name: string) =>
  region(page, 'Graph').getByRole('group', { name: new RegExp(`^${name}(,|$)`) });
const succeeded = (page: Page, name: string) =>
  region(page, 'Graph').getByRole('group', { name: `${name}, succeeded`, exact: true });
const field = (page: Page, name: string) => region(page, 'Node').getByRole('textbox', { name, exact: true });
const press = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true }).click();
const incoming = (page: Page) => region(page, 'What comes in');
const testDialog = (page: Page) => page.getByRole('dialog', { name: 'Test', exact: true });

const ORDERS = {
  orders: [
    { id: 1, total: 30, customer: { name: 'Ada' } },
    { id: 2, total: 9, customer: { name: '=cmd' } },
  ],
};

describe('the chosen node', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Node'), target: await startHttpTarget() };
  });

  interface Row {
    id: number;
    call: DrawingNode;
    /** Returns the number of requests of each of the two calls. */
    calls: () => number[];
  }

  /** Creates a workflow of Start, a GET of orders, and a POST that does not use the orders yet. */
  async function makeRow(answer: object = ORDERS): Promise<Row> {
    const paths = [`/${randomUUID()}`, `/${randomUUID()}`];
    world.target.on(paths[0]!, [{ body: JSON.stringify(answer), headers: { 'content-type': 'application/json' } }]);
    world.target.on(paths[1]!, [{ body: 'sent' }]);
    const call = http(`${world.target.url}${paths[0]}`, { label: 'Orders' });
    const send = http(`${world.target.url}${paths[1]}`, { label: 'Send', method: 'POST', body: 'text' });
    const nodes = linkInRow([trigger([{ id: 'word', type: 'text', title: 'Word' }], { label: 'Start' }), call, send]);
    const id = await world.owner.api.createWorkflow(world.project, drawing(nodes), 'Orders');
    return { id, call, calls: () => paths.map((path) => world.target.requestsTo(path).length) };
  }

  const open = (id: number, options: object = {}) =>
    world.browser.person(world.owner.userId, `/workflows/${id}`, options);

  it('is tried with one press or one key, and asks once for a call that may change something', async () => {
    const { id, calls } = await makeRow();
    const page = await open(id);
    await node(page, 'Orders').click();
    await press(region(page, 'Node'), 'Try');
    await succeeded(page, 'Orders').waitFor();
    assert.equal(await testDialog(page).count(), 0);
    await node(page, 'Send').click();
    await page.keyboard.press('Control+Shift+Enter');
    await testDialog(page).getByText('may change something').waitFor();
    await press(testDialog(page), 'Start test');
    await succeeded(page, 'Send').waitFor();
    await field(page, 'URL').focus();
    await page.keyboard.press('Control+Shift+Enter');
    await eventually(() => Promise.resolve(calls()[1] === 2));
    assert.equal(await testDialog(page).count(), 0, 'what was confirmed is not asked again');
    await node(page, 'Send').focus();
    await page.keyboard.press('Control+Shift+Enter');
    await eventually(() => Promise.resolve(calls()[1] === 3));
    assert.equal(await field(page, 'Label').inputValue(), 'Send', 'it stays chosen');
    await node(page, 'Send').focus();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog', { name: 'Run workflow' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await field(page, 'Label').inputValue(), 'Send', 'the key of Run leaves it chosen, too');
    await page.context().close();
  });

  it('executes what it reads where there is no result yet, and asks for an input that is needed', async () => {
    const { owner, project } = world;
    const ask = llm('Say {{ input.word }}', { label: 'Ask' });
    const check = condition(`{{ ${ask.id}.result.content }}`, 'contains', 'x', { label: 'Check' });
    const word = { id: 'word', type: 'text', title: 'Word', input_requirements: true };
    const nodes = linkInRow([trigger([word], { label: 'Start' }), ask, check]);
    const page = await open(await owner.api.createWorkflow(project, drawing(nodes), 'Asked'));
    await node(page, 'Check').click();
    await press(region(page, 'Node'), 'Try');
    await testDialog(page).getByRole('textbox', { name: 'Word' }).fill('fox');
    await press(testDialog(page), 'Start test');
    await succeeded(page, 'Check').waitFor();
    await node(page, 'Ask').click();
    await field(page, 'Message').fill('Shout {{ input.word }}');
    await press(region(page, 'Node'), 'Try');
    await region(page, 'Test result').getByText('Shout fox').waitFor();
    await node(page, 'Check').click();
    // With a dialog, the test would begin only when the person starts it there.
    const begun = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/test/'));
    await press(region(page, 'Node'), 'Try');
    assert.equal((await begun).status(), 201);
    await region(page, 'Test result').getByText('Up to here: Check').waitFor({ state: 'detached' });
    assert.equal(await testDialog(page).count(), 0, 'the input is known by now');
    await page.context().close();
  });

  it('opens wide by a double click, shows what comes in as tree, table and JSON, and takes a value from there', async () => {
    const { id, call } = await makeRow();
    const page = await open(id);
    await node(page, 'Orders').click();
    await press(region(page, 'Node'), 'Try');
    await succeeded(page, 'Orders').waitFor();
    await node(page, 'Send').dblclick();
    const orders = region(incoming(page), 'Orders');
    await field(page, 'URL').fill('');
    await press(orders, 'Parts of orders');
    await press(orders, 'Parts of [0]');
    await press(orders, 'Parts of customer');
    await orders.getByRole('button', { name: /^name\s*Ada$/ }).click();
    await field(page, 'URL').getByTitle(`{{ ${call.id}.result.json.orders[0].customer.name }}`).waitFor();
    await incoming(page).getByRole('searchbox').fill('orders[1].customer.name');
    await incoming(page)
      .getByRole('button', { name: /orders\[1\]\.customer\.name/ })
      .dragTo(field(page, 'URL'));
    await field(page, 'URL').getByTitle(`{{ ${call.id}.result.json.orders[1].customer.name }}`).waitFor();
    await orders.getByText('of a test').waitFor();
    await assertAccessible(page, 'the wide node, as a tree');
    await incoming(page).getByRole('searchbox').fill('');
    await press(incoming(page), 'Table');
    const table = orders.getByRole('table', { name: 'JSON › orders' });
    assert.deepEqual(await table.getByRole('columnheader').allTextContents(), ['id', 'total', 'customer']);
    await table.getByRole('button', { name: 'total' }).click();
    assert.deepEqual(await table.locator('tbody td:nth-child(2)').allTextContents(), ['9', '30']);
    await table.getByRole('button', { name: '9', exact: true }).click();
    await field(page, 'URL').getByTitle(`{{ ${call.id}.result.json.orders[1].total }}`).waitFor();
    await assertAccessible(page, 'the wide node, as a table');
    await press(incoming(page), 'JSON');
    await orders.getByText('"status_code": 200').waitFor();
    await page.keyboard.press('Escape');
    await incoming(page).waitFor({ state: 'detached' });
    await node(page, 'Send').waitFor();
    await page.context().close();
  });

  it('shows what comes in beside a list in the table of the other values', async () => {
    const { id, call } = await makeRow({ ...ORDERS, page: { next: 'cursor-7' } });
    const page = await open(id);
    await node(page, 'Orders').click();
    await press(region(page, 'Node'), 'Try');
    await succeeded(page, 'Orders').waitFor();
    await node(page, 'Send').dblclick();
    await field(page, 'URL').fill('');
    await press(incoming(page), 'Table');
    const orders = region(incoming(page), 'Orders');
    await orders.getByRole('table', { name: 'JSON › orders' }).waitFor();
    const name = page.getByRole('button', { name: 'JSON › page', exact: true });
    const row = orders.getByRole('table', { name: 'Orders', exact: true }).getByRole('row').filter({ has: name });
    await row.getByRole('button', { name: '{"next":"cursor-7"}', exact: true }).click();
    await field(page, 'URL').getByTitle(`{{ ${call.id}.result.json.page }}`).waitFor();
    await assertAccessible(page, 'values beside a list');
    await page.context().close();
  });

  it('opens wide by Enter and by a button, keeps its widths, and gives the focus back', async () => {
    const { id } = await makeRow();
    const page = await open(id);
    await node(page, 'Send').focus();
    await page.keyboard.press('Enter');
    await field(page, 'URL').waitFor();
    assert.equal(await incoming(page).count(), 0, 'the first Enter chooses');
    await page.keyboard.press('Enter');
    await incoming(page).waitFor();
    const edge = page.getByRole('separator', { name: 'Width of what comes in' });
    await edge.focus();
    await page.keyboard.press('ArrowRight');
    const width = await edge.getAttribute('aria-valuenow');
    await page.keyboard.press('Escape');
    await incoming(page).waitFor({ state: 'detached' });
    await eventually(() => page.evaluate(`document.activeElement.classList.contains('react-flow__node')`));
    await press(region(page, 'Node'), 'Open wide');
    await incoming(page).waitFor();
    assert.equal(await edge.getAttribute('aria-valuenow'), width);
    await press(page, 'Back to the graph');
    await incoming(page).waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('shows its parts one at a time on a phone', async () => {
    const { id } = await makeRow();
    const page = await open(id, { ...NARROW, colorScheme: 'dark' });
    await node(page, 'Orders').click();
    await press(region(page, 'Node'), 'Open wide');
    const part = page.getByRole('group', { name: 'Part' });
    await press(part, 'What comes in');
    await incoming(page).waitFor();
    assert.equal(await field(page, 'URL').isVisible(), false);
    await assertFits(page, 'what comes in');
    await assertAccessible(page, 'what comes in, on a phone');
    await press(part, 'Settings');
    await press(region(page, 'Node'), 'Try');
    await press(part, 'Result');
    await region(page, 'Test result').getByText('Show as').waitFor();
    await assertFits(page, 'the result');
    await assertAccessible(page, 'the result, on a phone');
    await press(page, 'Back to the graph');
    await succeeded(page, 'Orders').waitFor();
    await page.context().close();
  });

  it('never shows the test of another node as its result, and names a result by what it is', async () => {
    const { id } = await makeRow();
    const page = await open(id);
    await node(page, 'Orders').click();
    await press(region(page, 'Node'), 'Try');
    await succeeded(page, 'Orders').waitFor();
    await region(page, 'Test result').getByRole('heading', { name: 'Test result', exact: true }).waitFor();
    await node(page, 'Send').click();
    await region(page, 'Last test').getByText('Only this node: Orders').waitFor();
    assert.equal(await region(page, 'Test result').count(), 0);
    await page.context().close();
    const { data: run } = await world.owner.api.run(id, { word: 'x' });
    await world.owner.api.pollToEnd(run.id);
    const again = await open(id);
    await succeeded(again, 'Send').click();
    await region(again, 'Test result').getByRole('heading', { name: 'Result of the last run' }).waitFor();
    assert.equal(await again.getByRole('heading', { name: 'Test result', exact: true }).count(), 0);
    await again.context().close();
  });

  it('shows a list as a table that is exported as CSV, and the sentence of an error above the answer', async () => {
    const { owner, project } = world;
    const [list, bad] = [`/${randomUUID()}`, `/${randomUUID()}`];
    const json = { 'content-type': 'application/json' };
    world.target.on(list, [{ body: JSON.stringify([{ id: 1, name: '=1+1' }, { id: 2 }]), headers: json }]);
    const answer = JSON.stringify({ error: { code: 7, message: 'The amount is too small.' } });
    world.target.on(bad, [{ status: 422, body: answer, headers: json }]);
    const calls = [list, bad].map((path) =>
      http(`${world.target.url}${path}`, { label: path === list ? 'List' : 'Bad' }),
    );
    const nodes = linkInRow([trigger([], { label: 'Start' }), ...calls]);
    const page = await open(await owner.api.createWorkflow(project, drawing(nodes), 'Answers'));
    await node(page, 'List').click();
    await press(region(page, 'Node'), 'Try');
    const result = region(page, 'Test result');
    await result.getByRole('table', { name: 'List' }).getByRole('cell', { name: '=1+1' }).waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), press(result, 'Export CSV')]);
    assert.equal(file.suggestedFilename(), 'List.csv');
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    assert.equal(Buffer.concat(chunks).toString(), "id,name\r\n1,'=1+1\r\n2,\r\n");
    await assertAccessible(page, 'a result as a table');
    await node(page, 'Bad').click();
    await press(region(page, 'Node'), 'Try');
    await result.getByText('The amount is too small.', { exact: true }).waitFor();
    await page.context().close();
  });

  it('takes a pin that is written before there is a result, beginning with an example', async () => {
    const { owner, project } = world;
    const call = http(`${world.target.url}/never`, { label: 'Orders' });
    const said = graphNode('set', { label: 'Said', value: `{{ ${call.id}.result.content }}!` });
    const nodes = linkInRow([trigger([], { label: 'Start' }), call, said]);
    const page = await open(await owner.api.createWorkflow(project, drawing(nodes), 'Pinned'));
    await node(page, 'Orders').click();
    await press(region(page, 'Node'), 'Test');
    await page.getByRole('menuitem', { name: 'Write a pin' }).click();
    const editor = page.getByRole('textbox', { name: 'Pinned result' });
    assert.deepEqual(JSON.parse(await editor.inputValue()), { content: '', status_code: 0, headers: {} });
    await editor.fill('{"content": "by hand", "status_code": 200, "headers": {}}');
    await press(page, 'Save pin');
    await region(page, 'Test result').getByText('by hand').waitFor();
    await node(page, 'Said').click();
    await press(region(page, 'Node'), 'Try');
    await region(page, 'Test result').getByText('by hand!', { exact: true }).first().waitFor();
    assert.equal(world.target.requestsTo('/never').length, 0);
    await page.context().close();
  });

  it('has large editors: code with its inputs and its console, texts with the variables', async () => {
    const { owner, project } = world;
    const path = `/${randomUUID()}`;
    world.target.on(path, [{ body: JSON.stringify(ORDERS), headers: { 'content-type': 'application/json' } }]);
    const call = http(`${world.target.url}${path}`, { label: 'Orders' });
    const code = graphNode('code', { label: 'Sum', code: '', inputs: {} });
    const ask = llm('Say: ', { label: 'Ask' });
    const nodes = linkInRow([trigger([], { label: 'Start' }), call, code, ask]);
    const id = await owner.api.createWorkflow(project, drawing(nodes), 'Large');
    const page = await open(id);
    await node(page, 'Sum').click();
    await press(region(page, 'Node'), 'Enlarge Code');
    const dialog = page.getByRole('dialog', { name: 'Code', exact: true });
    await press(dialog, 'Write an example');
    await press(dialog, 'Fill from the nodes before');
    await region(dialog, 'Inputs').getByText('inputs.orders').waitFor();
    await assertAccessible(page, 'the large editor of code');
    await press(dialog, 'Try');
    await region(dialog, 'Console')
      .getByText(/orders/)
      .first()
      .waitFor({ timeout: 60_000 });
    await dialog.getByRole('textbox', { name: 'Code' }).press('Control+End');
    await page.keyboard.type('// the end');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await region(page, 'Node').getByRole('textbox', { name: 'Code' }).getByText('// the end').waitFor();
    await node(page, 'Ask').click();
    await press(region(page, 'Node'), 'Enlarge Message');
    const text = page.getByRole('dialog', { name: 'Message', exact: true });
    const message = text.getByRole('textbox', { name: 'Message' });
    await message.press('Control+End');
    await page.keyboard.type('again');
    await eventually(async () => (await message.textContent()) === 'Say: again');
    // One press takes back what was typed without a pause.
    await eventually(async () => {
      await page.keyboard.press('Control+z');
      return (await message.textContent()) === 'Say: ';
    });
    await message.press('Control+End');
    await page.keyboard.type('{{ tot');
    await page.getByRole('listbox', { name: 'Variables' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('listbox', { name: 'Variables' }).waitFor({ state: 'detached' });
    for (let length = '{{ tot'.length; length > 0; length -= 1) await page.keyboard.press('Backspace');
    await text.getByRole('searchbox', { name: 'Search variables' }).fill('orders[1].total');
    await text.getByRole('button', { name: /orders\[1\]\.total/ }).click();
    await text.getByText('Orders › json.orders[1].total', { exact: true }).waitFor();
    await assertAccessible(page, 'the large editor of a text');
    await press(text, 'Close');
    await field(page, 'Message').getByTitle(`{{ ${call.id}.result.json.orders[1].total }}`).waitFor();
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});
