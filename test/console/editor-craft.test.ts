// Convenience in the editor: cards that show settings, search, notes, keys.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createAccount, type Account } from '../api/accounts.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, linkInRow, node as drawnNode, trigger, type Drawing } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { boxAtRest, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string) => region(page, 'Graph').getByRole('group', { name, exact: true });
const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();

describe('the conveniences of the editor', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, stack, project: await owner.api.createProject('Craft') };
  });

  const open = async (data: Drawing, options?: object): Promise<Page> => {
    const { owner, project } = world as { owner: Account; project: number };
    const id = await owner.api.createWorkflow(project, data, 'Crafted');
    return world.browser.person(owner.userId, `/workflows/${id}`, options);
  };

  it('shows on a card what the node does, and its problems', async () => {
    const call = http('https://api.example.com/orders', { label: 'Orders', method: 'POST' });
    const empty = http('', { label: 'Empty' });
    const page = await open(drawing(linkInRow([trigger([{ id: 'city' }], { label: 'Begin' }), call, empty])));
    await node(page, 'Orders').getByText('POST api.example.com/orders').waitFor();
    await node(page, 'Begin').getByText('Input: city').waitFor();
    await node(page, 'Empty').getByText('1 problem:').waitFor({ state: 'attached' });
    assert.equal(await node(page, 'Orders').getByText('problem').count(), 0);
    await assertAccessible(page, 'the cards');
    await page.context().close();
  });

  it('begins a chat that answers what is typed, and offers what its messages bring as variables', async () => {
    const model = `starter-${randomUUID()}`;
    world.stack.modelProvider.script(model, ({ body }) => {
      const messages = body['messages'] as { content: string }[];
      return { text: `Heard: ${messages.at(-1)!.content}` };
    });
    const page = await open(drawing([]));
    await press(region(page, 'Start'), 'Chat');
    await region(page, 'Node').getByLabel('Model', { exact: true }).fill(model);
    await press(region(page, 'Node'), 'Insert variable');
    for (const name of ['Message', 'Messages', 'Files', 'Conversation']) {
      const variables = page.getByRole('dialog', { name: 'Variables' });
      await variables
        .getByRole('button', { name: new RegExp(`^${name}`) })
        .first()
        .waitFor();
    }
    await page.keyboard.press('Escape');
    await press(page, 'Save');
    await page.getByText('All changes saved').waitFor();
    await press(page, 'More');
    await page.getByRole('menuitem', { name: 'Chat', exact: true }).click();
    await press(page, 'New conversation');
    for (const text of ['Good morning', 'And good night']) {
      await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text);
      await press(page, 'Send');
      await page.getByRole('log', { name: 'Messages' }).getByText(`Heard: ${text}`).waitFor();
    }
    await page.context().close();
  });

  it('opens a wide drawing where it begins, in a size that can be read', async () => {
    const calls = Array.from({ length: 30 }, (_, at) => http('https://example.com', { label: `Call ${at}` }));
    const wide = drawing(linkInRow([trigger([], { label: 'Begin' }), ...calls]));
    const placed = wide.nodes.map((each, at) => ({ ...each, position: { x: at * 280, y: 0 } }));
    const page = await open({ ...wide, nodes: placed });
    const graph = (await region(page, 'Graph').boundingBox())!;
    const box = (await node(page, 'Begin').boundingBox())!;
    assert.ok(box.width >= 220 * 0.6 - 1, JSON.stringify(box));
    assert.ok(box.x >= graph.x && box.x < graph.x + 60, JSON.stringify({ box, graph }));
    await page.context().close();
  });

  it('links what is added behind what is chosen, at its first free exit, in one step of Undo', async () => {
    const page = await open(drawing([trigger([], { label: 'Begin' })]));
    await node(page, 'Begin').click();
    for (const kind of ['Condition', 'Set value']) await press(page, `Add ${kind}`);
    await node(page, 'Begin to Condition').waitFor({ state: 'attached' });
    await node(page, 'Condition to Set value').waitFor({ state: 'attached' });
    await node(page, 'Condition').click();
    await press(page, 'Add Output');
    await node(page, 'Condition to Output').waitFor({ state: 'attached' });
    await node(page, 'Condition').click();
    const exit = (name: string) => region(page, 'Node').locator('.connections-exit').filter({ hasText: name });
    await exit('Connect True to').getByRole('button', { name: 'Remove link to Set value' }).waitFor();
    await exit('Connect False to').getByRole('button', { name: 'Remove link to Output' }).waitFor();
    // The only exit of `Begin` is linked already, so the new node is inserted into that link.
    await node(page, 'Begin').click();
    await press(page, 'Add HTTP request');
    await node(page, 'Begin to HTTP request').waitFor({ state: 'attached' });
    await node(page, 'HTTP request to Condition').waitFor({ state: 'attached' });
    assert.equal(await node(page, 'Begin to Condition').count(), 0);
    await page.keyboard.press('Control+z');
    await node(page, 'Begin to Condition').waitFor({ state: 'attached' });
    // Both exits of the condition are linked already, so the new node gets no link.
    await node(page, 'Condition').click();
    await press(page, 'Add Code');
    await node(page, 'Code').waitFor();
    assert.equal(await node(page, 'Condition to Code').count(), 0);
    for (let step = 0; step < 2; step++) await page.keyboard.press('Control+z');
    await node(page, 'Output').waitFor({ state: 'detached' });
    assert.equal(await node(page, 'Condition to Output').count(), 0);
    await page.context().close();
  });

  it('keeps the link of a task that gets buttons, and shows links that lead from nothing', async () => {
    const [task, end] = [drawnNode('human', { label: 'Ask', message: 'Well?' }), drawnNode('output', { label: 'End' })];
    const row = drawing(linkInRow([trigger([], { label: 'Begin' }), task, end]));
    const page = await open(row);
    await node(page, 'Ask').click();
    await press(region(page, 'Node'), 'Add action');
    await node(page, 'Ask to End').waitFor({ state: 'attached' });
    await node(page, 'Ask').getByText('Action 1').waitFor();
    await press(region(page, 'Node'), 'Remove link to End');
    await node(page, 'Ask to End').waitFor({ state: 'detached' });
    await page.context().close();
    const edge = { id: 'lost', source: task.id, sourceHandle: 'error', target: end.id };
    const other = await open({ ...row, edges: [edge] });
    await eventually(async () => (await node(other, 'Ask to End').count()) === 2);
    await node(other, 'Ask').click();
    await region(other, 'Node').getByText('Links from an exit that this node does not have.').waitFor();
    await press(region(other, 'Node').locator('.connections-exit').last(), 'Remove link to End');
    await eventually(async () => (await node(other, 'Ask to End').count()) === 1);
    await other.context().close();
  });

  it('finds kinds of nodes by what is typed, in the palette and where a link is dropped', async () => {
    const page = await open(drawing([trigger([], { label: 'Begin' })]));
    const search = page.getByRole('searchbox', { name: 'Search nodes' });
    await search.fill('sandbox');
    await page.getByRole('button', { name: 'Add Code', exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^Add (?!node after|nodes|service)/ }).count(), 1);
    await search.fill('no such thing');
    await page.getByText('Nothing matches.').waitFor();
    await search.fill('set');
    await search.press('Enter');
    await node(page, 'Set value').waitFor();
    await page.keyboard.press('Control+z');
    await node(page, 'Set value').waitFor({ state: 'detached' });
    const handle = await boxAtRest(node(page, 'Begin').locator('.react-flow__handle-right'));
    await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
    await page.mouse.down();
    await page.mouse.move(handle.x + 90, handle.y + 80, { steps: 4 });
    await page.mouse.up();
    const menu = page.getByRole('dialog', { name: 'Insert node' });
    await menu.getByRole('menuitem', { name: 'HTTP request', exact: true }).waitFor();
    assert.equal(await menu.getByRole('menuitem', { name: 'Trigger', exact: true }).count(), 0);
    await assertAccessible(page, 'the menu of kinds');
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await press(page, 'Add node after Begin');
    await page.getByRole('searchbox', { name: 'Search nodes' }).fill('model');
    await menu.getByRole('menuitem', { name: 'Agent', exact: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const second = await menu
      .waitFor({ state: 'detached' })
      .then(() => region(page, 'Node').getByRole('textbox').first());
    const added = await second.inputValue();
    assert.match(added, /^(Agent|LLM request)$/);
    await node(page, `Begin to ${added}`).waitFor({ state: 'attached' });
    await page.keyboard.press('Control+z');
    await node(page, added).waitFor({ state: 'detached' });
    await node(page, `Begin to ${added}`).waitFor({ state: 'detached' });
    assert.equal(await node(page, 'Begin').count(), 1);
    await press(page, 'Add node after Begin');
    await page.context().close();
  });

  it('inserts a node into a link, and what follows makes room, as one step of Undo', async () => {
    const nodes = linkInRow([
      trigger([], { label: 'Begin' }),
      http('https://example.com', { label: 'Call' }),
      http('https://example.com', { label: 'Last' }),
    ]);
    const drawn = drawing(nodes);
    const placed = drawn.nodes.map((each, at) => ({ ...each, position: { x: at * 280, y: 0 } }));
    const page = await open({ ...drawn, nodes: placed });
    const before = await boxOf(node(page, 'Last'));
    const link = node(page, 'Begin to Call');
    await link.hover();
    await link.getByRole('button', { name: 'Insert node' }).click();
    await page.getByRole('searchbox', { name: 'Search nodes' }).fill('condition');
    await page.keyboard.press('Enter');
    await node(page, 'Begin to Condition').waitFor({ state: 'attached' });
    await node(page, 'Condition to Call').waitFor({ state: 'attached' });
    assert.equal(await link.count(), 0);
    assert.ok((await boxOf(node(page, 'Last'))).x > before.x + 200);
    await page.keyboard.press('Control+z');
    await link.waitFor({ state: 'attached' });
    assert.deepEqual(await boxOf(node(page, 'Last')), before);
    // A click on the middle of a link still selects it, and the keyboard reaches its button.
    await link.click();
    await region(page, 'Node').getByText('1 link selected.').waitFor();
    await link.focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Insert node' }).waitFor();
    await page.context().close();
  });

  it('keeps at most five buttons and a menu in the toolbar', async () => {
    const page = await open(drawing([trigger([], { label: 'Begin' })]));
    const toolbar = page.getByRole('toolbar', { name: 'Workflow' });
    await toolbar.waitFor();
    const names = (await toolbar.getByRole('button').allTextContents()).map((text) => text.replace('▾', '').trim());
    assert.deepEqual(names, ['Undo', 'Redo', 'Save', 'Test', 'Run', 'More']);
    assert.equal(await toolbar.getByRole('button', { name: 'Test' }).isDisabled(), true, 'nothing is chosen');
    await press(toolbar, 'More');
    const items = (await page.getByRole('menuitem').allTextContents()).join(', ');
    assert.equal(
      items,
      'Tidy up, Versions, Starts by itself, Export, Cases, Publish, Rename, Duplicate, Limit the cost of runs, Node that answers, Keys, Delete workflow',
    );
    await assertAccessible(page, 'the menu of the workflow');
    await page.context().close();
  });

  it('has notes that are written, moved, copied, duplicated, deleted and taken back, and that no run reads', async () => {
    const page = await open(drawing([trigger([], { label: 'Begin' })]));
    const notes = region(page, 'Graph').getByRole('article', { name: 'Note', exact: true });
    await press(page, 'Add note');
    await notes.waitFor();
    await notes.dblclick();
    await page.keyboard.type('Ask the owner');
    assert.equal(await notes.getByRole('textbox').inputValue(), 'Ask the owner');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Control+v');
    await eventually(async () => (await notes.count()) === 2);
    await page.keyboard.press('Control+d');
    await eventually(async () => (await notes.count()) === 3);
    await page.keyboard.press('Delete');
    await eventually(async () => (await notes.count()) === 2);
    await page.keyboard.press('Control+z');
    await eventually(async () => (await notes.count()) === 3);
    for (let step = 0; step < 2; step += 1) await page.keyboard.press('Control+z');
    await eventually(async () => (await notes.count()) === 1);
    const before = await boxOf(notes);
    await notes.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await eventually(async () => (await boxOf(notes)).y > before.y);
    await assertAccessible(page, 'a note');
    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved').waitFor();
    await page.reload();
    assert.equal(await notes.getByRole('textbox').inputValue(), 'Ask the owner');
    await press(page, 'Problems, 0');
    await region(page, 'Problems').getByText('This workflow can run.').waitFor();
    await page.context().close();
  });

  it('shows the keys, and duplicates and aligns what is chosen, each as one step of Undo', async () => {
    const nodes = linkInRow([trigger([], { label: 'Begin' }), http('https://example.com', { label: 'Call' })]);
    const drawn = drawing(nodes);
    const placed = drawn.nodes.map((each, at) => ({ ...each, position: { x: at * 280, y: at * 90 } }));
    const page = await open({ ...drawn, nodes: placed });
    await node(page, 'Begin').click();
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keys' });
    await keys.getByText('Duplicate what is chosen').waitFor();
    await assertAccessible(page, 'the keys');
    await page.keyboard.press('Escape');
    await node(page, 'Call').click({ modifiers: ['Control'] });
    await page.keyboard.press('Alt+w');
    await eventually(async () => (await boxOf(node(page, 'Call'))).y === (await boxOf(node(page, 'Begin'))).y);
    await page.keyboard.press('Control+z');
    await eventually(async () => (await boxOf(node(page, 'Call'))).y > (await boxOf(node(page, 'Begin'))).y);
    await press(region(page, 'Node'), 'Arrange');
    await page.getByRole('menuitem', { name: 'Align left' }).click();
    await eventually(async () => (await boxOf(node(page, 'Call'))).x === (await boxOf(node(page, 'Begin'))).x);
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+d');
    await node(page, 'Begin to Call').nth(1).waitFor({ state: 'attached' });
    await page.keyboard.press('Control+z');
    await node(page, 'Begin to Call').nth(1).waitFor({ state: 'detached' });
    // Undo also removes the copies from the selection, so the next click opens the form.
    await node(page, 'Call').click();
    await region(page, 'Node').getByRole('textbox', { name: 'Label' }).waitFor();
    await page.context().close();
  });

  it('puts a variable in place of an untouched value', async () => {
    const page = await open(drawing([trigger([{ id: 'city', title: 'City' }], { label: 'Begin' })]));
    await press(page, 'Add node after Begin');
    await page.getByRole('searchbox', { name: 'Search nodes' }).fill('output');
    await page.keyboard.press('Enter');
    const value = region(page, 'Node').getByRole('textbox', { name: 'Value', exact: true });
    await value.waitFor();
    await press(region(page, 'Node'), 'Insert variable');
    await page.getByRole('button', { name: /^City/ }).click();
    await eventually(async () => (await value.textContent()) === 'Input › city');
    await value.getByTitle('{{ input.city }}', { exact: true }).waitFor();
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});

async function boxOf(what: Locator): Promise<{ x: number; y: number }> {
  const { x, y } = (await what.boundingBox())!;
  return { x: Math.round(x), y: Math.round(y) };
}
