// Mouse and keyboard on the canvas: finding, choosing, renaming, the context menu, and pasting workflows as JSON.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import type { Page as ListPage } from '../api/bodies.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, linkInRow, node as drawnNode, trigger, type Drawing } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string) => region(page, 'Graph').getByRole('group', { name, exact: true });
const press = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true }).click();
const label = (page: Page) => region(page, 'Node').getByRole('textbox', { name: 'Label' });

const OF_N8N = {
  name: 'From n8n',
  nodes: [
    { id: 'a', name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, position: [0, 0], parameters: {} },
    {
      id: 'b',
      name: 'Fetch it',
      type: 'n8n-nodes-base.httpRequest',
      typeVersion: 4,
      position: [220, 0],
      parameters: { url: 'https://example.com/data' },
    },
    { id: 'c', name: 'Odd one', type: 'n8n-nodes-base.oddThing', typeVersion: 1, position: [440, 0], parameters: {} },
  ],
  connections: { Start: { main: [[{ node: 'Fetch it', type: 'main', index: 0 }]] } },
};

describe('mouse and keyboard on the canvas', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Hands') };
  });

  const open = async (data: Drawing): Promise<Page> => {
    const id = await world.owner.api.createWorkflow(world.project, data, 'Hands');
    return world.browser.person(world.owner.userId, `/workflows/${id}`);
  };

  function threeNodes(): Drawing {
    const orders = http('https://shop.example.com/orders', { label: 'Orders' });
    return drawing(
      linkInRow([trigger([], { label: 'Begin' }), orders, drawnNode('output', { label: 'End', value: 'x' })]),
    );
  }

  it('finds a node by its label or its settings, and leads to it', async () => {
    const page = await open(threeNodes());
    await node(page, 'Begin').focus();
    await page.keyboard.press('Control+f');
    const search = page.getByRole('searchbox', { name: 'Find a node' });
    await search.fill('shop.example');
    await page.getByRole('menuitem', { name: 'Orders', exact: true }).waitFor();
    assert.equal(await page.getByRole('menuitem').count(), 1);
    await assertAccessible(page, 'finding a node');
    await page.keyboard.press('Enter');
    await eventually(async () => (await label(page).inputValue()) === 'Orders');
    await page.context().close();
  });

  it('chooses all nodes in place of the text of the page', async () => {
    const page = await open(threeNodes());
    await node(page, 'Begin').focus();
    await page.keyboard.press('Control+a');
    await region(page, 'Node').getByText('3 nodes selected.').waitFor();
    assert.equal(await page.evaluate('getSelection().isCollapsed'), true);
    await node(page, 'Begin').click();
    await label(page).fill('Start here');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Go');
    await node(page, 'Go').waitFor();
    await page.context().close();
  });

  it('renames a node on its card by F2, as one step of Undo', async () => {
    const page = await open(threeNodes());
    await node(page, 'Orders').click();
    await node(page, 'Orders').focus();
    await page.keyboard.press('F2');
    const field = page.getByRole('textbox', { name: 'New label' });
    await assertAccessible(page, 'renaming a node');
    await field.fill('Nothing');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await node(page, 'Orders').waitFor();
    await page.keyboard.press('F2');
    await field.fill('All orders');
    // An input method takes the Enter that ends its composition.
    await field.dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    assert.equal(await field.inputValue(), 'All orders');
    await page.keyboard.press('Enter');
    await node(page, 'All orders').waitFor();
    await eventually(async () => (await label(page).inputValue()) === 'All orders');
    await page.keyboard.press('Control+z');
    await node(page, 'Orders').waitFor();
    await page.context().close();
  });

  it('has a menu on nodes, links and the ground, by right click and by a key', async () => {
    const page = await open(threeNodes());
    const item = (name: string) => page.getByRole('menuitem', { name, exact: true });
    await node(page, 'Orders').click({ button: 'right' });
    await item('Rename').waitFor();
    await assertAccessible(page, 'the menu of a node');
    await item('Duplicate').click();
    await node(page, 'Orders').nth(1).waitFor();
    await page.keyboard.press('Control+z');
    await node(page, 'Orders').nth(1).waitFor({ state: 'detached' });
    await node(page, 'End').focus();
    await page.keyboard.press('Shift+F10');
    await page.keyboard.press('ArrowUp');
    await eventually(async () => (await item('Delete').getAttribute('data-highlighted')) !== null);
    await page.keyboard.press('Enter');
    await node(page, 'End').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    const link = node(page, 'Begin to Orders');
    await link.focus();
    await page.keyboard.press('Shift+F10');
    assert.equal(await item('Rename').count(), 0);
    await item('Delete').click();
    await link.waitFor({ state: 'detached' });
    await region(page, 'Graph').click({ button: 'right', position: { x: 300, y: 60 } });
    await item('Add a node here').click();
    await page.getByRole('menuitem', { name: 'Code', exact: true }).click();
    await node(page, 'Code').waitFor();
    await page.context().close();
  });

  it('adds a node where the empty ground is double-clicked', async () => {
    const page = await open(threeNodes());
    await node(page, 'Begin').waitFor();
    await region(page, 'Graph').dblclick({ position: { x: 300, y: 60 } });
    await page.getByRole('searchbox', { name: 'Search nodes' }).last().fill('wait');
    await page.keyboard.press('Enter');
    await node(page, 'Wait').waitFor();
    const [graph, box] = [(await region(page, 'Graph').boundingBox())!, (await node(page, 'Wait').boundingBox())!];
    assert.ok(
      Math.abs(box.x - graph.x - 300) < 8 && Math.abs(box.y - graph.y - 60) < 8,
      JSON.stringify({ graph, box }),
    );
    await page.context().close();
  });

  it('pastes a workflow of n8n and an exported one as JSON, each as one step of Undo, and leaves no workflow behind', async () => {
    const page = await open(drawing([]));
    const count = async (): Promise<number> =>
      (await world.owner.api.get<ListPage<unknown>>('/all-workflows/')).body.total;
    const before = await count();
    await region(page, 'Start').waitFor();
    await paste(page, JSON.stringify(OF_N8N));
    const remarks = page.getByRole('dialog', { name: 'The nodes are pasted' });
    await remarks.getByText('Odd one').first().waitFor();
    await assertAccessible(page, 'what could not be pasted');
    await press(remarks, 'Close');
    await node(page, 'Start to Fetch it').waitFor({ state: 'attached' });
    await page.keyboard.press('Control+z');
    await region(page, 'Start').waitFor();
    const { title, ...exported } = { title: 'Own', data: threeNodes() };
    await paste(page, JSON.stringify({ title, ...exported }));
    await node(page, 'Begin to Orders').waitFor({ state: 'attached' });
    await page.keyboard.press('Control+z');
    await region(page, 'Start').waitFor();
    assert.equal(await count(), before);
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});

/** Pastes a text as the browser does after Ctrl+V. */
async function paste(page: Page, text: string): Promise<void> {
  await page.locator('#main').focus();
  await page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }`);
}
