import assert from 'node:assert/strict';
import { eventually } from '../../harness/timing/eventually.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { useConsole } from './browser.js';
import { call, callAndAnswer, createRunWorld, nodeNamed, sideBySide } from './run-world.js';

describe('a run that is watched', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => ({ ...(await createRunWorld(stack)), target: await startHttpTarget() }));

  const open = (runId: string) => world.browser.person(world.owner.userId, `/runs/${runId}`);

  it('shows the end of each of 300 nodes side by side, and no earlier state after a later one', async () => {
    const { runId } = await world.start(sideBySide(world.target, 300), {}, 'Side by side');
    const page = await open(runId);
    const graph = page.getByRole('region', { name: 'Graph' });
    await graph
      .getByRole('group', { name: /^Call \d+, / })
      .first()
      .waitFor();
    await page.evaluate(RECORD);
    await page.getByRole('status').getByText('Run succeeded').waitFor({ timeout: 120_000 });
    assert.equal(await graph.getByRole('group', { name: /^Call \d+, succeeded$/ }).count(), 300);
    const backwards = (await page.evaluate('window.backwards')) as string[];
    assert.deepEqual(backwards, []);
    assert.equal(await page.getByRole('button', { name: /^Call \d+, attempt 1, succeeded, / }).count(), 300);
    await page.context().close();
  });

  it('says that the connection is lost, and goes on by itself when it is back', async () => {
    // The call is held until the page has shown that the connection is lost and is back, however long that takes.
    world.target.on('/held', [{ after: ['/release'] }]);
    const { runId } = await world.start(call(`${world.target.url}/held`));
    const page = await open(runId);
    await nodeNamed(page, 'Call, in progress').waitFor();
    await page.context().setOffline(true);
    await page.getByText('The connection is lost.').first().waitFor();
    await page.context().setOffline(false);
    await page.getByText('The connection is back.').first().waitFor();
    await fetch(`${world.target.url}/release`);
    await nodeNamed(page, 'Call, succeeded').waitFor();
    await page.context().close();
  });

  it('follows by polls where event streams do not come through', async () => {
    const { runId } = await world.start(callAndAnswer(world.target, '/hold/polled'));
    const page = await world.browser.person(world.owner.userId, '/costs');
    await page.route('**/workflow_result/events/**', (route) => route.abort());
    await page.evaluate(`history.pushState(null, '', '/runs/${runId}')`);
    await nodeNamed(page, 'Call, in progress').waitFor();
    world.target.release('/hold/polled');
    await nodeNamed(page, 'Answer, succeeded').waitFor();
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    assert.equal(await page.getByText('The connection is lost.').count(), 0);
    await page.context().close();
  });

  it('renders nothing of a node that an event is not about', async () => {
    const { runId } = await world.start(call(`${world.target.url}/hold/rendered`));
    const page = await open(runId);
    await nodeNamed(page, 'Call, in progress').waitFor();
    await page.evaluate(WATCH_CHANGES('Start, succeeded'));
    // The graph is still being laid out when its first nodes appear.
    await eventually(async () => (await page.evaluate<number>('performance.now() - window.changedAt')) > 500);
    await page.evaluate('window.changes.length = 0');
    world.target.release('/hold/rendered');
    await nodeNamed(page, 'Call, succeeded').waitFor();
    assert.deepEqual(await page.evaluate('window.changes'), []);
    await page.context().close();
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});

/** Records each node that is shown in an earlier state than before. */
const RECORD = `{
  const ORDER = ['in queue', 'in progress', 'waiting', 'succeeded'];
  const seen = new Map();
  window.backwards = [];
  const look = () => {
    for (const group of document.querySelectorAll('.run-node')) {
      const [, name, status] = /^(.*), ([^,]*)$/.exec(group.getAttribute('aria-label'));
      const rank = ORDER.indexOf(status);
      if (rank < (seen.get(name) ?? 0)) window.backwards.push(name + ': ' + status);
      seen.set(name, rank);
    }
  };
  new MutationObserver(look).observe(document.querySelector('.run-graph'), { subtree: true, attributeFilter: ['aria-label'] });
  look();
}`;

/** Records the changes in a node's group. */
const WATCH_CHANGES = (name: string): string => `{
  window.changes = [];
  window.changedAt = performance.now();
  const group = document.querySelector('[role=group][aria-label="${name}"]');
  new MutationObserver((changes) => {
    window.changedAt = performance.now();
    for (const { type, attributeName, target } of changes)
      window.changes.push([type, attributeName, target.outerHTML ?? target.data].join(' '));
  }).observe(group, { subtree: true, attributes: true, childList: true, characterData: true });
}`;
