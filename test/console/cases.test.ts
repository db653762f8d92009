// Cases of a workflow (docs/use/test-runs.md, "Cases").
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import type { Envelope } from '../../harness/client/api-client.js';
import { createAccount } from '../api/accounts.js';
import { drawing, http, linkInRow, node, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole, type ConsoleBrowser } from './browser.js';

const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const row = (page: Page, name: string) =>
  page
    .getByRole('table', { name: 'Cases' })
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name, exact: true }) });
const statusOf = (page: Page, name: string, status: string) => row(page, name).getByText(status, { exact: true });

describe('cases in the console', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Cases'), target: await startHttpTarget() };
  });

  interface Drawn {
    workflowId: number;
    runId: string;
    calls: () => number;
  }

  /** Creates a workflow that posts and puts out the answer, and its first run. */
  async function makeRun(answer: string): Promise<Drawn> {
    const path = `/${randomUUID()}`;
    world.target.on(path, [{ body: answer }]);
    const post = http(`${world.target.url}${path}`, { label: 'Order', method: 'POST', body: '{{ input.word }}' });
    const output = node('output', { label: 'Result', value: resultOf(post) });
    const start = trigger([{ id: 'word', type: 'text', title: 'Word' }], { label: 'Start' });
    const data = drawing(linkInRow([start, post, output]));
    const workflowId = await world.owner.api.createWorkflow(world.project, data, 'Orders');
    const { data: run } = await world.owner.api.run(workflowId, { word: 'a' });
    await world.owner.api.pollToEnd(run.id);
    return { workflowId, runId: run.id, calls: () => world.target.requestsTo(path).length };
  }

  const open = (path: string, options: Parameters<ConsoleBrowser['person']>[2] = {}) =>
    world.browser.person(world.owner.userId, path, options);

  it('are made of a run, run together without calling what has side effects, and say what came instead', async () => {
    const { workflowId, runId, calls } = await makeRun('done');
    const page = await open(`/runs/${runId}`);
    await press(page, 'Save as case');
    const dialog = page.getByRole('dialog', { name: 'Save as case' });
    assert.equal(await dialog.getByRole('textbox', { name: 'Expectation 1 value' }).inputValue(), 'done');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('As it was');
    await assertAccessible(page, 'the dialog of a case');
    await press(dialog, 'Save case');
    await dialog.waitFor({ state: 'detached' });

    await press(page, 'Save as case');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Another status');
    await press(dialog, 'Add expectation');
    await dialog.getByRole('combobox', { name: 'Expectation 2 of' }).selectOption('Order');
    await dialog.getByRole('textbox', { name: 'Expectation 2 path' }).fill('result.status_code');
    await dialog.getByRole('textbox', { name: 'Expectation 2 value' }).fill('404');
    await press(dialog, 'Save case');
    await dialog.waitFor({ state: 'detached' });

    await page.goto(`/workflows/${workflowId}`);
    await press(page, 'More');
    await page.getByRole('menuitem', { name: 'Cases', exact: true }).click();
    await page.waitForURL(`**/workflows/${workflowId}/cases`);
    await statusOf(page, 'As it was', 'not run').waitFor();
    await press(page, 'Run all');
    await statusOf(page, 'As it was', 'passed').waitFor();
    await statusOf(page, 'Another status', 'failed').waitFor();
    await page.getByText('1 of 2 passed, 1 failed').waitFor();
    assert.equal(calls(), 1, 'the cases have called nobody');
    const differences = region(page, 'Differences');
    const difference = differences.getByRole('row', { name: /Order: result\.status_code/ });
    assert.match((await difference.textContent()) ?? '', /404.*200/);
    assert.equal(await differences.getByRole('group', { name: 'As it was' }).count(), 0);
    await assertAccessible(page, 'cases that have failed');
    // The address contains the id of the run of the cases.
    await page.reload();
    await statusOf(page, 'Another status', 'failed').waitFor();
    await differences.getByRole('link', { name: 'Open run' }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    await page.context().close();
  });

  it('are made of a test of the whole drawing, changed, required, and removed', async () => {
    const { workflowId } = await makeRun('tested');
    const page = await open(`/workflows/${workflowId}`);
    // The editor shows the newest run as soon as it is loaded.
    const start = page
      .getByRole('region', { name: 'Graph' })
      .getByRole('group', { name: 'Start, succeeded', exact: true });
    await start.click();
    await press(region(page, 'Node'), 'Test');
    await page.getByRole('menuitem', { name: 'From here' }).click();
    await page.getByRole('dialog', { name: 'Test' }).getByRole('textbox', { name: 'Word' }).fill('b');
    await press(page, 'Start test');
    await press(region(page, 'Test result'), 'Save as case');
    const dialog = page.getByRole('dialog', { name: 'Save as case' });
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Of a test');
    await press(dialog, 'Save case');
    await dialog.waitFor({ state: 'detached' });
    await page.goto(`/workflows/${workflowId}/cases`);
    await press(page, 'Run Of a test');
    await statusOf(page, 'Of a test', 'passed').waitFor();

    const required = page.getByRole('checkbox', { name: 'Required: Of a test' });
    await required.check();
    await page.getByRole('status').getByText('Saved').waitFor();
    await press(page, 'Edit Of a test');
    const editor = page.getByRole('dialog', { name: 'Edit case' });
    await editor.getByRole('combobox', { name: 'Expectation 1 operator' }).selectOption('is_empty');
    assert.equal(await editor.getByRole('textbox', { name: 'Expectation 1 value' }).count(), 0);
    await press(editor, 'Save case');
    await editor.waitFor({ state: 'detached' });
    await page.reload();
    assert.equal(await required.isChecked(), true);
    await press(page, 'Run all');
    await statusOf(page, 'Of a test', 'failed').waitFor();
    await region(page, 'Differences').getByText('is empty').waitFor();
    await press(page, 'Remove Of a test');
    await press(page.getByRole('alertdialog', { name: 'Delete case' }), 'Delete');
    await page.getByText('There is no case yet.').waitFor();
    await page.context().close();
  });

  it('are not made without the output of the run: a failure to load it is shown, with a retry', async () => {
    const output = node('output', { label: 'Result', value: { order: '{{ input.order }}' } });
    const data = drawing(linkInRow([trigger([{ id: 'order', type: 'number' }], { label: 'Start' }), output]));
    const workflowId = await world.owner.api.createWorkflow(world.project, data, 'Orders');
    const text = '{"order": 9007199254740993}';
    const { body } = await world.owner.api.post<Envelope>(`/workflows/${workflowId}/run/`, { text });
    await world.owner.api.pollToEnd(body.data.id);
    const page = await open(`/runs/${body.data.id}`);
    await press(page, 'Save as case');
    const dialog = page.getByRole('dialog', { name: 'Save as case' });
    const value = dialog.getByRole('textbox', { name: 'Expectation 1 value' });
    await value.waitFor();
    const expected = '{"order":9007199254740993}';
    assert.equal(await value.inputValue(), expected);
    await page.reload();
    await page.route('**/api/v1/workflows/workflow_result/**', (route) => route.fulfill({ status: 500, json: {} }));
    await press(page, 'Save as case');
    await dialog.getByRole('alert').getByText('The service has failed to do this.').waitFor();
    assert.equal(await dialog.getByRole('textbox').count(), 0);
    await page.unroute('**/api/v1/workflows/workflow_result/**');
    await press(dialog, 'Try again');
    await value.waitFor();
    assert.equal(await value.inputValue(), expected);
    await page.context().close();
  });

  it('are stopped while they run', async () => {
    const slow = http(`${world.target.url}/delay/60000`, { label: 'Slow' });
    const data = drawing(linkInRow([trigger([], { label: 'Start' }), slow]));
    const workflowId = await world.owner.api.createWorkflow(world.project, data, 'Slow');
    await world.owner.api.post(`/workflows/${workflowId}/cases/`, { body: { name: 'Waits' } });
    const page = await open(`/workflows/${workflowId}/cases`);
    await press(page, 'Run all');
    await statusOf(page, 'Waits', 'in progress').waitFor();
    await press(page, 'Cancel cases');
    await statusOf(page, 'Waits', 'error').waitFor();
    await region(page, 'Differences').getByText('cancelled').first().waitFor();
    await press(page, 'Run all');
    await statusOf(page, 'Waits', 'in progress').waitFor();
    await press(page, 'Cancel cases');
    await statusOf(page, 'Waits', 'error').waitFor();
    await page.context().close();
  });

  it('work by keyboard alone, in the dark, and on a phone without scrolling sidewards', async () => {
    const { workflowId, runId } = await makeRun('narrow');
    for (const options of [{}, { ...NARROW, colorScheme: 'dark' } as const]) {
      const name = `Case ${Object.keys(options).length}`;
      const page = await open(`/runs/${runId}`, options);
      await page.getByRole('button', { name: 'Save as case' }).focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Save as case' });
      await dialog.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
      await page.keyboard.type(name);
      await assertAccessible(page, `the dialog, ${name}`);
      await assertFits(page, `the dialog, ${name}`);
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.goto(`/workflows/${workflowId}/cases`);
      await page.getByRole('button', { name: 'Run all' }).focus();
      await page.keyboard.press('Enter');
      await statusOf(page, name, 'passed').waitFor();
      await assertAccessible(page, `the cases, ${name}`);
      await assertFits(page, `the cases, ${name}`);
      await page.context().close();
    }
  });

  it('break no policy, throw nothing and ask no other origin', () => world.browser.assertClean());
});
