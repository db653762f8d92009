import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { createPerson } from '../api/sessions/people.js';
import { eventually } from '../../harness/timing/eventually.js';
import { createGate } from '../../harness/timing/gate.js';
import { queryDatabase } from '../support/inspect.js';
import { assertAccessible } from './axe.js';
import { NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string) => region(page, 'Graph').getByRole('group', { name, exact: true });
const field = (page: Page, name: string) => region(page, 'Node').getByRole('textbox', { name, exact: true });
const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();

/** Chooses an item of the menu of the workflow. */
async function choose(page: Page, item: string): Promise<void> {
  await press(page, 'More');
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

const VALUES = { 'Set value': '{"city": "{{ input.city }}"}', Output: '{{ input.city }}' };

async function newWorkflow(page: Page, title: string): Promise<void> {
  await press(page, 'New workflow');
  const dialog = page.getByRole('dialog', { name: 'New workflow' });
  await dialog.getByRole('textbox', { name: 'Title' }).fill(title);
  await press(dialog, 'Create');
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
}

async function connectTo(page: Page, from: string, to: string, box = 'Connect to'): Promise<void> {
  await node(page, from).click();
  await region(page, 'Node').getByRole('combobox', { name: box, exact: true }).selectOption({ label: to });
  // Another exit may link the two nodes as well.
  await node(page, `${from} to ${to}`).last().waitFor({ state: 'attached' });
}

/** Opens the list of problems, and returns it. */
async function openProblems(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: /^Problems, \d+$/ }).click();
  return region(page, 'Problems');
}

interface Stored {
  nodes: { id: string; type: string; data: Record<string, unknown> }[];
  edges: { target: string; sourceHandle?: string }[];
}

const valuesOf = (boxes: Element[]): string[] => boxes.map((box) => (box as unknown as { value: string }).value);

async function save(page: Page): Promise<void> {
  await page.keyboard.press('Control+s');
  await page.getByText('All changes saved').waitFor();
}

describe('the editor', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => ({ person: await createPerson(stack) }));

  it('lets a newcomer draw trigger, request, model and condition, and run them', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'First steps');
    for (const kind of ['Trigger', 'HTTP request', 'LLM request', 'Condition']) await press(page, `Add ${kind}`);
    await node(page, 'Trigger').click();
    await press(page, 'Add input field');
    await field(page, 'Title').fill('City name');
    assert.equal(await field(page, 'ID').inputValue(), 'city_name');
    await connectTo(page, 'Trigger', 'HTTP request');
    await connectTo(page, 'HTTP request', 'LLM request');
    await connectTo(page, 'LLM request', 'Condition');
    await node(page, 'HTTP request').click();
    await field(page, 'URL').fill(`${world.stack.apiUrl}/healthz?city=`);
    await press(region(page, 'Node'), 'Insert variable');
    await press(page, /^City name/);
    await eventually(() => page.evaluate(`document.activeElement.textContent.endsWith('city=Input › city_name')`));
    await node(page, 'LLM request').click();
    await region(page, 'Node').getByRole('combobox', { name: 'Model', exact: true }).fill('some-model');
    await field(page, 'Message').fill('Say OK');
    await node(page, 'Condition').click();
    await field(page, 'Left').fill('1');
    await field(page, 'Right').fill('1');
    await assertAccessible(page, 'the editor');
    await page.keyboard.press('Control+Enter');
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await dialog.getByText('Your unsaved changes are saved first.').waitFor();
    await dialog.getByRole('textbox', { name: 'City name' }).fill('Oslo');
    await press(dialog, 'Start run');
    await region(page, 'Last run').getByRole('link', { name: 'Open run' }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    await page.context().close();
  });

  it('asks for no right side where an operator needs none, and takes any JSON as a value', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'Values');
    for (const kind of ['Trigger', 'Condition', 'Set value', 'Output']) await press(page, `Add ${kind}`);
    await node(page, 'Condition').click();
    const operator = region(page, 'Node').getByRole('combobox', { name: 'Operator', exact: true });
    await operator.selectOption('matches');
    await region(page, 'Node').getByText('a pattern in RE2 syntax').last().waitFor();
    await field(page, 'Right').fill('^a');
    await operator.selectOption('is_empty');
    await field(page, 'Right').waitFor({ state: 'detached' });
    await field(page, 'Left').fill('{{ input.city }}');
    for (const [name, value] of Object.entries(VALUES)) {
      await node(page, name).click();
      await field(page, 'Value').fill(value);
    }
    await assertAccessible(page, 'the editor of a value');
    await save(page);
    const id = /\/workflows\/(\d+)/.exec(page.url())![1]!;
    const [stored] = await queryDatabase<{ document: { nodes: { type: string; data: Record<string, unknown> }[] } }>(
      world.stack,
      'SELECT document FROM workflows WHERE id = $1',
      [id],
    );
    const dataOf = (type: string) => stored!.document.nodes.find((drawn) => drawn.type === type)!.data;
    const { left, operator: chosen } = dataOf('if-else-node')['condition'] as Record<string, unknown>;
    assert.deepEqual([left, chosen], ['{{ input.city }}', 'is_empty']);
    assert.deepEqual(dataOf('set-node')['value'], { city: '{{ input.city }}' });
    assert.equal(dataOf('output-node')['value'], '{{ input.city }}');
    await page.context().close();
  });

  it('takes back and repeats each gesture as one step, and asks before unsaved changes are left', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'Steps');
    await press(page, 'Add Trigger');
    await press(page, 'Add HTTP request');
    await field(page, 'Label').fill('Fetch');
    await connectTo(page, 'Trigger', 'Fetch');
    await node(page, 'Fetch').click();
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Control+v');
    await assert.doesNotReject(node(page, 'Fetch').nth(1).waitFor());
    await page.keyboard.press('Control+z');
    await node(page, 'Fetch').nth(1).waitFor({ state: 'detached' });
    await node(page, 'Trigger').click();
    await node(page, 'Fetch').click({ modifiers: ['Control'] });
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Control+v');
    await node(page, 'Trigger to Fetch').nth(1).waitFor({ state: 'attached' });
    await page.keyboard.press('Delete');
    await node(page, 'Trigger to Fetch').nth(1).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await node(page, 'Trigger to Fetch').nth(1).waitFor({ state: 'attached' });
    await page.keyboard.press('Control+Shift+z');
    await node(page, 'Trigger to Fetch').nth(1).waitFor({ state: 'detached' });
    const before = await distance(node(page, 'Trigger'), node(page, 'Fetch'));
    await drag(page, node(page, 'Fetch'), -20, 120);
    const after = await distance(node(page, 'Trigger'), node(page, 'Fetch'));
    assert.ok(after[1]! > before[1]! + 80, JSON.stringify({ before, after }));
    await page.keyboard.press('Control+z');
    await eventually(async () => {
      assert.deepEqual(await distance(node(page, 'Trigger'), node(page, 'Fetch')), before);
      return true;
    });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
    const question = page.getByRole('alertdialog', { name: 'Unsaved changes' });
    await press(question, 'Stay');
    await save(page);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
    await page.waitForURL(/\/runs$/);
    await page.context().close();
  });

  it('lists the ways out of a switch with their conditions and targets, and edits code with its inputs', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'Ways');
    for (const kind of ['Trigger', 'Switch', 'Code', 'Output']) await press(page, `Add ${kind}`);
    await connectTo(page, 'Trigger', 'Switch');
    await node(page, 'Switch').click();
    const form = region(page, 'Node');
    const way = (name: string) => form.getByRole('group', { name, exact: true });
    await press(form, 'Add case');
    assert.equal(await way('Case 2').getByRole('textbox', { name: 'Case ID' }).inputValue(), 'case_2');
    await way('Case 2').getByRole('textbox', { name: 'Case label' }).fill('Large');
    await way('Large').getByRole('textbox', { name: 'Left' }).fill('{{ input.size }}');
    await way('Large').getByRole('combobox', { name: 'Operator' }).selectOption('is_not_empty');
    await way('Large').getByRole('textbox', { name: 'Right' }).waitFor({ state: 'detached' });
    await connectTo(page, 'Switch', 'Code', 'Connect Large to');
    await connectTo(page, 'Switch', 'Output', 'Connect Otherwise to');
    // The drawn link follows the id of the case, and its target moves with the case.
    await way('Large').getByRole('textbox', { name: 'Case ID' }).fill('large');
    await press(form, 'Move Large up');
    assert.deepEqual(await form.getByRole('textbox', { name: 'Case label' }).evaluateAll(valuesOf), [
      'Large',
      'Case 1',
    ]);
    await way('Large').getByRole('button', { name: 'Remove link to Code' }).waitFor();
    await press(form, 'Remove Case 1');
    await way('Case 1').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await way('Case 1').getByRole('textbox', { name: 'Left' }).fill('1');
    await way('Case 1').getByRole('textbox', { name: 'Right' }).fill('2');
    await assertAccessible(page, 'the editor of cases');
    await node(page, 'Code').click();
    await field(page, 'Code').fill('// subtracts');
    await field(page, 'Code').press('Control+a');
    await page.keyboard.type('/');
    await page.keyboard.type('/ adds\nreturn inputs.a + 1;');
    await field(page, 'Code').getByText('return', { exact: true }).waitFor();
    await press(form, 'Add input');
    await form.getByRole('textbox', { name: 'Inputs 1 name' }).fill('a');
    await form.getByRole('textbox', { name: 'Inputs 1 value' }).fill('4.0');
    assert.equal(await form.getByRole('textbox', { name: 'Inputs 1 value' }).textContent(), '4.0');
    await field(page, 'Code').focus();
    await press(form, 'Insert variable');
    await page.keyboard.press('Escape');
    await assertAccessible(page, 'the editor of code');
    await save(page);
    const id = /\/workflows\/(\d+)/.exec(page.url())![1]!;
    const [stored] = await queryDatabase<{ document: Stored }>(
      world.stack,
      'SELECT document FROM workflows WHERE id = $1',
      [id],
    );
    const { nodes, edges } = stored!.document;
    const dataOf = (type: string) => nodes.find((drawn) => drawn.type === type)!.data;
    const codeId = nodes.find(({ type }) => type === 'code-node')!.id;
    const cases = dataOf('switch-node')['cases'] as Record<string, unknown>[];
    assert.deepEqual(
      cases.map(({ id: named, label, node: to }) => [named, label, to ?? null]),
      [
        ['large', 'Large', codeId],
        // `Code` was linked to this exit when it was added.
        ['case_1', 'Case 1', codeId],
      ],
    );
    const toCode = edges.filter(({ target }) => target === codeId).map(({ sourceHandle }) => sourceHandle);
    assert.deepEqual(new Set(toCode), new Set(['case_1', 'large']));
    assert.deepEqual(dataOf('code-node')['inputs'], { a: 4 });
    assert.match(String(dataOf('code-node')['code']), /^\/\/ adds\n\s*return inputs\.a \+ 1;$/);
    await page.context().close();
  });

  it('draws the way after a failure, and the run takes it', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'Failures');
    for (const kind of ['Trigger', 'HTTP request', 'Condition']) await press(page, `Add ${kind}`);
    await connectTo(page, 'Trigger', 'HTTP request');
    await node(page, 'HTTP request').click();
    await field(page, 'URL').fill(`${world.stack.apiUrl}/no-such-page`);
    await region(page, 'Node').getByText('Errors, retries and start', { exact: true }).click();
    await region(page, 'Node').getByRole('combobox', { name: 'When it fails', exact: true }).selectOption('branch');
    await connectTo(page, 'HTTP request', 'Condition', 'Connect Failed to');
    await node(page, 'Condition').click();
    await field(page, 'Left').fill('1');
    await field(page, 'Right').fill('1');
    await save(page);
    await page.keyboard.press('Control+Enter');
    await press(page.getByRole('dialog', { name: 'Run workflow' }), 'Start run');
    const graph = region(page, 'Graph');
    await graph.getByRole('group', { name: /^HTTP request, failed, handled/ }).waitFor();
    await graph.getByRole('group', { name: /^Condition, succeeded/ }).waitFor();
    await page.context().close();
  });

  it('leads from a problem to its field', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'Problems');
    await press(page, 'Add Trigger');
    await press(page, 'Add LLM request');
    await connectTo(page, 'Trigger', 'LLM request');
    await save(page);
    await node(page, 'Trigger').click();
    const problems = await openProblems(page);
    await problems.getByRole('button', { name: /LLM request: Messages 1 › Message/ }).click();
    await eventually(() =>
      page.evaluate(`document.activeElement.closest('[data-path]')?.dataset.path === 'messages.0.message'`),
    );
    await page.context().close();
  });

  it('saves once more what a person takes back while a save is on its way', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'Taken back');
    await press(page, 'Add Trigger');
    await field(page, 'Label').fill('Before');
    await save(page);
    const id = /\/workflows\/(\d+)/.exec(page.url())![1]!;
    const labelOf = async () => {
      const sql = 'SELECT document FROM workflows WHERE id = $1';
      const [row] = await queryDatabase<{ document: Stored }>(world.stack, sql, [id]);
      return row!.document.nodes[0]!.data['label'];
    };
    const answered = createGate();
    await page.route(`**/api/v1/workflows/${id}/`, async (route) => {
      const answer = await route.fetch();
      await answered.opened;
      await route.fulfill({ response: answer });
    });
    await field(page, 'Label').fill('After');
    await page.keyboard.press('Control+s');
    await eventually(async () => (await labelOf()) === 'After');
    await field(page, 'Label').fill('Before');
    await page.getByText('Unsaved changes').waitFor();
    await page.keyboard.press('Control+s');
    answered.open();
    await page.getByText('All changes saved').waitFor();
    assert.equal(await labelOf(), 'Before');
    await page.context().close();
  });

  it('shows what somebody else has saved meanwhile, and lets a person choose', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'Shared');
    await press(page, 'Add Trigger');
    await save(page);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await node(other, 'Trigger').click();
    await field(other, 'Label').fill('Theirs');
    await save(other);
    await node(page, 'Trigger').click();
    await field(page, 'Label').fill('Mine');
    await page.keyboard.press('Control+s');
    const dialog = page.getByRole('dialog', { name: 'Changed meanwhile' });
    await dialog.getByText('Theirs', { exact: false }).first().waitFor();
    await assertAccessible(page, 'the question');
    await press(dialog, 'Take theirs');
    await node(page, 'Theirs').waitFor();
    await page.keyboard.press('Control+z');
    await node(page, 'Mine').waitFor();
    await save(page);
    await choose(page, 'Versions');
    await press(page.getByRole('dialog', { name: 'Versions' }), /^Restore version 2$/);
    await node(page, 'Trigger').waitFor();
    await page.context().close();
  });

  it('adds a node where a link is dropped on empty ground, and where a kind is dragged to', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'Dropping');
    await press(page, 'Add Trigger');
    const handle = (await node(page, 'Trigger').locator('.react-flow__handle-right').boundingBox())!;
    await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
    await page.mouse.down();
    await page.mouse.move(handle.x + 60, handle.y + 60, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('menuitem', { name: 'Condition', exact: true }).click();
    await node(page, 'Trigger to Condition').waitFor({ state: 'attached' });
    await page.keyboard.press('Control+z');
    await node(page, 'Condition').waitFor({ state: 'detached' });
    const target = region(page, 'Graph');
    await page.getByRole('button', { name: 'Add Agent' }).dragTo(target, { targetPosition: { x: 200, y: 120 } });
    await node(page, 'Agent').waitFor();
    assert.equal(await field(page, 'Label').inputValue(), 'Agent');
    await page.context().close();
  });

  it('can be used by the keyboard alone', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'By keyboard');
    for (const name of ['Add Trigger', 'Add HTTP request']) {
      await page.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    }
    await node(page, 'Trigger').focus();
    await page.keyboard.press('Enter');
    const box = region(page, 'Node').getByRole('combobox', { name: 'Connect to' });
    await box.focus();
    await box.selectOption({ label: 'HTTP request' });
    const link = node(page, 'Trigger to HTTP request');
    await link.focus();
    await page.keyboard.press('Enter');
    await region(page, 'Node').getByText('1 link selected.').waitFor();
    await page.keyboard.press('Delete');
    await link.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await link.waitFor({ state: 'attached' });
    const before = await distance(node(page, 'Trigger'), node(page, 'HTTP request'));
    await node(page, 'HTTP request').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const after = await distance(node(page, 'Trigger'), node(page, 'HTTP request'));
    assert.ok(after[1]! > before[1]!);
    await page.keyboard.press('Control+z');
    await eventually(async () => {
      assert.deepEqual(await distance(node(page, 'Trigger'), node(page, 'HTTP request')), before);
      return true;
    });
    await page.context().close();
  });

  it('keeps a stored secret that nobody has changed, and sends nothing where nothing was changed', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    let sent = 0;
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent += 1;
    });
    await newWorkflow(page, 'Secrets');
    await press(page, 'Add Trigger');
    await press(page, 'Add input field');
    await region(page, 'Node').getByRole('checkbox', { name: 'Secret' }).check();
    assert.equal(await field(page, 'Default value').getAttribute('type'), 'password');
    await field(page, 'Default value').fill('a-long-secret');
    await save(page);
    assert.equal(await field(page, 'Default value').inputValue(), '********');
    await field(page, 'Label').fill('Start');
    await save(page);
    await page.keyboard.press('Control+s');
    await page.waitForTimeout(300);
    assert.equal(sent, 2);
    // The check of the service would warn of a lost secret.
    await (await openProblems(page)).getByText('This workflow can run.').waitFor();
    await page.context().close();
  });

  it('exports a drawing that can be imported, and refuses a broken file', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await newWorkflow(page, 'To take along');
    await press(page, 'Add Trigger');
    const [download] = await Promise.all([page.waitForEvent('download'), choose(page, 'Export')]);
    assert.equal(download.suggestedFilename(), 'To take along.json');
    await save(page);
    await page.goto('/workflows');
    const input = page.locator('input[type=file]');
    await input.setInputFiles({ name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from('{"nodes"') });
    await page.getByRole('alert').getByText('broken.json').waitFor();
    const path = await download.path();
    await input.setInputFiles(path);
    await page.getByRole('heading', { level: 1, name: 'To take along' }).waitFor();
    await node(page, 'Trigger').waitFor();
    await page.context().close();
  });

  it('is usable on a narrow screen and in the dark', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows', { ...NARROW, colorScheme: 'dark' });
    await page.getByRole('link', { name: 'First steps' }).waitFor();
    await assertAccessible(page, 'the list');
    await page.getByRole('link', { name: 'First steps' }).click();
    await node(page, 'Trigger, succeeded').click();
    await field(page, 'Label').waitFor();
    await assertAccessible(page, 'the narrow editor');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto('/workflows');
    await page.getByRole('link', { name: 'First steps' }).waitFor();
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});

async function distance(from: Locator, to: Locator): Promise<number[]> {
  const [left, right] = [(await from.boundingBox())!, (await to.boundingBox())!];
  return [Math.round(right.x - left.x), Math.round(right.y - left.y)];
}

async function drag(page: Page, what: Locator, x: number, y: number): Promise<void> {
  const box = (await what.boundingBox())!;
  const [fromX, fromY] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(fromX, fromY);
  await page.mouse.down();
  for (let step = 1; step <= 5; step += 1) await page.mouse.move(fromX + (x * step) / 5, fromY + (y * step) / 5);
  await page.mouse.up();
}
