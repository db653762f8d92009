import assert from 'node:assert/strict';
import { drawing, http, link, node, trigger } from '../../harness/drawing/drawing.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { callBack, callbackUrlOf } from '../support/waiting.js';
import { assertAccessible } from './axe.js';
import { useConsole } from './browser.js';
import { createRunWorld, nodeNamed, panel } from './run-world.js';

describe('the page of a run with loops', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({ ...(await createRunWorld(stack)), target: await startHttpTarget() }));

  function drawn(onItemError = 'skip') {
    const [start, call] = [trigger(), http('', { label: 'Call' })];
    const each = node('for_each', {
      label: 'Each page',
      items: [200, 418, 200],
      body_node: call.id,
      on_item_error: onItemError,
      concurrency: 1,
    });
    call.data['url'] = `${world.target.url}/status/{{ ${each.id}.item }}/on-the-page`;
    link(start, each);
    return { data: drawing([start, each, call]), call, each };
  }

  it('shows the iterations of a run that has ended, and what a node did in each of them', async () => {
    const { runId } = await world.start(drawn().data);
    await world.owner.api.pollToEnd(runId);
    const page = await world.browser.person(world.owner.userId, `/runs/${runId}`);
    await nodeNamed(page, 'Call, failed').getByRole('button').click();
    await panel(page).getByText('Choose an iteration to see what the node did in it.').waitFor();
    const iterations = panel(page).getByRole('combobox', { name: 'Iteration', exact: true });
    await iterations.selectOption({ label: 'Each page [1]' });
    await panel(page).getByText(/418/).first().waitFor();
    await iterations.selectOption({ label: 'Each page [2]' });
    await panel(page).getByText('succeeded').first().waitFor();
    await nodeNamed(page, 'Each page, succeeded').getByRole('button').click();
    await panel(page).getByText('3 iterations: 2 succeeded, 1 failed.').waitFor();
    await assertAccessible(page, 'a run with loops');
    await page.context().close();
  });

  it('opens on the first iteration that failed, and names it in the story', async () => {
    const { data } = drawn('fail');
    const { runId } = await world.start(data);
    await world.owner.api.pollToEnd(runId);
    const page = await world.browser.person(world.owner.userId, `/runs/${runId}`);
    await page
      .getByRole('group', { name: 'What happened' })
      .getByText(/^Failed at Call after .*: http_status .*418/)
      .waitFor();
    await panel(page).getByRole('heading', { name: 'Call' }).waitFor();
    const chosen = panel(page).getByRole('combobox', { name: 'Iteration', exact: true }).locator('option:checked');
    assert.equal(await chosen.textContent(), 'Each page [1]');
    await page.context().close();
  });

  it('shows the nodes of a loop as they run', async () => {
    const { data, call } = drawn();
    call.data['url'] = `${world.target.url}/hold/items`;
    const { runId } = await world.start(data);
    const page = await world.browser.person(world.owner.userId, `/runs/${runId}`);
    await nodeNamed(page, 'Call, in progress').waitFor();
    world.target.release('/hold/items');
    await nodeNamed(page, 'Call, succeeded').waitFor();
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    await page.context().close();
  });

  it('shows five hundred of ten thousand iterations, and more of them on request', async () => {
    const { data, call, each } = drawn();
    call.data['url'] = `${world.target.url}/hold/many`;
    const { runId } = await world.start(data);
    const page = await world.browser.person(world.owner.userId, '/runs');
    const at = new Date().toISOString();
    const many = Array.from({ length: 10_000 }, (_, index) => [
      `many ${index}`,
      { id: call.id, path: `${each.id}[${index}]`, status: 'succeed', started_at: at, finished_at: at, result: {} },
    ]);
    await page.route(`**/api/v1/runs/${runId}/`, async (route) => {
      const response = await route.fetch();
      const run = (await response.json()) as { result: object };
      await route.fulfill({ response, json: { ...run, result: { ...run.result, ...Object.fromEntries(many) } } });
    });
    await page.goto(`/runs/${runId}?node=${call.id}`);
    const rows = page.getByRole('list', { name: 'Nodes in the order in which they have begun' }).getByRole('listitem');
    const options = panel(page).getByRole('combobox', { name: 'Iteration', exact: true }).locator('option');
    const moreNodes = page.getByRole('button', { name: /^Show more of 10\d\d\d nodes$/ });
    const moreIterations = panel(page).getByRole('button', { name: /^Show more of 10\d\d\d iterations$/ });
    await moreNodes.waitFor();
    assert.equal(await rows.count(), 500);
    assert.equal(await options.count(), 501, 'with `Choose an iteration`');
    await moreNodes.click();
    await moreIterations.click();
    await eventually(async () => (await rows.count()) === 1000 && (await options.count()) === 1001);
    world.target.release('/hold/many');
    await page.context().close();
  });

  it('loads a hundred iterations of a loop, and more of them on request', async () => {
    const [start, body] = [trigger(), node('set', { value: 1, label: 'Body' })];
    const items = Array.from({ length: 102 }, (_, index) => index);
    const each = node('for_each', { label: 'Each page', items, body_node: body.id, concurrency: 20 });
    link(start, each);
    const { runId } = await world.start(drawing([start, each, body]));
    await world.owner.api.pollToEnd(runId);
    const page = await world.browser.person(world.owner.userId, `/runs/${runId}?node=${body.id}`);
    const iterations = panel(page).getByRole('combobox', { name: 'Iteration', exact: true });
    const options = iterations.locator('option');
    const more = panel(page).getByRole('button', { name: 'Load more of 102 iterations' });
    await more.waitFor();
    assert.equal(await options.count(), 101, 'with `Choose an iteration`');
    await page.route('**/iterations/?*', (route) =>
      route.fulfill({ status: 409, json: { code: 'odd', detail: 'Odd.' } }),
    );
    await more.click();
    await panel(page).getByRole('alert').getByText('Odd.').waitFor();
    await page.unroute('**/iterations/?*');
    await nodeNamed(page, 'Each page, succeeded').getByRole('button').click();
    await panel(page).getByText('102 iterations: 102 succeeded.').waitFor();
    await more.click();
    await more.waitFor({ state: 'detached' });
    await nodeNamed(page, 'Body, succeeded').getByRole('button').click();
    await eventually(async () => (await options.count()) === 103);
    await iterations.selectOption({ label: 'Each page [101]' });
    await panel(page).getByText('succeeded').first().waitFor();
    await page.context().close();
  });

  it('draws a wait as waiting until it is over', async () => {
    const start = trigger();
    const pause = node('wait', { label: 'Pause', mode: 'callback' });
    link(start, pause);
    const { runId } = await world.start(drawing([start, pause]));
    const page = await world.browser.person(world.owner.userId, `/runs/${runId}`);
    const bar = (status: string) => page.getByRole('button', { name: new RegExp(`^Pause, attempt 1, ${status}, \\d`) });
    await bar('waiting').waitFor();
    await page.getByRole('status').getByText('Run waiting').waitFor();
    await callBack(await callbackUrlOf(world.owner.api, runId, pause.id));
    await bar('succeeded').waitFor();
    await page.context().close();
  });

  it('shows the address of a callback, and leads to a task, for a person who may act', async () => {
    const start = trigger();
    const payment = node('wait', { label: 'Payment', mode: 'callback', timeout: 600 });
    const person = node('human', { label: 'Person', message: 'Well?' });
    const pause = node('wait', { label: 'Pause', seconds: 600 });
    link(start, [payment, person, pause]);
    const { runId } = await world.start(drawing([start, payment, person, pause]));
    const url = await callbackUrlOf(world.owner.api, runId, payment.id);
    const page = await world.browser.person(world.owner.userId, `/runs/${runId}`);
    const story = page.getByRole('group', { name: 'What happened' });
    await story.getByText(/^Waits at Person for the answer of a person since .*Answer$/).waitFor();
    await story.getByText(/^Waits at Payment for a callback since /).waitFor();
    await nodeNamed(page, 'Payment, waiting').getByRole('button').click();
    await panel(page).getByText(url).waitFor();
    await panel(page).getByRole('button', { name: 'Copy address', exact: true }).waitFor();
    await nodeNamed(page, 'Pause, waiting').getByRole('button').click();
    await panel(page).getByText('The node waits until').waitFor();
    await nodeNamed(page, 'Person, waiting').getByRole('button').click();
    const task = panel(page).getByRole('article', { name: 'Person' });
    await task.getByText('Well?').waitFor();
    await nodeNamed(page, 'Pause, waiting').getByRole('button').click();
    await task.waitFor({ state: 'detached' });
    await story.getByRole('button', { name: 'Answer' }).click();
    await task.getByRole('button', { name: 'Done' }).click();
    await nodeNamed(page, 'Person, succeeded').waitFor();
    await page.context().close();
  });
});
