// The gallery: in the editor of an empty drawing, and where a workflow is made.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import { assertAccessible } from './axe.js';
import { createGate } from '../../harness/timing/gate.js';
import { assertFits, boxAtRest, NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string) => region(page, 'Graph').getByRole('group', { name, exact: true });
const press = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true }).click();
const gallery = (page: Page) => page.getByRole('dialog', { name: 'Gallery', exact: true });

describe('the gallery', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Gallery') };
  });

  const makeEmpty = () => world.owner.api.createWorkflow(world.project, { nodes: [], edges: [] }, 'Empty');

  async function openEmpty(options?: object): Promise<Page> {
    return world.browser.person(world.owner.userId, `/workflows/${await makeEmpty()}`, options);
  }

  it('fills an empty drawing as one step of Undo, with what it needs said before', async () => {
    const page = await openEmpty();
    await press(region(page, 'Start'), 'From the gallery');
    const cards = gallery(page).getByRole('list', { name: 'Gallery' }).getByRole('article');
    await cards.first().waitFor();
    assert.ok((await cards.count()) >= 30, `${await cards.count()} cards`);
    await assertAccessible(page, 'the gallery');
    await gallery(page).getByRole('searchbox', { name: 'Search gallery' }).fill('ticket approval');
    const card = gallery(page).getByRole('article', { name: 'Triage tickets with approval' });
    await card.getByText('Needs the address of the ticket system, a model, a person who decides.').waitFor();
    assert.equal(await cards.count(), 1);
    await press(card, 'Use Triage tickets with approval');
    await gallery(page).waitFor({ state: 'detached' });
    await node(page, 'Approve the answer').waitFor();
    await press(page, 'Undo');
    await region(page, 'Start').waitFor();
    await page.context().close();
  });

  it('begins with a few samples, and one that needs nothing runs at once', async () => {
    const page = await openEmpty();
    await region(page, 'Start').getByRole('article', { name: 'Summarise a page' }).waitFor();
    await press(region(page, 'Start'), 'From the gallery');
    await press(gallery(page), 'Use Clean a list of contacts');
    await node(page, 'What is left').waitFor();
    await press(page, 'Run');
    await press(page.getByRole('dialog', { name: 'Run workflow' }), 'Start run');
    // The first code node starts a sandbox, which takes time.
    await node(page, 'What is left, succeeded').waitFor({ timeout: 120_000 });
    await page.context().close();
  });

  it('leaves the beginnings above the samples in their place when the samples arrive', async () => {
    const page = await world.browser.person(world.owner.userId, '/workflows');
    const gate = createGate();
    await page.route(/\/assets\/gallery-[^/]*\.js$/, async (route) => {
      await gate.opened;
      await route.continue();
    });
    await page.goto(`/workflows/${await makeEmpty()}`);
    const chat = region(page, 'Start').getByRole('button', { name: 'Chat', exact: true });
    const before = await boxAtRest(chat);
    gate.open();
    await region(page, 'Start').getByRole('article', { name: 'Summarise a page' }).waitFor();
    assert.deepEqual(await boxAtRest(chat), before);
    await page.context().close();
  });

  it('makes a chat of a chat, which is tried beside its drawing', async () => {
    const page = await openEmpty({ ...NARROW, colorScheme: 'dark' });
    await assertFits(page, 'an empty canvas with samples');
    await press(region(page, 'Start'), 'From the gallery');
    await gallery(page).getByRole('article').first().waitFor();
    await assertAccessible(page, 'the gallery on a phone');
    await assertFits(page, 'the gallery on a phone');
    await press(gallery(page), 'Use Chat with a handbook');
    await region(page, 'Chat preview').getByRole('textbox', { name: 'Message' }).waitFor();
    await page.context().close();
  });

  it('is a beginning of new workflows, and names them', async () => {
    const page = await world.browser.person(world.owner.userId, '/workflows');
    await press(page, 'New workflow');
    const dialog = page.getByRole('dialog', { name: 'New workflow' });
    await press(dialog, 'From the gallery');
    await press(dialog, 'Use Request for leave');
    await dialog.getByRole('button', { name: 'Use Request for leave', pressed: true }).waitFor();
    assert.equal(await dialog.getByRole('textbox', { name: 'Title' }).inputValue(), 'Request for leave');
    await assertAccessible(page, 'the gallery where a workflow is made');
    await press(dialog, 'Create');
    await node(page, 'Grant the leave?').waitFor();
    await page.getByText('All changes saved').waitFor();
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});
