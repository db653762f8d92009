// Sub-workflows in the editor and on the pages of their runs.
import assert from 'node:assert/strict';
import { queryDatabase } from '../support/inspect.js';
import { drawing, linkInRow, node, trigger, type Drawing, type DrawingNode } from '../../harness/drawing/drawing.js';
import { callBack, callbackUrlOf, untilWaiting } from '../support/waiting.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';
import { createRunWorld, nodeNamed, panel } from './run-world.js';

describe('sub-workflows in the console', function () {
  this.timeout(120_000);
  const world = useConsole(createRunWorld);

  const inRow = (...nodes: DrawingNode[]): Drawing => drawing(linkInRow([trigger([], { label: 'Start' }), ...nodes]));

  it('offer the workflows of the project by their titles', async () => {
    const { workflowId: called } = await world.start(inRow(), {}, 'Is called <b>');
    const call = node('workflow', { label: 'Call it', workflow_id: called });
    const { workflowId, runId } = await world.start(inRow(call), {}, 'Calls');
    await world.owner.api.pollToEnd(runId);
    const page = await world.browser.person(world.owner.userId, `/workflows/${workflowId}`);
    // Once the editor has loaded the last run, the name of a node ends with its status there.
    await page.getByRole('group', { name: /^Call it(?:$|,)/ }).click();
    const choice = page.getByRole('combobox', { name: 'Workflow', exact: true });
    await choice.getByRole('option', { name: 'Is called <b>' }).waitFor({ state: 'attached' });
    assert.equal(await choice.inputValue(), String(called));
    await choice.selectOption({ label: 'Calls' });
    await assertAccessible(page, 'the form of a sub-workflow');
    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved').waitFor();
    const found = `SELECT (document -> 'nodes' -> 1 -> 'data' ->> 'workflow_id')::integer AS called FROM workflows WHERE id = $1`;
    const [row] = await queryDatabase<{ called: number }>(world.stack, found, [workflowId]);
    assert.equal(row!.called, workflowId);
    await page.context().close();
  });

  it('link the run of a node and the run that it has started, while it waits and afterwards', async () => {
    const pause = node('wait', { label: 'Pause', mode: 'callback', timeout: 600 });
    const { workflowId: called } = await world.start(inRow(pause), {}, 'Pauses');
    const call = node('workflow', { label: 'Call it', workflow_id: called });
    const { runId } = await world.start(inRow(call), {}, 'Goes down');
    const { waiting } = await untilWaiting(world.owner.api, runId, call.id);
    const page = await world.browser.person(world.owner.userId, `/runs/${runId}`);
    await nodeNamed(page, 'Call it, waiting').click();
    await panel(page).getByRole('link', { name: 'Open the run that it has started' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pauses' }).waitFor();
    await page.getByRole('link', { name: 'Another run' }).click();
    await page.getByRole('heading', { level: 1, name: 'Goes down' }).waitFor();
    assert.ok(page.url().endsWith(`/runs/${runId}?node=${call.id}`), page.url());
    const childId = (waiting as unknown as { run_id: string }).run_id;
    await callBack(await callbackUrlOf(world.owner.api, childId, pause.id), 'done');
    await nodeNamed(page, 'Call it, succeeded').waitFor();
    await panel(page).getByRole('link', { name: 'Open the run that it has started' }).waitFor();
    await assertAccessible(page, 'the page of a run with a sub-workflow');
    await page.context().close();
  });

  it('link the run that has failed, and mark the line of its code', async () => {
    const lines = [
      'const greet = ({ name }) => `Hello, ${name}`;',
      '',
      'return greet(inputs.people.first);',
      '// the end',
    ];
    const code = node('code', { label: 'Greet', code: lines.join('\n'), inputs: { name: '<b>Ada</b>' } });
    const { workflowId: called } = await world.start(inRow(code), {}, 'Greets');
    const call = node('workflow', { label: 'Call it', workflow_id: called });
    const { runId } = await world.start(inRow(call), {}, 'Fails below');
    await world.owner.api.pollToEnd(runId);
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await world.browser.person(world.owner.userId, `/runs/${runId}`, { ...NARROW, colorScheme });
      await panel(page).getByText('child_failed', { exact: true }).waitFor();
      await panel(page).getByRole('link', { name: 'Open the run that it has started' }).click();
      await page.getByRole('heading', { level: 1, name: 'Greets' }).waitFor();
      await panel(page).getByText('code_error', { exact: true }).waitFor();
      const shown = panel(page).getByRole('region', { name: 'Code', exact: true });
      await shown.locator('mark').waitFor();
      assert.deepEqual(await shown.getByRole('listitem').allInnerTexts(), lines);
      assert.deepEqual(await shown.locator('mark').allInnerTexts(), [lines[2]]);
      const numberOf = `getComputedStyle(document.querySelector('li:has(> mark)'), '::before').content`;
      assert.equal(await page.evaluate(numberOf), '"3"');
      await assertFits(page);
      await assertAccessible(page, `code that has failed, ${colorScheme}`);
      await page.context().close();
    }
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
