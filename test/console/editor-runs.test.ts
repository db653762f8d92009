// Runs in the editor, results of earlier runs, and the start of an empty drawing.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createAccount, giveRole } from '../api/accounts.js';
import { createGate } from '../../harness/timing/gate.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, linkInRow, node as graphNode, trigger, type Drawing } from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string | RegExp) => region(page, 'Graph').getByRole('group', { name, exact: true });
const field = (page: Page, name: string) => region(page, 'Node').getByRole('textbox', { name, exact: true });
const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();

describe('runs in the editor, and empty drawings', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Work'), target: await startHttpTarget() };
  });

  const make = (data: Drawing, title = 'Worked on') => world.owner.api.createWorkflow(world.project, data, title);
  const open = (workflowId: number, options?: object) =>
    world.browser.person(world.owner.userId, `/workflows/${workflowId}`, options);

  /** Creates a drawing of `Start` and `Call`, whose request is answered with `word` once `until` is fulfilled. */
  function row(until: Promise<unknown> = Promise.resolve(), word = 'answered'): Drawing {
    const path = `/${randomUUID()}`;
    world.target.on(path, [{ body: word, until }]);
    return drawing(linkInRow([trigger([], { label: 'Start' }), http(`${world.target.url}${path}`, { label: 'Call' })]));
  }

  async function run(page: Page): Promise<void> {
    await press(page, 'Run');
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await press(dialog, 'Start run');
    await dialog.waitFor({ state: 'detached' });
  }

  describe('Run', () => {
    it('runs in the editor: statuses on the canvas, what happened in a line, and a link to the run', async () => {
      const answer = createGate();
      const id = await make(row(answer.opened));
      const page = await open(id);
      await run(page);
      const last = region(page, 'Last run');
      await node(page, 'Call, in progress').waitFor();
      await last.getByText('Is running').waitFor();
      await assertAccessible(page, 'the editor while a run goes on');
      answer.open();
      await node(page, 'Call, succeeded').waitFor();
      await last.getByText(/^Succeeded in/).waitFor();
      assert.equal(new URL(page.url()).pathname, `/workflows/${id}`);
      await last.getByRole('button', { name: 'Call' }).click();
      await region(page, 'Test result').getByText('answered', { exact: true }).waitFor();
      await assertAccessible(page, 'the editor after a run');
      await last.getByRole('link', { name: 'Open run' }).click();
      await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
      await page.goBack();
      await node(page, 'Call, succeeded').waitFor();
      await page.context().close();
    });

    it('says at which node it failed, is cancelled in the editor, and can be started again after that', async () => {
      const failing = http(`${world.target.url}/status/404`, { label: 'Missing' });
      const slow = http(`${world.target.url}/delay/60000`, { label: 'Slow' });
      const page = await open(await make(drawing(linkInRow([trigger([], { label: 'Start' }), failing]))));
      await run(page);
      const last = region(page, 'Last run');
      await last.getByText('http_status').waitFor();
      await node(page, 'Missing, failed').waitFor();
      await page.context().close();
      const other = await open(await make(drawing(linkInRow([trigger([], { label: 'Start' }), slow]))));
      await run(other);
      await node(other, 'Slow, in progress').waitFor();
      await press(region(other, 'Last run'), 'Cancel run');
      await node(other, 'Slow, cancelled').waitFor();
      await region(other, 'Last run')
        .getByText(/^Was cancelled/)
        .waitFor();
      await run(other);
      await node(other, 'Slow, in progress').waitFor();
      await press(region(other, 'Last run'), 'Cancel run');
      await node(other, 'Slow, cancelled').waitFor();
      await other.context().close();
    });
  });

  describe('what an earlier run has found out', () => {
    it('is on the canvas after a reload, except of nodes that have changed since', async () => {
      const id = await make(row());
      const { data: started } = await world.owner.api.run(id, {});
      await world.owner.api.pollToEnd(started.id);
      const page = await open(id);
      await node(page, 'Call, succeeded').click();
      await region(page, 'Test result').getByText('answered', { exact: true }).waitFor();
      await region(page, 'Last run')
        .getByText(/^Succeeded in/)
        .waitFor();
      await field(page, 'URL').fill(`${world.target.url}/echo`);
      await node(page, 'Call').waitFor();
      await node(page, 'Start, succeeded').waitFor();
      await region(page, 'Test result').getByText('The node has changed since.').waitFor();
      await page.keyboard.press('Control+s');
      await page.getByText('All changes saved').waitFor();
      await page.reload();
      await node(page, 'Start, succeeded').waitFor();
      await node(page, 'Call').waitFor();
      await page.context().close();
    });

    it('is that of a test where the test is newer, and goes on where the run goes on', async () => {
      const answer = createGate();
      const id = await make(row(answer.opened));
      const page = await open(id);
      await node(page, 'Call').click();
      await press(region(page, 'Node'), 'Test');
      await page.getByRole('menuitem', { name: 'Up to here' }).click();
      await press(page.getByRole('dialog', { name: 'Test' }), 'Start test');
      await node(page, 'Call, in progress').waitFor();
      await page.reload();
      await node(page, 'Call, in progress').waitFor();
      answer.open();
      await node(page, 'Call, succeeded').waitFor();
      assert.equal(await region(page, 'Last run').count(), 0);
      await page.context().close();
    });

    it('is shown of the nodes in bodies, too', async () => {
      const said = graphNode('set', { label: 'Said', value: 'x' });
      const each = graphNode('for_each', { label: 'Each', items: ['a', 'b'], body_node: said.id });
      const page = await open(await make(drawing([...linkInRow([trigger([], { label: 'Start' }), each]), said])));
      await run(page);
      await node(page, 'Said, succeeded').waitFor();
      await page.reload();
      await node(page, 'Said, succeeded').waitFor();
      await page.context().close();
    });

    it('does not keep the canvas waiting, and its loss breaks nothing', async () => {
      const id = await make(row());
      const page = await world.browser.person(world.owner.userId, '/workflows');
      await page.route('**/api/v1/runs/?**', (route) => route.abort());
      await page.goto(`/workflows/${id}`);
      await node(page, 'Call').click();
      await field(page, 'Label').fill('Renamed');
      await node(page, 'Renamed').waitFor();
      await page.context().close();
    });
  });

  describe('an empty canvas', () => {
    const STARTERS = {
      'HTTP request': ['HTTP request: URL'],
      'Ask a model': ['LLM request: Settings › Model'],
      'Loop over items': [],
    };

    for (const [name, missing] of Object.entries(STARTERS)) {
      it(`offers ${name}, as one step of Undo, in which only what a person must say is missing`, async () => {
        const page = await open(await make({ nodes: [], edges: [] } as unknown as Drawing));
        const start = region(page, 'Start');
        await start.getByRole('button', { name: 'From the gallery' }).waitFor();
        await start.getByRole('button', { name: 'Import' }).waitFor();
        await assertAccessible(page, 'an empty canvas');
        await press(start, name);
        await start.waitFor({ state: 'detached' });
        await node(page, 'Output').waitFor();
        await page.keyboard.press('Control+s');
        await page.getByText('All changes saved').waitFor();
        await press(page, /^Problems, \d+$/);
        const problems = region(page, 'Problems');
        if (missing.length === 0) await problems.getByText('This workflow can run.').waitFor();
        for (const each of missing) await problems.getByText(each).first().waitFor();
        await eventually(async () => (await problems.getAttribute('aria-busy')) === 'false');
        assert.equal(await problems.getByRole('listitem').count(), missing.length);
        if (missing.length === 0) {
          await run(page);
          await node(page, 'Output, succeeded').click();
          await region(page, 'Test result').getByText('three').first().waitFor();
        }
        await press(page, 'Undo');
        await start.waitFor();
        await page.context().close();
      });
    }

    it('fits a phone, and offers nothing to a person who may only look', async () => {
      const id = await make({ nodes: [], edges: [] } as unknown as Drawing);
      const phone = await open(id, NARROW);
      await region(phone, 'Start').waitFor();
      await assertFits(phone, 'an empty canvas');
      await phone.context().close();
      const viewer = await createAccount(world.stack);
      await giveRole(world.stack, viewer, world.project, 'viewer');
      const page = await world.browser.person(viewer.userId, `/workflows/${id}`);
      await page.getByText('You may look at this workflow, but not change it').waitFor();
      assert.equal(await region(page, 'Node').count(), 0);
      assert.equal(await region(page, 'Start').count(), 0);
      assert.equal(await region(page, 'Unsaved work').count(), 0);
      await page.context().close();
    });
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});
