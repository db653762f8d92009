// Pools of workers in the console: administrators set them, a node names one, and a run says that it waits for a worker
// of one.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { changeUser, createAccount, giveRole } from '../api/accounts.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

describe('pools in the console', function () {
  this.timeout(180_000);
  const world = useConsole((stack) => createOwner(stack, 'Two places'));

  it('are set by administrators, named by nodes, and told by runs that wait for a worker', async () => {
    const { stack, account, projectId, browser } = world;
    const administrator = await createAccount(stack);
    await changeUser(stack, administrator, { is_admin: true });
    await giveRole(stack, administrator, projectId, 'viewer');
    const address = `/settings?tab=pools&project=${projectId}`;
    const settings = await browser.person(administrator.userId, address);
    await settings.getByRole('textbox', { name: 'Other pools' }).fill('Not a pool!');
    await settings.getByRole('button', { name: 'Save' }).click();
    await settings.getByText('A pool is named by up to 40 small letters, digits and hyphens.').first().waitFor();
    await settings.getByRole('textbox', { name: 'Other pools' }).fill('office');
    await settings.getByRole('button', { name: 'Save' }).click();
    await settings.getByRole('row', { name: /^office/ }).waitFor();
    await assertAccessible(settings, 'pools of a project');
    await settings.context().close();
    const narrow = await browser.person(administrator.userId, address, NARROW);
    await narrow.getByRole('textbox', { name: 'Other pools' }).waitFor();
    await assertFits(narrow);
    await narrow.context().close();

    const owner = await browser.person(account.userId, address);
    // The other tabs, which come from the same data, are there.
    await owner.getByRole('tab', { name: 'Members' }).waitFor();
    assert.equal(await owner.getByRole('tab', { name: 'Pools' }).count(), 0);
    const nodes = linkInRow([trigger([], { label: 'Begin' }), http(stack.apiUrl, { label: 'Orders' })]);
    const id = await account.api.createWorkflow(projectId, drawing(nodes), 'Pools');
    await owner.goto(`/workflows/${id}`);
    await region(owner, 'Graph')
      .getByRole('group', { name: /^Orders(,|$)/ })
      .click();
    const pool = region(owner, 'Node').getByRole('combobox', { name: 'Pool', exact: true });
    const more = region(owner, 'Node').getByText('More', { exact: true });
    await more.first().waitFor();
    for (const each of await more.all()) await each.click();
    await pool.waitFor();
    assert.deepEqual(await pool.getByRole('option').allInnerTexts(), [
      'The pool of the project (default)',
      'default',
      'office',
    ]);
    await pool.selectOption('office');
    await owner.getByRole('button', { name: 'Save', exact: true }).click();
    await owner.getByRole('status').getByText('Saved').waitFor();
    const { data } = await account.api.run(id);
    await eventually(async () => (await account.api.poll(data.id)).data.data?.[nodes[1]!.id]?.waiting !== undefined, {
      timeoutMs: 60_000,
    });
    await owner.goto(`/runs/${data.id}`);
    await owner.getByText(/Waits at\s+Orders\s+for a worker of pool\s+office/).waitFor();
    await assertAccessible(owner, 'a run that waits for a worker');
    await account.api.post(`/workflows/${id}/history/${data.id}/cancel/`);
    await owner.context().close();
    browser.assertClean();
  });
});
