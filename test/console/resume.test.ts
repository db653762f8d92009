import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { giveRole, createAccount } from '../api/accounts.js';
import { drawing, http, linkInRow, trigger, type Drawing } from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { createGate } from '../../harness/timing/gate.js';
import { queryDatabase } from '../support/inspect.js';
import { assertAccessible } from './axe.js';
import { NARROW, useConsole, type ConsoleBrowser } from './browser.js';
import { createRunWorld, nodeNamed, panel, type Started } from './run-world.js';

/** Counts presses by the pointer, but no events of scripts. The count lasts until the page is loaded anew. */
const COUNT_PRESSES = `window.presses = 0;
addEventListener('pointerdown', (event) => { if (event.isTrusted) window.presses += 1; }, true);`;

describe('resuming a run on its page', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({ ...(await createRunWorld(stack)), target: await startHttpTarget() }));

  const calls = (path: string): number => world.target.requestsTo(path).length;

  /** Runs `First`, `Second`, which fails once, and `Third`. */
  async function failed(): Promise<Started & { paths: string[] }> {
    const paths = [1, 2, 3].map((number) => `/${randomUUID()}/${number}`);
    world.target.on(paths[1]!, [{ status: 418 }, { body: 'ok' }]);
    const nodes = paths.map((path, index) =>
      http(`${world.target.url}${path}`, { label: ['First', 'Second', 'Third'][index] }),
    );
    const run = await world.start(drawing(linkInRow([trigger([], { label: 'Start' }), ...nodes])));
    await world.owner.api.pollToEnd(run.runId);
    return { ...run, paths };
  }

  const open = (runId: string, options: Parameters<ConsoleBrowser['person']>[2] = {}) =>
    world.browser.person(world.owner.userId, `/runs/${runId}`, options);

  const untilOther = (page: Page, runId: string): Promise<void> =>
    page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(runId));

  it('Resume executes what is left, and marks what is reused', async () => {
    const { runId, paths } = await failed();
    const page = await open(runId);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Resume run' });
    await dialog.getByRole('combobox', { name: 'Drawing' }).waitFor();
    await assertAccessible(page, 'the dialog that resumes a run');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await untilOther(page, runId);
    await dialog.waitFor({ state: 'detached' });
    await nodeNamed(page, 'First, succeeded, reused').waitFor();
    await nodeNamed(page, 'Third, succeeded').waitFor();
    assert.deepEqual(paths.map(calls), [1, 2, 1]);
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('button', { name: 'First, succeeded, reused', exact: true }).waitFor();
    await timeline.getByRole('button', { name: /^Second, attempt 1, succeeded, \d/ }).waitFor();
    await nodeNamed(page, 'First, succeeded, reused').click();
    await panel(page).getByText('nothing was executed').waitFor();
    await page.getByRole('tab', { name: 'Cost' }).click();
    await panel(page).getByText('Nothing was charged').waitFor();
    await assertAccessible(page, 'a run that resumes another one');
    // A run that has succeeded cannot be resumed.
    assert.equal(await page.getByRole('button', { name: 'Resume', exact: true }).count(), 0);
    await page.getByRole('link', { name: 'An earlier run' }).click();
    await page.waitForURL(`**/runs/${runId}**`);
    await page.context().close();
  });

  it('Resume from here executes a node and all that follow it, on a narrow screen, too', async () => {
    const { runId, paths } = await failed();
    const page = await open(runId, NARROW);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start run' }).click();
    await untilOther(page, runId);
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    const second = page.url();
    // A key reaches the node although a narrow screen shows only a part of the graph.
    await nodeNamed(page, 'Third, succeeded').getByRole('button').press('Enter');
    await panel(page).getByRole('button', { name: 'Resume from here' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resume from Third' });
    await dialog.getByRole('combobox', { name: 'Drawing' }).selectOption('now');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await page.waitForURL((url) => url.href.split('?')[0] !== second.split('?')[0]);
    await nodeNamed(page, 'Second, succeeded, reused').waitFor();
    await nodeNamed(page, 'Third, succeeded').waitFor();
    assert.deepEqual(paths.map(calls), [1, 2, 2]);
    await page.context().close();
  });

  it('is preset to the drawing as it is now once that has been mended, and says what has changed', async () => {
    const { runId, workflowId, paths } = await failed();
    const page = await open(runId);
    const dialog = page.getByRole('dialog', { name: 'Resume run' });
    const box = dialog.getByRole('combobox', { name: 'Drawing' });
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await box.waitFor();
    assert.equal(await box.inputValue(), 'then');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const { body } = await world.owner.api.get<{ data: Drawing }>(`/workflows/${workflowId}/`);
    const second = body.data.nodes.find(({ data }) => data['label'] === 'Second')!;
    second.data['url'] = `${world.target.url}${paths[1]!}/mended`;
    world.target.on(`${paths[1]!}/mended`, [{ body: 'ok' }]);
    assert.equal((await world.owner.api.patch(`/workflows/${workflowId}/`, { body: { data: body.data } })).status, 200);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    const changed = dialog.getByRole('group', { name: 'Changed since this run' }).getByRole('row');
    await changed.filter({ hasText: 'Second' }).filter({ hasText: 'url' }).filter({ hasText: '/mended' }).waitFor();
    // The first row has the headings.
    assert.equal(await changed.count(), 2);
    assert.equal(await box.inputValue(), 'now');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await untilOther(page, runId);
    await nodeNamed(page, 'First, succeeded, reused').waitFor();
    await nodeNamed(page, 'Third, succeeded').waitFor();
    assert.deepEqual([...paths, `${paths[1]!}/mended`].map(calls), [1, 1, 1, 1]);
    await page.context().close();
  });

  it('waits for the drawing as it is now, unless one is chosen, and says where it cannot be loaded', async () => {
    const { runId, workflowId } = await failed();
    const page = await open(runId);
    const dialog = page.getByRole('dialog', { name: 'Resume run' });
    const start = (disabled: boolean) => dialog.getByRole('button', { name: 'Start run', disabled });
    const isAsked = createGate();
    const busy = { status: 503, json: { detail: 'Busy.', code: 'x' } };
    await page.route(`**/api/v1/workflows/${workflowId}/`, (route) => isAsked.opened.then(() => route.fulfill(busy)));
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await start(true).waitFor();
    await dialog.getByRole('combobox', { name: 'Drawing' }).selectOption('now');
    await start(false).waitFor();
    isAsked.open();
    await dialog.getByRole('alert').getByText('The service is busy or restarting.').waitFor();
    await page.unroute(`**/api/v1/workflows/${workflowId}/`);
    await dialog.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    await dialog.getByRole('alert').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('leads from the list of runs over the mended node to a run that succeeds, in few presses', async () => {
    const { runId, workflowId, paths } = await failed();
    world.target.on(`${paths[1]!}/right`, [{ body: 'ok' }]);
    const page = await world.browser.person(world.owner.userId, `/runs?workflow=${workflowId}`);
    await page.evaluate(COUNT_PRESSES);
    await page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: 'A workflow' }).click();
    // The failed node is open, with the reason.
    await panel(page).getByText('http_status').waitFor();
    await panel(page).getByRole('link', { name: 'Open in the editor' }).click();
    const url = panel(page).getByRole('textbox', { name: 'URL', exact: true });
    await url.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('/right');
    const last = page.getByRole('region', { name: 'Last run' });
    await last.getByRole('button', { name: 'Resume' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resume run' });
    await dialog.getByText('Your unsaved changes are saved first.').waitFor();
    await dialog
      .getByRole('group', { name: 'Changed since this run' })
      .getByText(/\/right$/)
      .waitFor();
    assert.equal(await dialog.getByRole('combobox', { name: 'Drawing' }).inputValue(), 'now');
    await assertAccessible(page, 'resuming in the editor');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await last.getByText(/^Succeeded in/).waitFor();
    assert.equal(await page.evaluate('window.presses'), 5);
    assert.deepEqual([...paths, `${paths[1]!}/right`].map(calls), [1, 1, 1, 1]);
    const { body } = await world.owner.api.get<{ items: { status: string; resumed_from: string | null }[] }>(
      `/runs/?workflow=${workflowId}`,
    );
    assert.deepEqual(
      body.items.map(({ status, resumed_from: from }) => [status, from]),
      [
        ['Succeeded', runId],
        ['Error', null],
      ],
    );
    await page.context().close();
  });

  it('with the drawing as it was says in the editor which nodes have changed since', async () => {
    const { workflowId, paths } = await failed();
    const page = await world.browser.person(world.owner.userId, `/workflows/${workflowId}`);
    await nodeNamed(page, 'Second, failed').click();
    await panel(page).getByRole('textbox', { name: 'URL', exact: true }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('/mended');
    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved').waitFor();
    const last = page.getByRole('region', { name: 'Last run' });
    const dialog = page.getByRole('dialog', { name: 'Resume run' });
    await last.getByRole('button', { name: 'Resume' }).click();
    await dialog.getByRole('combobox', { name: 'Drawing' }).selectOption('then');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await last.getByText(/^Succeeded in/).waitFor();
    assert.deepEqual(paths.map(calls), [1, 2, 1]);
    await nodeNamed(page, 'Third, succeeded').waitFor();
    await page.getByRole('region', { name: 'Test result' }).getByText('The node has changed since.').waitFor();
    await page.context().close();
  });

  it('asks before a call is repeated whose outcome is not known', async () => {
    const { runId, paths } = await failed();
    const lose = `UPDATE node_results SET error_code = 'outcome_unknown' WHERE run_id = $1 AND status = 'failed'`;
    await queryDatabase(world.stack, lose, [runId]);
    const page = await open(runId);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Resume run' });
    await dialog.getByRole('button', { name: 'Start run' }).click();
    const box = dialog.getByRole('checkbox', { name: 'Repeat calls whose outcome is not known' });
    await box.waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Start run' }).isDisabled());
    await box.check();
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await untilOther(page, runId);
    await nodeNamed(page, 'Third, succeeded').waitFor();
    assert.deepEqual(paths.map(calls), [1, 2, 1]);
    await page.context().close();
  });

  it('a person who may only read sees neither button', async () => {
    const { runId, workflowId } = await failed();
    const { body } = await world.owner.api.get<{ project: number }>(`/workflows/${workflowId}/`);
    const viewer = await createAccount(world.stack);
    await giveRole(world.stack, viewer, body.project, 'viewer');
    const page = await world.browser.person(viewer.userId, `/runs/${runId}`);
    await nodeNamed(page, 'Second, failed').click();
    await page.getByRole('button', { name: 'Compare', exact: true }).waitFor();
    await page.waitForTimeout(500);
    assert.equal(await page.getByRole('button', { name: /^Resume/ }).count(), 0);
    await page.context().close();
  });
});
