// The page around the canvas: what a workflow opens with, and the parts beside and below the canvas.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  condition,
  drawing,
  http,
  link,
  linkInRow,
  node as drawnNode,
  trigger,
  type Drawing,
} from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string) => region(page, 'Graph').getByRole('group', { name, exact: true });
const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const press = (page: Page | Locator, name: string | RegExp) => button(page, name).click();

const LABELS = ['Begin', 'Call 1', 'Call 2', 'Call 3', 'Call 4', 'Call 5'];

/** A chain of six nodes, each with a position that a person has chosen. */
function chain(): Drawing {
  const [first, ...calls] = LABELS;
  const nodes = [trigger([], { label: first! }), ...calls.map((label) => http('https://example.com', { label }))];
  const drawn = drawing(linkInRow(nodes));
  return { ...drawn, nodes: drawn.nodes.map((each, at) => ({ ...each, position: { x: at * 280, y: 100 } })) };
}

describe('the page around the canvas', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Canvas') };
  });

  const make = (data: Drawing): Promise<number> => world.owner.api.createWorkflow(world.project, data, 'Around');
  const visit = (id: number, options: object = { viewport: { width: 1440, height: 900 } }): Promise<Page> =>
    world.browser.person(world.owner.userId, `/workflows/${id}`, options);
  const open = async (data: Drawing, options?: object): Promise<Page> => visit(await make(data), options);

  it('opens a chain of six whole, with no panel until a node is chosen, which stays in view beside it', async () => {
    const page = await open(chain());
    await node(page, 'Begin').waitFor();
    const graph = await insideOf(region(page, 'Graph'));
    await eventually(async () => (await graph(node(page, 'Begin'))) && (await graph(node(page, 'Call 5'))));
    assert.ok((await node(page, 'Begin').boundingBox())!.width >= 220 * 0.6 - 1);
    assert.equal(await region(page, 'Node').count(), 0);
    await node(page, 'Call 5').click();
    await region(page, 'Node').getByRole('textbox', { name: 'Label' }).waitFor();
    const smaller = await insideOf(region(page, 'Graph'));
    await eventually(() => smaller(node(page, 'Call 5')));
    await assertAccessible(page, 'a chosen node');
    await region(page, 'Graph').click({ position: { x: 300, y: 40 } });
    await eventually(async () => (await region(page, 'Node').count()) === 0);
    await page.context().close();
  });

  it('opens a node wide by a double click, though the panel opens where it stands, and while the panel is folded', async () => {
    const page = await open(chain());
    await node(page, 'Call 5').dblclick();
    const back = button(page, 'Back to the graph');
    await back.waitFor();
    await page.getByRole('heading', { level: 2, name: 'Call 5' }).waitFor();
    await back.click();
    await press(page, 'Hide node panel');
    await node(page, 'Call 4').dblclick();
    await page.getByRole('heading', { level: 2, name: 'Call 4' }).waitFor();
    await region(page, 'Node').getByRole('textbox', { name: 'Label' }).waitFor();
    await back.click();
    assert.equal(await region(page, 'Node').count(), 0);
    await page.context().close();
  });

  it('folds and resizes palette and panel, and keeps that over a reload', async () => {
    const page = await open(chain());
    await node(page, 'Begin').click();
    const panel = page.getByRole('separator', { name: 'Width of node panel' });
    const before = (await region(page, 'Node').boundingBox())!.width;
    await panel.focus();
    for (let step = 0; step < 4; step += 1) await page.keyboard.press('ArrowLeft');
    await eventually(async () => (await region(page, 'Node').boundingBox())!.width === before + 64);
    await press(page, 'Hide palette');
    assert.equal(await button(page, 'Add Condition').count(), 0);
    await page.reload();
    await node(page, 'Begin').click();
    await eventually(async () => (await region(page, 'Node').boundingBox())!.width === before + 64);
    assert.equal(await button(page, 'Add Condition').count(), 0);
    await assertAccessible(page, 'a folded palette');
    await node(page, 'Begin').focus();
    await page.keyboard.press('/');
    await button(page, 'Add Condition').waitFor();
    await eventually(() => page.evaluate(`document.activeElement.getAttribute('aria-label') === 'Search nodes'`));
    await press(page, 'Hide node panel');
    assert.equal(await region(page, 'Node').count(), 0);
    await press(page, 'Show node panel');
    await region(page, 'Node').waitFor();
    await page.context().close();
  });

  it('counts the problems in a button, which opens and closes their list', async () => {
    const page = await open(drawing(linkInRow([trigger([], { label: 'Begin' }), http('', { label: 'Empty' })])));
    const count = button(page, 'Problems, 1');
    await count.waitFor();
    assert.equal(await region(page, 'Problems').count(), 0);
    await count.click();
    await region(page, 'Problems')
      .getByRole('button', { name: /Empty: URL/ })
      .waitFor();
    await assertAccessible(page, 'the list of problems');
    await page.keyboard.press('Escape');
    await region(page, 'Problems').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('tells how to begin where there are no nodes, in place of an error', async () => {
    const page = await open(drawing([]));
    await press(page, 'Problems, 0');
    await region(page, 'Problems').getByText('Nothing to check yet').waitFor();
    await press(page, 'Run');
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await dialog.getByText('There is nothing to run yet.').waitFor();
    assert.equal(await button(dialog, 'Start run').isDisabled(), true);
    assert.equal(await page.getByRole('alert').count(), 0);
    await page.context().close();
  });

  it('lists the runs of the workflow, and shows the nodes of each on the canvas', async () => {
    const start = trigger([{ id: 'city' }], { label: 'Begin' });
    const question = condition('{{ input.city }}', '==', 'Oslo', { label: 'In Oslo' });
    const [yes, no] = ['Yes', 'No'].map((label) => drawnNode('output', { label, value: label }));
    link(start, question);
    link(question, yes!);
    link(question, no!, 'false');
    const id = await make(drawing([start, question, yes!, no!]));
    const { api } = world.owner;
    for (const city of ['Oslo', 'Rome']) await api.pollToEnd((await api.run(id, { city })).data.id);
    const page = await visit(id);
    await node(page, 'No, succeeded').waitFor();
    await press(page, 'Runs');
    const runs = region(page, 'Runs');
    const rows = runs.getByRole('table', { name: 'Runs' }).getByRole('row');
    await eventually(async () => (await rows.count()) === 3);
    assert.equal(await button(rows.nth(1), 'Show on canvas').getAttribute('aria-pressed'), 'true');
    await press(rows.nth(2), 'Show on canvas');
    await node(page, 'Yes, succeeded').waitFor();
    await node(page, 'No').waitFor();
    const earlier = await region(page, 'Earlier run').getByRole('link', { name: 'Open run' }).getAttribute('href');
    assert.equal(await rows.nth(2).getByRole('link', { name: 'Open run' }).getAttribute('href'), earlier);
    await assertAccessible(page, 'the runs in the editor');
    await node(page, 'Yes, succeeded').click();
    await region(page, 'Test result').getByRole('heading', { name: 'Result of an earlier run' }).waitFor();
    await press(rows.nth(1), 'Show on canvas');
    await node(page, 'No, succeeded').waitFor();
    await region(page, 'Last run').waitFor();
    await press(page, 'Close runs');
    await runs.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('shows on a phone the panel of a node that is tapped, as a sheet that can be closed, and what waits on Menu', async () => {
    const ask = drawnNode('human', { label: 'Ask', message: 'Well?' });
    const id = await make(drawing(linkInRow([trigger([], { label: 'Begin' }), ask])));
    await world.owner.api.run(id);
    const phone = await visit(id, NARROW);
    await node(phone, 'Begin, succeeded').tap();
    const sheet = region(phone, 'Node');
    await sheet.getByRole('textbox', { name: 'Label' }).waitFor();
    const [top, card] = [(await sheet.boundingBox())!.y, node(phone, 'Begin, succeeded')];
    await eventually(async () => {
      const box = (await card.boundingBox())!;
      return box.y + box.height <= top;
    });
    assert.ok(top < 844 - 200, String(top));
    await assertFits(phone, 'the sheet');
    await assertAccessible(phone, 'the sheet of a node');
    await press(phone, 'Close panel');
    assert.equal(await region(phone, 'Node').count(), 0);
    const menu = button(phone, 'Menu');
    await eventually(async () => (await menu.getAttribute('aria-description')) === '1 waiting in the inbox');
    await phone.context().close();
  });

  it('saves what is unsaved before it is left, and stays where that fails', async () => {
    const page = await open(chain());
    const leave = async (): Promise<Locator> => {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
      return page.getByRole('alertdialog', { name: 'Unsaved changes' });
    };
    await node(page, 'Begin').click();
    await region(page, 'Node').getByRole('textbox', { name: 'Label' }).fill('Begun');
    const question = await leave();
    await assertAccessible(page, 'the question');
    const address = /\/api\/v1\/workflows\/\d+\/$/;
    await page.route(address, (route) => route.abort());
    await press(question, 'Save and leave');
    await question.waitFor({ state: 'detached' });
    await page.getByRole('alert').getByText('The workflow is not saved.').waitFor();
    await page.unroute(address);
    await press(await leave(), 'Save and leave');
    await page.waitForURL(/\/runs$/);
    await page.goBack();
    await node(page, 'Begun').waitFor();
    await page.getByText('All changes saved').waitFor();
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});

/** Returns a function that returns true for an element that is wholly inside the present box of `what`. */
async function insideOf(what: Locator): Promise<(part: Locator) => Promise<boolean>> {
  const frame = (await what.boundingBox())!;
  return async (part) => {
    const box = (await part.boundingBox())!;
    const isAcross = box.x >= frame.x && box.x + box.width <= frame.x + frame.width;
    return isAcross && box.y >= frame.y && box.y + box.height <= frame.y + frame.height;
  };
}
