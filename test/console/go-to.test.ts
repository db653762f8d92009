import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { chain, drawing, linkInRow, llm, trigger } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { createOwner, useConsole } from './browser.js';

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Go to' });
const BACKGROUND = 'getComputedStyle(document.body).backgroundColor';
const LIGHT = 'rgb(246, 247, 249)';
const DARK = 'rgb(18, 21, 27)';

async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await dialogOf(page).getByRole('searchbox').fill(text);
}

describe('the dialog Go to, and the theme', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const { account: owner, projectId } = await createOwner(stack, 'Orders');
    const greet = await owner.api.createWorkflow(projectId, chain(2), 'Greet people');
    const asks = drawing(linkInRow([trigger([{ id: 'name', title: 'Name', type: 'text' }]), llm('Hello')]));
    await owner.api.createWorkflow(projectId, asks, 'Ask for a name');
    const runId = (await owner.api.run(greet)).data.id;
    await owner.api.pollToEnd(runId);
    return { owner, greet, runId };
  });
  const open = (path: string, options = {}) => world.browser.person(world.owner.userId, path, options);

  it('makes a workflow, opens a page of the settings, and says when nothing fits', async () => {
    const page = await open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await type(page, 'new work');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New workflow' }).getByRole('textbox', { name: 'Title' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/workflows$/);
    await type(page, 'webhooks');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Webhooks', selected: true }).waitFor();
    await type(page, '<b>no such thing</b>');
    await dialogOf(page).getByText('Nothing fits “<b>no such thing</b>”.').waitFor();
    // What belongs to administrators is not offered to others.
    await dialogOf(page).getByRole('searchbox').fill('users');
    await dialogOf(page).getByText('Nothing fits “users”.').waitFor();
    await assertAccessible(page, 'nothing found');
    await page.context().close();
  });

  it('searches again when Enter is pressed on Try again, and opens no result', async () => {
    const page = await open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.route('**/api/v1/all-workflows/**', (route) =>
      route.fulfill({ status: 409, json: { code: 'odd', detail: 'Odd.' } }),
    );
    await type(page, 'webhooks');
    await dialogOf(page).getByRole('alert').getByText('Odd.').waitFor();
    await page.unroute('**/api/v1/all-workflows/**');
    await dialogOf(page).getByRole('button', { name: 'Try again' }).focus();
    await page.keyboard.press('Enter');
    await dialogOf(page).getByRole('alert').waitFor({ state: 'detached' });
    assert.equal(await dialogOf(page).count(), 1);
    assert.equal(new URL(page.url()).pathname, '/costs');
    await page.context().close();
  });

  it('finds a run by its id or address', async () => {
    const page = await open('/workflows');
    await page.getByRole('link', { name: 'Greet people' }).waitFor();
    const runs = dialogOf(page).getByRole('region', { name: 'Runs' });
    await type(page, `https://example.com/runs/${world.runId}?node=x`);
    await runs.getByRole('link', { name: 'Greet people' }).waitFor();
    await dialogOf(page).getByRole('searchbox').fill('00000000-0000-4000-8000-000000000000');
    await dialogOf(page).getByText('Nothing fits').waitFor();
    await dialogOf(page).getByRole('searchbox').fill(world.runId);
    await runs.getByRole('link', { name: 'Greet people' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/runs/${world.runId}`);
    await page.context().close();
  });

  it('runs a workflow from any page, with its input', async () => {
    const page = await open('/inbox');
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await type(page, 'run ask for');
    await dialogOf(page).getByRole('button', { name: 'Run Ask for a name' }).click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Ada');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Ask for a name' }).waitFor();
    await page.context().close();
  });

  it('does what the page offers: a run and a test in the editor', async () => {
    const page = await open(`/workflows/${world.greet}`);
    await page
      .getByRole('region', { name: 'Graph' })
      .getByRole('group', { name: /^trigger(?:$|,)/ })
      .click();
    await page.getByRole('button', { name: 'Test' }).first().waitFor();
    await page.getByRole('toolbar', { name: 'Workflow' }).getByRole('button', { name: 'Run', exact: true }).focus();
    await type(page, 'run');
    await dialogOf(page).getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('dialog', { name: 'Run workflow' }).waitFor();
    await page.keyboard.press('Escape');
    await type(page, 'test');
    await dialogOf(page).getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Only this node' }).waitFor();
    await page.context().close();
  });

  it('keeps the chosen theme, which follows the system until one is chosen', async () => {
    const page = await open('/workflows', { colorScheme: 'dark' });
    await page.getByRole('link', { name: 'Greet people' }).waitFor();
    assert.equal(await page.evaluate(BACKGROUND), DARK);
    await page.getByRole('button', { name: 'Account' }).click();
    const option = (name: string) => page.getByRole('menuitemradio', { name });
    assert.equal(await option('System').getAttribute('aria-checked'), 'true');
    await assertAccessible(page, 'the account menu');
    await option('Light').click();
    assert.equal(await page.evaluate(BACKGROUND), LIGHT);
    await page.reload();
    await page.getByRole('link', { name: 'Greet people' }).waitFor();
    assert.equal(await page.evaluate(BACKGROUND), LIGHT);
    await assertAccessible(page, 'light in a dark system');
    await page.emulateMedia({ colorScheme: 'light' });
    await type(page, 'theme: dark');
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor({ state: 'detached' });
    await page.waitForFunction(`${BACKGROUND} === '${DARK}'`);
    await assertAccessible(page, 'dark in a light system');
    await page.context().close();
  });

  it('has broken no policy, thrown nothing and asked no other origin', () => world.browser.assertClean());
});
