// What makes the editor pleasant: cards that say what they do, search, notes, keys.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { createAccount, type Account } from '../api/accounts.js';
import { eventually } from '../support/eventually.js';
import { drawing, http, linkInRow, trigger, type Drawing } from '../support/graphs.js';
import { assertAccessible } from './axe.js';
import { useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string) => region(page, 'Graph').getByRole('group', { name, exact: true });
const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();

describe('the craft of the editor', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Craft') };
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

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});
