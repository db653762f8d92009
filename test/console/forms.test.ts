// Forms of nodes: variables as chips, suggestions after `{{`, previews, models, and special forms.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { createAccount, type Account } from '../api/accounts.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  agent,
  condition,
  drawing,
  http,
  linkInRow,
  llm,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, boxAtRest, NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
/** The name of a node that has run contains its status. */
const node = (page: Page, name: string) =>
  region(page, 'Graph').getByRole('group', { name: new RegExp(`^${name}(,|$)`) });
const form = (page: Page) => region(page, 'Node');
const field = (page: Page, name: string) => form(page).getByRole('textbox', { name, exact: true });
const choice = (page: Page, name: string) => form(page).getByRole('combobox', { name, exact: true });
const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();

const MODELS = [
  { id: 'small-1', provider: 'acme', input_price_per_million: '0.15', output_price_per_million: '0.6' },
  { id: 'large-1', provider: 'acme', input_price_per_million: '3', output_price_per_million: '15' },
  { id: 'other-mini', provider: 'umbrella', input_price_per_million: '0', output_price_per_million: '0' },
];

describe('the forms of nodes', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Forms') };
  });

  /** Nodes in a row: a trigger with the field `City`, a model, a request, a condition on its answer, an agent. */
  interface Drawn {
    id: number;
    ask: DrawingNode;
  }

  async function make(): Promise<Drawn> {
    const { owner, project } = world as { owner: Account; project: number };
    const ask = llm('Hello', { label: 'Ask model' });
    const nodes = linkInRow([
      trigger([{ id: 'city', title: 'City' }], { label: 'Begin' }),
      ask,
      http('https://api.example.com/orders', { label: 'Orders' }),
      condition(`{{ ${ask.id}.result.content }}`, '==', 'yes', { label: 'Is yes' }),
      agent('Go on', { model_name: 'small-1' }, [], { label: 'Agent' }),
    ]);
    return { id: await owner.api.createWorkflow(project, drawing(nodes), 'With forms'), ask };
  }

  async function open(id: number, options: object = {}): Promise<Page> {
    const page = await world.browser.person(world.owner.userId, '/workflows', options);
    await page.route('**/api/v1/models/', (route) => route.fulfill({ json: MODELS }));
    await page.goto(`/workflows/${id}`);
    await node(page, 'Begin').waitFor();
    return page;
  }

  const stored = async (id: number, label: string): Promise<Record<string, unknown>> => {
    const { body } = await world.owner.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
    const { nodes } = body.data;
    return nodes.find((each) => each.data['label'] === label)!.data;
  };

  const save = async (page: Page): Promise<void> => {
    await press(page, 'Save');
    await page.getByRole('status').getByText('Saved').waitFor();
  };

  it('shows variables as chips, offers them behind braces, and keeps the text as it is in the drawing', async () => {
    const { id, ask } = await make();
    const page = await open(id);
    await node(page, 'Is yes').click();
    await field(page, 'Left').getByText('Ask model › content', { exact: true }).waitFor();
    await node(page, 'Orders').click();
    await field(page, 'URL').fill('https://a.example/?x=');
    await field(page, 'URL').press('End');
    await page.keyboard.type('{{ mod');
    const list = page.getByRole('listbox', { name: 'Variables' });
    await list.getByRole('option', { name: 'Ask model › Content' }).waitFor();
    assert.equal(await list.getByRole('option', { name: /City/ }).count(), 0, 'what is typed filters');
    await assertAccessible(page, 'suggestions for variables');
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await page.keyboard.type('el');
    await list.getByRole('option', { name: 'Ask model › Content' }).waitFor();
    await page.keyboard.press('Enter');
    await field(page, 'URL').getByText('Ask model › content', { exact: true }).waitFor();
    await page.keyboard.type('&y={{');
    await list.waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Tab');
    await field(page, 'URL').getByText('Input › city', { exact: true }).waitFor();
    await page.keyboard.type('&z={{ nobody.result.content }}');
    await field(page, 'URL')
      .getByTitle(/nothing in this workflow has this name/)
      .waitFor();
    // The query is a part of the same text.
    await field(page, 'Query 1 value').getByText('Ask model › content', { exact: true }).waitFor();
    // One key press deletes a chip, and Undo restores the whole text.
    await page.keyboard.press('Backspace');
    assert.match((await field(page, 'URL').textContent())!, /&z=$/);
    await assertAccessible(page, 'chips');
    await save(page);
    const url = `https://a.example/?x={{ ${ask.id}.result.content }}&y={{ input.city }}&z=`;
    assert.equal((await stored(id, 'Orders'))['url'], url);
    await field(page, 'URL').press('Control+z');
    await eventually(async () => (await field(page, 'URL').textContent()) === 'https://api.example.com/orders');
    await page.context().close();
  });

  it('keeps every digit of a number in JSON, and says where it belongs', async () => {
    const { id } = await make();
    const page = await open(id);
    await node(page, 'Orders').click();
    await choice(page, 'Body type').selectOption('JSON');
    const problem = form(page).getByText('A number has more digits than can be kept: put it in quotation marks.');
    await field(page, 'Body').fill('{"channel": 1234567890123456789}');
    await problem.waitFor();
    await save(page);
    assert.equal((await stored(id, 'Orders'))['body'], '{"channel": 1234567890123456789}');
    await field(page, 'Body').fill('{"channel": "1234567890123456789"}');
    await problem.waitFor({ state: 'detached' });
    await press(page, 'Save');
    const quoted = { channel: '1234567890123456789' };
    await eventually(async () => isDeepStrictEqual((await stored(id, 'Orders'))['body'], quoted));
    await page.context().close();
  });

  it('edits the path of a variable where a person clicks it, or presses F2 behind it, and never shows an id', async () => {
    const { id, ask } = await make();
    const page = await open(id);
    await node(page, 'Is yes').click();
    const left = field(page, 'Left');
    await left.getByText('Ask model › content').click();
    await page.keyboard.type('.n');
    await eventually(async () => (await left.textContent()) === 'Ask model ›.content.n');
    await assertAccessible(page, 'a path that is edited');
    await page.keyboard.press('Escape');
    await field(page, 'Right').click();
    await left.getByText('Ask model › content.n', { exact: true }).waitFor();
    await left.press('End');
    await page.keyboard.press('F2');
    await page.keyboard.type('m');
    await page.getByRole('listbox', { name: 'Variables' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await left.getByText('Ask model › content.nm', { exact: true }).waitFor();
    await left.getByText('Ask model › content.nm').click();
    for (let length = '.content.nm'.length; length > 0; length -= 1) await page.keyboard.press('Backspace');
    await eventually(async () => (await left.textContent()) === 'Ask model ›');
    await page.keyboard.type('.usage');
    await save(page);
    const { condition: stated } = (await stored(id, 'Is yes')) as { condition: { left: string } };
    assert.equal(stated.left, `{{ ${ask.id}.result.usage }}`);
    await page.keyboard.press('Home');
    await left.press('End');
    await page.keyboard.press('F2');
    for (let length = '.usage'.length; length >= 0; length -= 1) await page.keyboard.press('Backspace');
    await eventually(async () => (await left.textContent()) === '');
    await page.context().close();
  });

  it('renames the uses of a field whose id changes as one step of Undo, and marks dead ones', async () => {
    const { owner, project } = world;
    const ask = llm('In {{ input.city }} and {{ input.town }}', { label: 'Ask model' });
    const row = linkInRow([trigger([{ id: 'city', title: 'City' }], { label: 'Begin' }), ask]);
    const id = await owner.api.createWorkflow(project, drawing(row), 'Renamed');
    const page = await open(id);
    await node(page, 'Ask model').click();
    await field(page, 'Message').getByTitle('{{ input.town }}: the start has no such input field.').waitFor();
    await press(page, /^Problems, \d+$/);
    await region(page, 'Problems').getByText('{{ input.town }} is not known').waitFor();
    await press(page, 'Close problems');
    await node(page, 'Begin').click();
    const identifier = form(page).getByRole('textbox', { name: /^id$/i });
    await identifier.fill('');
    await identifier.pressSequentially('place');
    await node(page, 'Ask model').click();
    await field(page, 'Message').getByText('Input › place', { exact: true }).waitFor();
    await save(page);
    const messages = async () => JSON.stringify((await stored(id, 'Ask model'))['messages']);
    assert.match(await messages(), /In \{\{ input\.place \}\} and \{\{ input\.town \}\}/);
    await press(page, 'Undo');
    await field(page, 'Message').getByText('Input › city', { exact: true }).waitFor();
    await node(page, 'Begin').click();
    await eventually(async () => (await identifier.inputValue()) === 'city');
    await page.context().close();
  });

  it('shows what a text is rendered to with the values of the newest run', async () => {
    const { owner, project } = world;
    const ask = llm('Say {{ input.city }}', { label: 'Ask model' });
    const row = linkInRow([trigger([{ id: 'city', title: 'City' }], { label: 'Begin' }), ask]);
    const id = await owner.api.createWorkflow(project, drawing(row), 'Ran');
    const { data: run } = await owner.api.run(id, { city: 'Oslo' });
    await owner.api.pollToEnd(run.id);
    const page = await open(id);
    await node(page, 'Ask model, succeeded').click();
    await form(page).getByText('Say Oslo').waitFor();
    await field(page, 'Message').fill('Go to {{ input.city }}, {{ nobody.result.content }}');
    await form(page).getByText('Go to Oslo, …').waitFor();
    await field(page, 'Message').fill('No variable');
    await form(page).getByText('Go to Oslo, …').waitFor({ state: 'detached' });
    await field(page, 'Message').press('End');
    await page.keyboard.type(' {{');
    await page.getByRole('option', { name: /Input of the run › City.*Oslo/ }).waitFor();
    await page.context().close();
  });

  it('takes a variable that is dragged from the picker into a field', async () => {
    const { id, ask } = await make();
    const page = await open(id);
    await node(page, 'Orders').click();
    await field(page, 'URL').fill('');
    await press(form(page), 'Insert variable');
    const variables = page.getByRole('dialog', { name: 'Variables' });
    await variables.getByRole('searchbox', { name: 'Search variables' }).fill('content');
    await variables.getByRole('button', { name: /^Content/ }).dragTo(field(page, 'URL'));
    await field(page, 'URL').getByTitle(`{{ ${ask.id}.result.content }}`).waitFor();
    await variables.waitFor();
    await assertAccessible(page, 'variables beside the form');
    await variables.getByRole('button', { name: /^Content/ }).focus();
    await page.keyboard.press('Escape');
    await variables.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('finds a model by typing, with its price, by keyboard, and takes any other text', async () => {
    const { id } = await make();
    const page = await open(id);
    await node(page, 'Ask model').click();
    const model = choice(page, 'Model');
    await model.fill('');
    const list = page.getByRole('listbox', { name: 'Models' });
    assert.equal(await list.getByRole('option').count(), 3);
    await page.keyboard.type('acme');
    assert.deepEqual(await list.getByRole('option').allTextContents(), [
      'small-1acme · $0.15 in, $0.6 out per million tokens',
      'large-1acme · $3 in, $15 out per million tokens',
    ]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(
      await page.evaluate(
        'document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).textContent',
      ),
      'large-1acme · $3 in, $15 out per million tokens',
    );
    await assertAccessible(page, 'the models');
    await page.keyboard.press('Enter');
    await list.waitFor({ state: 'detached' });
    assert.equal(await model.inputValue(), 'large-1');
    await form(page).getByText('$3 in, $15 out per million tokens').waitFor();
    await page.keyboard.press('ArrowDown');
    await list.waitFor();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await model.fill('model-of-my-own');
    await save(page);
    assert.equal(((await stored(id, 'Ask model'))['settings'] as { model_name: string }).model_name, 'model-of-my-own');
    await page.context().close();
  });

  it('shows messages as a chat, and the settings of a model under More', async () => {
    const { id } = await make();
    const page = await open(id);
    await node(page, 'Ask model').click();
    const messages = form(page).getByRole('group', { name: 'Messages', exact: true });
    await press(messages, 'Add message');
    const second = messages.getByRole('group', { name: 'Message 2', exact: true });
    assert.equal(await second.getByRole('combobox', { name: 'Role' }).inputValue(), 'assistant');
    await second.getByRole('textbox', { name: 'Message' }).fill('Yes?');
    await press(messages, 'Move message 2 up');
    assert.equal(await field(page, 'Temperature').isVisible(), true, 'it has a value');
    assert.equal(await field(page, 'Top P').isVisible(), false);
    await form(page).getByText('More', { exact: true }).click();
    await field(page, 'Top P').fill('0.5');
    await assertAccessible(page, 'the form of a model');
    await save(page);
    const data = await stored(id, 'Ask model');
    assert.deepEqual(data['messages'], [
      { role: 'assistant', message: 'Yes?' },
      { role: 'user', message: 'Hello' },
    ]);
    assert.equal((data['settings'] as { top_p: number }).top_p, 0.5);
    await page.context().close();
  });

  it('writes a request with its query, its headers and its body by type', async () => {
    const { id } = await make();
    const page = await open(id);
    await node(page, 'Orders').click();
    await choice(page, 'Method').selectOption('POST');
    await press(form(page), 'Add parameter');
    await field(page, 'Query 1 name').fill('the city');
    await field(page, 'Query 1 value').fill('{{ input.city }} & more');
    await press(form(page), 'Add header');
    await field(page, 'Headers 1 name').fill('Accept');
    await field(page, 'Headers 1 value').fill('text/plain');
    await choice(page, 'Body type').selectOption('Form');
    await press(form(page), 'Add field');
    await field(page, 'Body 1 name').fill('size');
    await field(page, 'Body 1 value').fill('3');
    await assertAccessible(page, 'the form of a request');
    await save(page);
    const { url, method, headers, body } = await stored(id, 'Orders');
    assert.equal(url, 'https://api.example.com/orders?the%20city={{ input.city }}%20%26%20more');
    assert.equal(method, 'POST');
    assert.deepEqual(headers, { Accept: 'text/plain', 'Content-Type': 'application/x-www-form-urlencoded' });
    assert.deepEqual(body, { size: 3 });
    await choice(page, 'Body type').selectOption('JSON');
    await field(page, 'Body').fill('{"size": 4}');
    await press(page, 'Save');
    await eventually(async () => isDeepStrictEqual((await stored(id, 'Orders'))['body'], { size: 4 }));
    assert.deepEqual((await stored(id, 'Orders'))['headers'], { Accept: 'text/plain' });
    await choice(page, 'Body type').selectOption('None');
    await press(page, 'Save');
    await eventually(async () => (await stored(id, 'Orders'))['body'] === undefined);
    await page.context().close();
  });

  it('keeps the field of a text body while a person types a variable, or replaces what an import has brought', async () => {
    const { id } = await make();
    const page = await open(id);
    await node(page, 'Orders').click();
    await choice(page, 'Body type').selectOption('Text');
    await field(page, 'Body').focus();
    await page.keyboard.type('{{ input.city }}!');
    await press(page, 'Save');
    await eventually(async () => (await stored(id, 'Orders'))['body'] === '{{ input.city }}!');
    await field(page, 'Body').fill('{{ input.city }}');
    await press(page, 'Save');
    await eventually(async () => (await stored(id, 'Orders'))['body'] === '{{ input.city }}');
    assert.equal(await choice(page, 'Body type').inputValue(), 'text');
    await choice(page, 'Body type').selectOption('None');
    await press(form(page), 'Import cURL');
    const dialog = page.getByRole('dialog', { name: 'Import cURL' });
    const command = `curl https://a.example -H 'Content-Type: text/plain' -d hello`;
    await dialog.getByRole('textbox', { name: 'Command', exact: true }).fill(command);
    await press(dialog, 'Import');
    await dialog.waitFor({ state: 'detached' });
    await field(page, 'Body').getByText('hello', { exact: true }).waitFor();
    await field(page, 'Body').press('Control+a');
    // The second one would remove the node if the field were gone.
    for (let presses = 0; presses < 2; presses += 1) await page.keyboard.press('Backspace');
    await page.keyboard.type('bye');
    await press(page, 'Save');
    await eventually(async () => (await stored(id, 'Orders'))['body'] === 'bye');
    await page.context().close();
  });

  it('opens More where a problem is in it, and leads there', async () => {
    const { id } = await make();
    const page = await open(id);
    await node(page, 'Ask model').click();
    await form(page).getByText('More', { exact: true }).click();
    await field(page, 'Max tokens').fill('-5');
    await save(page);
    await node(page, 'Orders').click();
    await node(page, 'Begin').click();
    await press(page, /^Problems, \d+$/);
    await region(page, 'Problems')
      .getByRole('button', { name: /Max tokens/ })
      .click();
    await eventually(() =>
      page.evaluate(`document.activeElement.closest('[data-path]')?.dataset.path === 'settings.max_tokens'`),
    );
    assert.equal(await field(page, 'Max tokens').isVisible(), true);
    await page.context().close();
  });

  it('leaves More open while a problem in it is corrected', async () => {
    const { id } = await make();
    const page = await open(id);
    await node(page, 'Ask model').click();
    await form(page).getByText('More', { exact: true }).click();
    const most = field(page, 'Max tokens');
    await most.fill('-5');
    await eventually(async () => (await most.getAttribute('aria-invalid')) === 'true');
    await most.fill('5');
    await eventually(async () => (await most.getAttribute('aria-invalid')) !== 'true');
    assert.equal(await most.isVisible(), true);
    await page.context().close();
  });

  it('fits a narrow screen in the dark, and breaks no policy', async () => {
    const { id } = await make();
    const page = await open(id, { ...NARROW, colorScheme: 'dark' });
    for (const name of ['Ask model', 'Orders', 'Is yes', 'Agent']) {
      // A click on a node at the edge of the canvas scrolls there, and React Flow scrolls back during the click.
      await press(page, 'Fit View');
      // The view may still follow the node that was chosen last.
      await boxAtRest(node(page, name));
      await node(page, name).click();
      await eventually(async () => (await field(page, 'Label').inputValue()) === name);
      await assertFits(page, name);
      await assertAccessible(page, `the narrow form of ${name}`);
      await press(page, 'Close panel');
    }
    await page.context().close();
    world.browser.assertClean();
  });
});
