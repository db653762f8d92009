import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { createPerson } from '../api/sessions/people.js';
import { call, createRunWorld } from './run-world.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';

describe('the versions of a workflow in the editor', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const { owner } = await createRunWorld(stack);
    const project = await owner.api.createProject('Versions');
    const colleague = await createPerson(stack);
    await owner.api.post(`/projects/${project}/members/`, { body: { email: colleague.email, role: 'editor' } });
    const data = call('https://example.com/first', 'Fetch');
    const workflowId = await owner.api.createWorkflow(project, data, 'Has versions');
    return { owner, colleague, data, workflowId };
  });

  async function open(options = {}): Promise<Page> {
    const page = await world.browser.person(world.colleague.userId, `/workflows/${world.workflowId}`, options);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Versions' }).click();
    return page;
  }

  it('say who made them, how they differ from what is shown and how they looked, and restore all but the present one', async () => {
    const [, request] = world.data.nodes;
    request!.data['url'] = 'https://example.com/second';
    const { status } = await world.owner.api.patch(`/workflows/${world.workflowId}/`, { body: { data: world.data } });
    assert.equal(status, 200);
    const page = await open();
    const dialog = page.getByRole('dialog', { name: 'Versions' });
    const items = dialog.getByRole('list', { name: 'Versions' }).getByRole('listitem');
    await items.filter({ hasText: /Version 2 \(now\).*by test user/ }).waitFor();
    await items.filter({ hasText: /Version 1.*by test user/ }).waitFor();
    assert.deepEqual(await dialog.getByRole('button', { name: /^Restore/ }).allTextContents(), ['Restore version 1']);
    await dialog.getByRole('button', { name: 'Look at version 1' }).click();
    const opened = dialog.getByRole('region', { name: 'Version 1' });
    await opened.getByRole('img', { name: 'Version 1: Start, Fetch' }).waitFor();
    const row = opened.getByRole('group', { name: 'Differences' }).getByRole('row').nth(1);
    assert.match(await row.innerText(), /Fetch.*url\s+https:\/\/example.com\/first\s+https:\/\/example.com\/second/);
    await assertAccessible(page, 'a version');
    await dialog.getByRole('button', { name: 'Look at version 2' }).click();
    await dialog
      .getByRole('region', { name: 'Version 2' })
      .getByText('It runs the same as what you see now.')
      .waitFor();
    await dialog.getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByRole('status').getByText('Version 1 restored').waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Versions' }).click();
    await items.filter({ hasText: /Version 3 \(now\).*by you/ }).waitFor();
    await page.context().close();
  });

  it('fit a phone', async () => {
    const page = await open({ ...NARROW, colorScheme: 'dark' as const });
    await page.getByRole('button', { name: 'Look at version 1' }).click();
    await page.getByRole('region', { name: 'Version 1' }).getByRole('img').waitFor();
    await assertAccessible(page, 'a version on a phone');
    await assertFits(page);
    await page.context().close();
  });

  it('have broken no policy, thrown nothing and asked no other origin', () => world.browser.assertClean());
});
