import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { makeSchedule, ONCE_A_YEAR } from '../api/schedules/schedule-maker.js';
import { createPerson } from '../api/sessions/people.js';
import { chain, drawing, linkInRow, llm, trigger } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const main = (page: Page) => page.getByRole('main');
const link = (page: Page, name: string) => main(page).getByRole('link', { name, exact: true });
const titles = (page: Page) =>
  page.getByRole('table', { name: 'Workflows' }).getByRole('rowheader').getByRole('link').allTextContents();

async function act(page: Page, title: string, item: string): Promise<void> {
  await page.getByRole('row', { name: title }).getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

describe('what can be done in the list of workflows', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const { account: owner, projectId } = await createOwner(stack, 'Orders');
    const asks = drawing(
      linkInRow([
        trigger([{ id: 'name', title: 'Name', type: 'text', input_requirements: true }]),
        llm('Hello {{ input.name }}'),
      ]),
    );
    const greet = await owner.api.createWorkflow(projectId, asks, 'Greet');
    const count = await owner.api.createWorkflow(projectId, chain(2), 'Count');
    await owner.api.pollToEnd((await owner.api.run(count)).data.id);
    return { owner, projectId, greet, count };
  });

  it('starts a run with its input, and finds the runs of a workflow', async () => {
    const page = await world.browser.person(world.owner.userId, '/workflows');
    await act(page, 'Greet', 'Run');
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await dialog.getByRole('textbox', { name: 'Name' }).waitFor();
    await assertAccessible(page, 'the dialog of a run');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Ada');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    await page
      .getByRole('region', { name: 'Graph' })
      .getByRole('group', { name: /, succeeded$/ })
      .nth(1)
      .waitFor();
    await page.goto('/workflows');
    await act(page, 'Greet', 'Runs');
    await page.waitForURL(`**/runs?workflow=${world.greet}`);
    await link(page, 'Greet').waitFor();
    await page.goto('/workflows');
    await page.getByRole('row', { name: 'Count' }).getByRole('link', { name: 'One run: succeeded' }).click();
    await page.waitForURL(`**/runs?workflow=${world.count}`);
    await page.context().close();
  });

  it('tells what starts a workflow by itself, and leads there', async () => {
    const { owner, projectId } = world;
    const [timed, talking] = [
      await owner.api.createWorkflow(projectId, chain(1), 'Timed'),
      await owner.api.createWorkflow(projectId, chain(1), 'Talking'),
    ];
    const { id: paused } = await makeSchedule(owner.api, talking, { cron: ONCE_A_YEAR });
    await owner.api.patch(`/workflows/${talking}/schedules/${paused}/`, { body: { is_paused: true } });
    await owner.api.patch(`/workflows/${talking}/`, { body: { is_chat: true } });
    await makeSchedule(owner.api, timed, { cron: ONCE_A_YEAR });
    await owner.api.post(`/workflows/${timed}/hooks/`, { body: { verify: 'none' } });
    const page = await world.browser.person(owner.userId, '/workflows');
    const starts = (title: string, name: string) =>
      page.getByRole('row', { name: title }).getByRole('link', { name, exact: true });
    await starts('Talking', 'chat').waitFor();
    await starts('Timed', 'schedule, hook').click();
    await page.waitForURL(`**/workflows/${timed}/starts`);
    await page.context().close();
    for (const id of [timed, talking]) await owner.api.delete(`/workflows/${id}/`);
  });

  it('copies a workflow, and deletes one after a question', async () => {
    const page = await world.browser.person(world.owner.userId, '/workflows');
    await act(page, 'Count', 'Duplicate');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Duplicate' }).click();
    await page.waitForURL(/\/workflows\/\d+$/);
    const copy = new URL(page.url()).pathname;
    await page.getByRole('toolbar', { name: 'Workflow' }).waitFor();
    await page.goto('/workflows');
    // A copy has the title of its original.
    const row = page.getByRole('row').filter({ has: page.locator(`a[href="${copy}"]`) });
    await row.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete', exact: true }).click();
    const question = page.getByRole('alertdialog', { name: 'Delete workflow' });
    await question.getByText('“Count” is gone from every list').waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    // An open dialog hides the rows, so the test waits until it has closed.
    await question.waitFor({ state: 'detached' });
    await row.waitFor({ state: 'detached' });
    await link(page, 'Count').waitFor();
    await page.context().close();
  });

  it('tags workflows, and lists those of a tag, which the address keeps', async () => {
    const page = await world.browser.person(world.owner.userId, '/workflows');
    await act(page, 'Greet', 'Tags');
    const dialog = page.getByRole('dialog', { name: 'Tags' });
    const tag = dialog.getByRole('textbox', { name: 'Tag' });
    await tag.fill('weekly');
    await tag.press('Enter');
    await tag.fill('a mistake');
    await dialog.getByRole('button', { name: 'Add tag' }).click();
    await dialog.getByRole('button', { name: 'Remove a mistake' }).click();
    // A typed tag is saved even if `Add tag` was not pressed.
    await tag.fill('<b>greetings</b>');
    await assertAccessible(page, 'the dialog of tags');
    await dialog.getByRole('button', { name: 'Save tags' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row', { name: 'Greet' });
    await row.getByRole('button', { name: '<b>greetings</b>' }).waitFor();
    const { body } = await world.owner.api.get<{ tags: string[] }>(`/workflows/${world.greet}/`);
    assert.deepEqual(body.tags, ['weekly', '<b>greetings</b>']);
    await row.getByRole('button', { name: 'weekly' }).click();
    await page.waitForURL(/\?tag=weekly$/);
    await link(page, 'Count').waitFor({ state: 'detached' });
    await page.reload();
    await link(page, 'Greet').waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Tag' }).inputValue(), 'weekly');
    await act(page, 'Greet', 'Tags');
    await dialog.getByRole('button', { name: 'Remove weekly' }).click();
    // A typed tag that the workflow already has is not saved twice.
    await tag.fill('<b>greetings</b>');
    await dialog.getByRole('button', { name: 'Save tags' }).click();
    await page.getByRole('button', { name: 'Show all workflows' }).click();
    await act(page, 'Count', 'Tags');
    // The dialog offers the tags of other workflows of the project.
    await dialog.getByRole('button', { name: '+ <b>greetings</b>' }).click();
    await dialog.getByRole('button', { name: 'Save tags' }).click();
    await page.getByRole('row', { name: 'Count' }).getByRole('button', { name: '<b>greetings</b>' }).waitFor();
    await page.context().close();
  });

  it('refuses an eleventh tag', async () => {
    const tags = Array.from({ length: 10 }, (_, index) => `tag ${index}`);
    assert.equal((await world.owner.api.patch(`/workflows/${world.count}/`, { body: { tags } })).status, 200);
    const page = await world.browser.person(world.owner.userId, '/workflows', NARROW);
    await act(page, 'Count', 'Tags');
    await page.getByText('A workflow has at most 10 tags.').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Tag' }).isDisabled(), true);
    await assertFits(page);
    await page.context().close();
  });

  it('sorts by what is wanted, and keeps that in the address', async () => {
    await world.owner.api.pollToEnd((await world.owner.api.run(world.greet, { name: 'Ada' })).data.id);
    const page = await world.browser.person(world.owner.userId, '/workflows');
    await link(page, 'Count').waitFor();
    assert.deepEqual(await titles(page), ['Count', 'Greet']);
    await page.getByRole('combobox', { name: 'Order' }).selectOption('Last run first');
    await page.waitForURL(/\?order=ran$/);
    await page.getByRole('rowheader').first().getByRole('link', { name: 'Greet' }).waitFor();
    await page.getByRole('combobox', { name: 'Order' }).selectOption('Newest first');
    await page.getByRole('rowheader').first().getByRole('link', { name: 'Count' }).waitFor();
    assert.equal(new URL(page.url()).search, '');
    await page.context().close();
  });

  it('makes a project, whose first workflow is made in it', async () => {
    const page = await world.browser.person(world.owner.userId, '/workflows');
    await page.getByRole('button', { name: 'New project' }).click();
    const project = page.getByRole('dialog', { name: 'New project' });
    await project.getByRole('textbox', { name: 'Name' }).fill('Invoices');
    await project.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/\?project=\d+$/);
    await page.getByRole('button', { name: 'New workflow' }).click();
    const dialog = page.getByRole('dialog', { name: 'New workflow' });
    const chosen = dialog.getByRole('combobox', { name: 'Project' });
    await chosen.getByRole('option', { name: 'Invoices', selected: true }).waitFor({ state: 'attached' });
    const projectId = Number(new URL(page.url()).searchParams.get('project'));
    await dialog.getByRole('textbox', { name: 'Title' }).fill('First invoice');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'First invoice' }).waitFor();
    const { body } = await world.owner.api.get<{ items: { title: string }[] }>(`/workflows/?project=${projectId}`);
    assert.deepEqual(
      body.items.map(({ title }) => title),
      ['First invoice'],
    );
    await page.context().close();
  });

  it('offers viewers the runs and what starts the workflow, and no action', async () => {
    const viewer = await createPerson(world.stack);
    await world.owner.api.post(`/projects/${world.projectId}/members/`, {
      body: { email: viewer.email, role: 'viewer' },
    });
    const page = await world.browser.person(viewer.userId, '/workflows');
    await page.getByRole('row', { name: 'Greet' }).getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Runs' }).waitFor();
    assert.deepEqual(await page.getByRole('menuitem').allTextContents(), ['Runs', 'Starts by itself']);
    await assertAccessible(page, 'the menu of a row');
    await page.context().close();
  });

  it('has broken no policy, thrown nothing and asked no other origin', () => world.browser.assertClean());
});
