import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { condition, drawing, http, link, llm, node, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { useConsole } from './browser.js';
import { call, createRunWorld, nodeNamed, panel } from './run-world.js';

/** Returns the labels of the emphasized buttons in the header of the run. */
const mainButtons = (page: Page) => page.locator('.run-header .button-primary').allTextContents();

describe('the page of a run in each of its states', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({ ...(await createRunWorld(stack)), target: await startHttpTarget() }));
  const open = (runId: string) => world.browser.person(world.owner.userId, `/runs/${runId}`);

  it('emphasizes the action that fits: none while it runs, Run again after a success, Resume after a failure', async () => {
    const path = `/hold/${randomUUID()}`;
    const held = await world.start(call(`${world.target.url}${path}`));
    const page = await open(held.runId);
    await nodeNamed(page, 'Call, in progress').waitFor();
    await page.getByRole('button', { name: 'Run again' }).waitFor();
    assert.deepEqual(await mainButtons(page), []);
    world.target.release(path);
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    await page.getByRole('button', { name: 'Save as case' }).waitFor();
    assert.deepEqual(await mainButtons(page), ['Run again']);
    const failing = await world.start(call(`${world.target.url}/status/404`));
    await world.owner.api.pollToEnd(failing.runId);
    await page.goto(`/runs/${failing.runId}`);
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    assert.deepEqual(await mainButtons(page), ['Resume']);
    await page.context().close();
  });

  it('writes "not reached" on nodes to which a run did not come, and the exits of a condition as the editor does', async () => {
    const nodes = [
      trigger([], { label: 'Start' }),
      condition('1', '==', '1', { label: 'Any?' }),
      http(`${world.target.url}/status/404`, { label: 'Call' }),
      llm('Hello', { label: 'After' }),
      llm('Hello', { label: 'Aside' }),
    ] as const;
    const [start, any, request, after, aside] = nodes;
    link(start, any);
    link(any, request, 'true');
    link(any, aside, 'false');
    link(request, after);
    const { runId, workflowId } = await world.start(drawing([...nodes]));
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    for (const name of ['After', 'Aside']) {
      await nodeNamed(page, `${name}, not run`).getByText('not reached', { exact: true }).waitFor();
    }
    const graph = page.getByRole('region', { name: 'Graph' });
    await graph.getByText('True', { exact: true }).waitFor();
    await graph.getByText('False', { exact: true }).waitFor();
    assert.equal(await graph.getByText('true', { exact: true }).count(), 0);
    await page.goto(`/workflows/${workflowId}`);
    await graph.getByText('True', { exact: true }).waitFor();
    await page.context().close();
  });

  it('shows what a node was given, not its names and links, and for the start the input of the run', async () => {
    const { runId } = await world.start(call(`${world.target.url}/status/404`), { customer: 'Ada' });
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    await page.getByRole('tab', { name: 'Input' }).click();
    const given = panel(page);
    await given.getByText('/status/404').waitFor();
    for (const key of ['id', 'name', 'label', 'next_nodes', 'version']) {
      assert.equal(await given.getByText(key, { exact: true }).count(), 0, key);
    }
    await nodeNamed(page, 'Start, succeeded').getByRole('button').click();
    await page.getByRole('tab', { name: 'Input' }).click();
    await given.getByText('Ada').waitFor();
    await page.context().close();
  });

  it('numbers the iterations in the timeline before their names, where they are not cut off', async () => {
    const request = http(`${world.target.url}/status/200`, { label: 'Call for each of the many customers of today' });
    const each = node('for_each', { label: 'Each customer of the list', items: [1, 2], body_node: request.id });
    const start = trigger([], { label: 'Start' });
    link(start, each);
    const { runId } = await world.start(drawing([start, each, request]));
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    const rows = page.getByRole('region', { name: 'Timeline' }).getByRole('listitem');
    await rows.filter({ hasText: /^\[1\] Call for each/ }).waitFor();
    const number = await rows.getByText('[1]').boundingBox();
    const row = await rows.filter({ hasText: /^\[1\] Call for each/ }).boundingBox();
    assert.ok(number !== null && row !== null && number.x >= row.x && number.x + number.width < row.x + 60);
    await page.context().close();
  });

  it('answers a task of a run in the editor, where Undo in the task leaves the unsaved drawing', async () => {
    const person = node('human', { label: 'Ask', message: 'How many?', fields: [{ id: 'count', type: 'number' }] });
    const start = trigger([], { label: 'Start' });
    link(start, person);
    const { workflowId, runId } = await world.start(drawing([start, person]));
    const page = await world.browser.person(world.owner.userId, `/workflows/${workflowId}`);
    const last = page.getByRole('region', { name: 'Last run' });
    await last.getByText('Waits at').waitFor();
    await page.getByRole('button', { name: 'Add Code' }).click();
    await last.getByRole('button', { name: 'Answer' }).click();
    const task = page.getByRole('region', { name: 'Test result' }).getByRole('article', { name: 'Ask' });
    await task.getByText('How many?').waitFor();
    assert.equal(await task.getByRole('link').count(), 0);
    await task.getByRole('textbox', { name: 'count' }).fill('3');
    await task.getByRole('textbox', { name: 'Comment' }).fill('as counted');
    await page.keyboard.press('Control+z');
    await task.getByRole('button', { name: 'Done' }).click();
    await last.getByText(/^Succeeded in/).waitFor();
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    const end = await world.owner.api.pollToEnd(runId);
    assert.deepEqual(end.data.data![person.id]!.result!['values'], { count: 3 });
    await page.context().close();
  });

  it('has broken no policy, thrown nothing and asked no other origin', () => world.browser.assertClean());
});
