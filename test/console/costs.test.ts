import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import { drawing, linkInRow, llm, trigger } from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';

const NAMES = ['Cost by day', 'Cost by workflow', 'Cost by model'];

describe('the costs', function () {
  this.timeout(120_000);
  /** Makes two calls on the last day of February in one project, and one in the other a day later. */
  const world = useConsole(async (stack) => {
    const account = await createAccount(stack);
    const { api } = account;
    const model = `costs-${randomUUID()}`;
    const scripted = llm('x', { settings: { model_name: model } });
    const projects = [await api.createProject('first'), await api.createProject('second')];
    const workflows = [
      await api.createWorkflow(projects[0]!, drawing(linkInRow([trigger(), llm('a'), scripted])), 'Two <b>calls</b>'),
      await api.createWorkflow(projects[1]!, drawing(linkInRow([trigger(), llm('b')])), 'One call'),
    ];
    for (const [index, id] of workflows.entries()) {
      const runId = (await api.run(id)).data.id;
      assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
      const text = 'UPDATE billing_transactions SET created_at = $1 WHERE run_id = $2';
      await queryDatabase(stack, text, [['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00Z'][index], runId]);
    }
    return { account, projects, workflows, model };
  });

  const rowsOf = (page: Page, name: string): Promise<string[]> =>
    page.getByRole('table', { name, exact: true }).getByRole('row').allInnerTexts();

  it('are pictures by day, workflow and model, with the same exact figures as tables of the same names', async () => {
    const page = await world.browser.person(world.account.userId, '/costs?from=2026-02-01&to=2026-03-31');
    for (const name of NAMES) {
      await page.getByRole('img', { name, exact: true }).waitFor();
      await page.getByRole('table', { name, exact: true }).waitFor();
    }
    const row = (text: string): string[] => text.split('\t').map((cell) => cell.trim());
    assert.deepEqual((await rowsOf(page, 'Cost by day')).slice(1).map(row), [
      ['2026-02-28', '0.00004 USD', '1', '2', '20', '10'],
      ['2026-03-01', '0.00002 USD', '1', '1', '10', '5'],
    ]);
    const [, first, second] = (await rowsOf(page, 'Cost by workflow')).map(row);
    assert.deepEqual(
      [first?.slice(0, 2), second?.slice(0, 2)],
      [
        ['Two <b>calls</b>', '0.00004 USD'],
        ['One call', '0.00002 USD'],
      ],
    );
    assert.ok((await rowsOf(page, 'Cost by model')).some((text) => text.startsWith(world.model)));
    const total = page.getByText('0.00006 USD', { exact: true });
    await total.waitFor();
    const bars = page.getByRole('img', { name: 'Cost by day' }).locator('rect');
    assert.equal(await bars.count(), 59, 'a place for each day');
    const link = page.getByRole('link', { name: 'One call' });
    assert.equal(await link.getAttribute('href'), `/workflows/${world.workflows[1]}`);
    await assertAccessible(page, 'costs');
    await page.context().close();
  });

  it('keep the days, the project and the currency in the address', async () => {
    const page = await world.browser.person(world.account.userId, '/costs?from=2026-02-01&to=2026-03-31', {
      ...NARROW,
      colorScheme: 'dark',
    });
    await page.getByRole('combobox', { name: 'Project' }).selectOption({ label: 'second' });
    await page.getByRole('link', { name: 'Two <b>calls</b>' }).waitFor({ state: 'detached' });
    await page.waitForURL(new RegExp(`project=${world.projects[1]}`));
    await page.getByRole('textbox', { name: 'From' }).fill('2026-03-01');
    await page.waitForURL(/from=2026-03-01/);
    await page.getByRole('combobox', { name: 'Currency' }).selectOption('EUR');
    await page.getByRole('table', { name: 'Cost by day' }).getByText(/ EUR$/).first().waitFor();
    await page.reload();
    await page.getByRole('table', { name: 'Cost by day' }).waitFor();
    assert.equal((await rowsOf(page, 'Cost by day')).length, 2);
    await assertFits(page);
    await assertAccessible(page, 'costs at 390 px, dark');
    await page.context().close();
  });

  it('say at the field what is wrong with the days, and tell a newcomer what appears here', async () => {
    const page = await world.browser.person(world.account.userId, '/costs?from=2026-03-02&to=2026-03-01');
    await page.getByText('Ensure this day is not after the last one.').first().waitFor();
    const newcomer = await createAccount(world.stack);
    const other = await world.browser.person(newcomer.userId, '/costs');
    await other.getByText('Nothing was run in these days.').waitFor();
    await other.getByRole('link', { name: 'To the workflows' }).waitFor();
    await page.context().close();
    await other.context().close();
  });

  it('have broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
