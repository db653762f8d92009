// What the forms of all kinds have in common: marks at required fields, messages in words, lengths of time, lists whose
// buttons and ids are words, and the import of a cURL command.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../harness/timing/eventually.js';
import {
  drawing,
  http,
  link,
  linkInRow,
  node as draw,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const form = (page: Page) => region(page, 'Node');
const node = (page: Page, name: string) =>
  region(page, 'Graph').getByRole('group', { name: new RegExp(`^${name}(,|$)`) });
const press = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true }).click();
const text = (within: Page | Locator, name: string) => within.getByRole('textbox', { name, exact: true });
const choice = (within: Page | Locator, name: string) => within.getByRole('combobox', { name, exact: true });

describe('the forms of all kinds', function () {
  this.timeout(120_000);
  const world = useConsole((stack) => createOwner(stack, 'Node forms'));

  const create = (nodes: DrawingNode[], title: string): Promise<number> =>
    world.account.api.createWorkflow(world.projectId, drawing(nodes), title);
  const open = (id: number, options = {}): Promise<Page> =>
    world.browser.person(world.account.userId, `/workflows/${id}`, options);
  const stored = async (id: number, label: string): Promise<Record<string, unknown>> => {
    const { body } = await world.account.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
    return body.data.nodes.find(({ data }) => data['label'] === label)!.data;
  };
  const save = async (page: Page): Promise<void> => {
    await press(page, 'Save');
    await page.getByRole('status').getByText('Saved').waitFor();
  };

  it('mark required fields, and say in words what is missing', async () => {
    const nodes = linkInRow([
      trigger([], { label: 'Begin' }),
      http('', { label: 'Orders' }),
      draw('workflow', { workflow_id: 0, label: 'Other' }),
    ]);
    const page = await open(await create(nodes, 'Marks'));
    await node(page, 'Orders').click();
    await form(page).getByText('Enter an address.', { exact: true }).waitFor();
    assert.equal(await text(form(page), 'URL').getAttribute('aria-required'), 'true');
    assert.equal(await form(page).getByTitle('Required').count(), 1, 'only the address is required');
    assert.equal(await choice(form(page), 'Method').getAttribute('aria-required'), null);
    await assertAccessible(page, 'marks of required fields');
    await page.context().close();
  });

  it('take lengths of time in any unit, and offer only the exits of the mode of a wait', async () => {
    const wait = draw('wait', { mode: 'duration', seconds: 7200, label: 'Pause' });
    const start = trigger([], { label: 'Begin' });
    link(start, wait);
    const id = await create([start, wait, draw('output', { value: 1, label: 'End' })], 'Waits');
    const page = await open(id);
    await node(page, 'Pause').click();
    const unit = choice(form(page), 'Unit of Duration');
    assert.equal(await unit.inputValue(), 'hours');
    await text(form(page), 'Duration').getByText('2', { exact: true }).waitFor();
    assert.equal(await choice(form(page), 'Connect Timed out to').count(), 0);
    await unit.selectOption('days');
    await text(form(page), 'Duration').fill('1.5');
    await press(page, 'Save');
    await eventually(async () => (await stored(id, 'Pause'))['seconds'] === 129_600);
    await text(form(page), 'Duration').fill('{{ input.long }}');
    await eventually(async () => (await unit.inputValue()) === 'seconds' && (await unit.isDisabled()));
    await press(page, 'Save');
    await eventually(async () => (await stored(id, 'Pause'))['seconds'] === '{{ input.long }}');
    await choice(form(page), 'Mode').selectOption('until it is called back');
    await choice(form(page), 'Connect Timed out to').selectOption('End');
    await text(form(page), 'Timeout').fill('30');
    await choice(form(page), 'Unit of Timeout').selectOption('minutes');
    await press(page, 'Save');
    await eventually(async () => (await stored(id, 'Pause'))['timeout'] === 1800);
    const callback = await stored(id, 'Pause');
    assert.equal(callback['mode'], 'callback');
    assert.notEqual(callback['timeout_node'] ?? null, null);
    // The link stays in sight, so that a person can delete it.
    await choice(form(page), 'Mode').selectOption('duration');
    await form(page).getByText('Links from an exit that this node does not have. They do not run.').waitFor();
    await node(page, 'Pause to End').waitFor({ state: 'attached' });
    await assertAccessible(page, 'the form of a wait');
    await page.context().close();
  });

  it('let arrow keys choose where the browser has no showPicker, such as an older Safari', async () => {
    const nodes = [trigger([], { label: 'Begin' }), draw('output', { value: 1, label: 'End' })];
    const page = await open(await create(nodes, 'Arrows'));
    await node(page, 'Begin').click();
    await choice(form(page), 'Connect to').waitFor();
    await page.evaluate('delete HTMLSelectElement.prototype.showPicker');
    await choice(form(page), 'Connect to').press('ArrowDown');
    await node(page, 'Begin to End').waitFor({ state: 'attached' });
    await page.context().close();
  });

  it('make a human task with a field and two actions, whose ids follow their labels until they are used', async () => {
    const ask = draw('human', { message: 'Fine?', label: 'Ask' });
    const start = trigger([], { label: 'Begin' });
    const end = draw('output', { value: 1, label: 'End' });
    link(start, ask);
    link(ask, end);
    const id = await create([start, ask, end], 'Asks');
    const page = await open(id);
    await node(page, 'Ask').click();
    await press(form(page), 'Add field');
    const fields = form(page).getByRole('group', { name: 'Field 1', exact: true });
    await text(fields, 'Title').fill('How many');
    await choice(fields, 'Type').selectOption('number');
    await press(form(page), 'Add action');
    const action = (name: string) => form(page).getByRole('group', { name, exact: true });
    await text(action('Action 1'), 'Action label').fill('Approve');
    assert.equal(await text(action('Approve'), 'Action ID').inputValue(), 'approve');
    await press(form(page), 'Add action');
    await text(action('Action 2'), 'Action ID').fill('no');
    await text(action('Action 2'), 'Action label').fill('Reject');
    assert.equal(await text(action('Reject'), 'Action ID').inputValue(), 'no', 'an id that a person wrote stays');
    await assertAccessible(page, 'the form of a human task');
    await save(page);
    const data = await stored(id, 'Ask');
    const actions = data['actions'] as { id: string; label: string; node: unknown }[];
    assert.deepEqual(
      actions.map((each) => [each.id, each.label]),
      [
        ['approve', 'Approve'],
        ['no', 'Reject'],
      ],
    );
    assert.deepEqual([actions[0]!.node].flat(), [end.id], 'the link follows the id');
    assert.deepEqual(
      (data['fields'] as { id: string; type: string }[]).map((each) => [each.id, each.type]),
      [['how_many', 'number']],
    );
    await page.context().close();
  });

  it('leave an id that a person wrote, also where it takes the place of a removed action', async () => {
    const actions = [
      { id: 'yes', label: 'Yes' },
      { id: 'never_mind', label: 'No' },
    ];
    const ask = draw('human', { message: 'Fine?', label: 'Ask', actions });
    const page = await open(await create(linkInRow([trigger([], { label: 'Begin' }), ask]), 'Own ids'));
    await node(page, 'Ask').click();
    const action = (name: string) => form(page).getByRole('group', { name, exact: true });
    await press(form(page), 'Remove Yes');
    await action('Yes').waitFor({ state: 'detached' });
    await text(action('No'), 'Action label').fill('Stop');
    assert.equal(await text(action('Stop'), 'Action ID').inputValue(), 'never_mind');
    await press(form(page), 'Add action');
    await text(action('Action 2'), 'Action label').fill('Approve');
    await text(action('Approve'), 'Action label').fill('');
    await text(action('approve'), 'Action label').fill('Reject');
    assert.equal(await text(action('Reject'), 'Action ID').inputValue(), 'reject', 'it follows an emptied label, too');
    await page.context().close();
  });

  it('import a cURL command with what it holds, and say what was not read', async () => {
    const start = trigger([], { label: 'Begin' });
    const orders = http('https://old.example', { label: 'Orders' });
    link(start, orders);
    const id = await create([start, orders], 'Imports');
    const page = await open(id);
    await node(page, 'Orders').click();
    await press(form(page), 'Import cURL');
    const dialog = page.getByRole('dialog', { name: 'Import cURL' });
    await text(dialog, 'Command').fill('wget x');
    await press(dialog, 'Import');
    await dialog.getByText('The command must begin with curl.').waitFor();
    await text(dialog, 'Command').fill(
      `curl -k 'https://api.example.com/orders?state=open' -H 'Authorization: Bearer abc-123' --json '{"size": 3}'`,
    );
    await assertAccessible(page, 'the import of a command');
    await press(dialog, 'Import');
    const remarks = dialog.getByRole('list', { name: 'Remarks' });
    await remarks.getByText('The option -k was not read.').waitFor();
    await remarks.getByText('The header Authorization is a credential.').waitFor();
    await press(dialog, 'Done');
    assert.equal(await choice(form(page), 'Method').inputValue(), 'POST');
    await text(form(page), 'Query 1 value').getByText('open', { exact: true }).waitFor();
    await save(page);
    const { url, method, headers, body } = await stored(id, 'Orders');
    assert.deepEqual(
      { url, method, headers, body },
      {
        url: 'https://api.example.com/orders?state=open',
        method: 'POST',
        headers: { Authorization: '********', 'Content-Type': 'application/json', Accept: 'application/json' },
        body: { size: 3 },
      },
    );
    await text(form(page), 'URL').press('Control+z');
    await text(form(page), 'URL').getByText('https://old.example', { exact: true }).waitFor();
    await page.context().close();
  });

  it('import a form with several fields of one name, each of which can be edited', async () => {
    const id = await create(linkInRow([trigger([], { label: 'Begin' }), http('', { label: 'Orders' })]), 'Repeats');
    const page = await open(id);
    await node(page, 'Orders').click();
    await press(form(page), 'Import cURL');
    const dialog = page.getByRole('dialog', { name: 'Import cURL' });
    await text(dialog, 'Command').fill('curl https://a.example -F tag=a -F tag=b -F note=hi');
    await press(dialog, 'Import');
    await dialog.waitFor({ state: 'detached' });
    await text(form(page), 'Body 2 value').fill('c');
    await text(form(page), 'Body 1 name').fill('label');
    assert.equal(await text(form(page), 'Body 2 name').inputValue(), 'label', 'one list has one name');
    await press(page, 'Save');
    const isStored = (body: object) => async () => isDeepStrictEqual((await stored(id, 'Orders'))['body'], body);
    await eventually(isStored({ $form: { label: ['a', 'c'], note: 'hi' } }));
    await press(form(page), 'Remove Body 1 value');
    await press(form(page), 'Remove Body 2 value');
    await press(page, 'Save');
    await eventually(isStored({ $form: { label: ['c'] } }));
    await page.context().close();
  });

  it('fit a narrow screen in the dark, and break no policy', async () => {
    const nodes = linkInRow([
      trigger([], { label: 'Begin' }),
      draw('wait', { mode: 'duration', seconds: 60, label: 'Pause' }),
      draw('human', { message: 'Fine?', fields: [{ id: 'a', title: 'A', type: 'text' }], label: 'Ask' }),
    ]);
    const page = await open(await create(nodes, 'Narrow forms'), { ...NARROW, colorScheme: 'dark' });
    for (const name of ['Pause', 'Ask']) {
      await page.evaluate('scrollTo(0, 0)');
      await node(page, name).click();
      await eventually(async () => (await text(form(page), 'Label').inputValue()) === name);
      await assertFits(page, name);
      await assertAccessible(page, `the narrow form of ${name}`);
    }
    await page.context().close();
    world.browser.assertClean();
  });
});
