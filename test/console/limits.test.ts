import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createAccount, giveRole } from '../api/accounts.js';
import type { Project, Workflow } from '../api/bodies.js';
import { drawing, linkInRow, llm, trigger } from '../../harness/drawing/drawing.js';
import { eventually } from '../../harness/timing/eventually.js';
import { assertAccessible } from './axe.js';
import { createOwner, NARROW, useConsole } from './browser.js';

describe('limits of money in the console', function () {
  this.timeout(120_000);
  /** Creates one run that was paid for, and one that was stopped. */
  const world = useConsole(async (stack) => {
    const { account, projectId: project } = await createOwner(stack, 'Research');
    const { api } = account;
    const settings = { model_name: `limits-${randomUUID()}`, max_tokens: 5 };
    const data = drawing(linkInRow([trigger(), llm('x', { settings })]));
    const workflow = await api.createWorkflow(project, data, 'Ask once');
    const limit = { spending_limit: { amount: '0.00007', period: 'month' } };
    assert.equal((await api.patch(`/projects/${project}/`, { body: limit })).status, 200);
    const runs = [(await api.run(workflow)).data.id];
    const statuses = [(await api.pollToEnd(runs[0]!)).data.status];
    runs.push((await api.run(workflow)).data.id);
    statuses.push((await api.pollToEnd(runs[1]!)).data.status);
    assert.deepEqual(statuses, ['succeed', 'failed']);
    return { account, project, workflow, stopped: runs[1]! };
  });

  it('stand on the costs page with what is used and reserved of them and what they have stopped', async () => {
    for (const look of [{}, NARROW, { colorScheme: 'dark' as const }]) {
      const page = await world.browser.person(world.account.userId, '/costs', look);
      const limits = page.getByRole('region', { name: 'Limits' });
      await limits.getByText('Research: 0.00002 USD of 0.00007 USD in this month (UTC)').waitFor();
      await limits
        .getByText(/not in the books yet: 0 USD \(0\)\. Calls stopped in the last 30 days: 1, the last one/)
        .waitFor();
      const filled = limits.getByRole('progressbar', { name: 'Used of the limit of Research' });
      assert.equal(await filled.getAttribute('value'), '0.00002');
      assert.equal(await limits.getByRole('link', { name: 'this run' }).getAttribute('href'), `/runs/${world.stopped}`);
      await assertAccessible(page, 'costs with limits');
      await page.context().close();
    }
  });

  it('are set, changed and removed by admins, and only read by others', async () => {
    const page = await world.browser.person(world.account.userId, '/costs');
    const limits = page.getByRole('region', { name: 'Limits' });
    const second = await world.account.api.createProject('Second');
    await page.reload();
    const limitOf = async () => (await world.account.api.get<Project>(`/projects/${second}/`)).body.spending_limit;
    await limits.getByRole('button', { name: 'Set a limit' }).click();
    let dialog = page.getByRole('dialog', { name: 'Set a limit' });
    await dialog.getByRole('textbox', { name: 'Limit in USD' }).fill('a lot');
    // A click beside the dialog closes it only if no text would be lost.
    await page.mouse.click(5, 5);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('A decimal string in USD is required').waitFor();
    await dialog.getByRole('textbox', { name: 'Limit in USD' }).fill('12.50');
    await dialog.getByRole('combobox', { name: 'Period' }).selectOption({ label: 'A day' });
    await assertAccessible(page, 'the dialog of a limit');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await limits.getByText('Second: 0 USD of 12.5 USD today (UTC)').waitFor();
    assert.deepEqual(await limitOf(), { amount: '12.5', period: 'day' });
    await limits.getByRole('button', { name: 'Change the limit of Second' }).click();
    dialog = page.getByRole('dialog', { name: 'Change the limit' });
    await dialog.getByRole('button', { name: 'Remove the limit' }).click();
    // Elements behind a dialog have no role, so the test waits until it has closed.
    await dialog.waitFor({ state: 'detached' });
    await limits.getByText('Second').waitFor({ state: 'detached' });
    assert.equal(await limitOf(), null);
    await page.context().close();
    const viewer = await createAccount(world.stack);
    await giveRole(world.stack, viewer, world.project, 'viewer');
    const reading = await world.browser.person(viewer.userId, '/costs');
    await reading.getByText('Research: 0.00002 USD of 0.00007 USD').waitFor();
    assert.equal(await reading.getByRole('button', { name: /limit/ }).count(), 0);
    await reading.context().close();
  });

  it('of runs are set in the menu of the workflow', async () => {
    const page = await world.browser.person(world.account.userId, `/workflows/${world.workflow}`);
    const save = async (amount: string): Promise<void> => {
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Limit the cost of runs' }).click();
      const dialog = page.getByRole('dialog', { name: 'Limit the cost of runs' });
      await dialog.getByRole('textbox', { name: 'Most that a run may cost, in USD' }).fill(amount);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const limitOf = async () =>
      (await world.account.api.get<Workflow>(`/workflows/${world.workflow}/`)).body['max_run_cost'];
    await save('0.250');
    assert.equal(await limitOf(), '0.25');
    await save('');
    await eventually(async () => (await limitOf()) === null);
    await page.context().close();
  });

  it('a run that one has stopped says so in words and leads to it', async () => {
    const page = await world.browser.person(world.account.userId, `/runs/${world.stopped}`);
    await page.getByText('The run was stopped before a model call that could have passed a limit of money').waitFor();
    await page.getByRole('link', { name: 'the limit of the project' }).click();
    await page.getByText('Research: 0.00002 USD of 0.00007 USD').waitFor();
    assert.ok(page.url().endsWith(`/costs?project=${world.project}`));
    await page.context().close();
  });
});
