import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { startToolServer } from '../../harness/target/tool-server.js';
import { eventually } from '../../harness/timing/eventually.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole, type ConsoleBrowser } from './browser.js';
import { drawing, http, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { answer, asksToAdd, call, callAndAnswer, createRunWorld, nodeNamed, panel, sideBySide } from './run-world.js';

/** The length of the timeline's axis in milliseconds. */
const AXIS = `getComputedStyle(document.querySelector('.timeline-rows')).getPropertyValue('--span')`;

describe('the page of a run', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({
    ...(await createRunWorld(stack)),
    target: await startHttpTarget(),
    tools: await startToolServer(),
  }));

  const open = (runId: string, options: Parameters<ConsoleBrowser['person']>[2] = {}) =>
    world.browser.person(world.owner.userId, `/runs/${runId}`, options);

  it('shows each node as it runs, in the graph and in the timeline, until the end', async () => {
    const { runId } = await world.start(callAndAnswer(world.target, '/hold/live'), {}, 'Live');
    const page = await open(runId);
    await nodeNamed(page, 'Call, in progress').waitFor();
    await nodeNamed(page, 'Answer, in queue').waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('button', { name: /^Call, attempt 1, in progress, \d/ }).waitFor();
    const bar = timeline.getByRole('button', { name: /^Start, attempt 1, succeeded, / });
    // The bar of a finished node stays in place while the axis has the same length.
    const places = new Map<string, number>();
    for (let compared = 0; compared < 4;) {
      const axis = await page.evaluate<string>(AXIS);
      const { x } = (await bar.boundingBox())!;
      if (axis !== (await page.evaluate<string>(AXIS))) continue;
      assert.equal(places.get(axis) ?? x, x, `axis of ${axis} ms`);
      if (places.has(axis)) compared += 1;
      places.set(axis, x);
      await page.waitForTimeout(120);
    }
    const styleOfLink = (property: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector('[aria-label="Start to Call"] .run-edge')).${property}`,
      );
    assert.match(await styleOfLink('animationName'), /flow/);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    assert.ok(parseFloat(await styleOfLink('animationDuration')) < 0.001);
    world.target.release('/hold/live');
    await nodeNamed(page, 'Answer, succeeded').waitFor();
    assert.equal(await styleOfLink('animationName'), 'none');
    await timeline.getByRole('button', { name: /^Answer, attempt 1, succeeded, \d/ }).waitFor();
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    await page.getByText('0.00002 USD').first().waitFor();
    await timeline.getByRole('button', { name: /^Answer,/ }).click();
    await panel(page).getByText('echo: Hello').waitFor();
    assert.match(page.url(), /\?node=/);
    await page.context().close();
  });

  it('shows every attempt of a node, and why the earlier ones have failed', async () => {
    const path = `/twice/${randomUUID()}`;
    world.target.on(path, [{ status: 503 }, { status: 503 }, { body: 'at last' }]);
    const { runId } = await world.start(call(`${world.target.url}${path}`));
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    for (const [number, status] of [
      [1, 'failed'],
      [2, 'failed'],
      [3, 'succeeded'],
    ] as const) {
      await page.getByRole('button', { name: new RegExp(`^Call, attempt ${number}, ${status}, \\d`) }).waitFor();
    }
    await nodeNamed(page, 'Call, succeeded').click();
    await page.getByRole('tab', { name: 'Attempts' }).click();
    const attempts = page.getByRole('table', { name: 'Attempts' });
    assert.equal(await attempts.getByRole('row').count(), 4);
    await eventually(async () => (await attempts.getByText('http_status').count()) === 2);
    await page.context().close();
  });

  it('draws every attempt live and to the end, also where the detail of the node was missing for a while', async () => {
    const path = `/thrice/${randomUUID()}`;
    world.target.on(path, [{ status: 503 }, { status: 503, delayMs: 500 }, { status: 503 }, { body: 'at last' }]);
    const { runId } = await world.start(call(`${world.target.url}${path}`));
    const page = await world.browser.person(world.owner.userId);
    let isMissing = true;
    const details = new RegExp(`/history/${runId}/nodes/`);
    await page.route(details, (route) => (isMissing ? route.fulfill({ status: 503, json: {} }) : route.fallback()));
    await page.goto(`/runs/${runId}`);
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    await page.waitForTimeout(4_000);
    isMissing = false;
    for (const [number, status] of [
      [1, 'failed'],
      [2, 'failed'],
      [3, 'failed'],
      [4, 'succeeded'],
    ] as const) {
      await page.getByRole('button', { name: new RegExp(`^Call, attempt ${number}, ${status}, \\d`) }).waitFor();
    }
    await page.context().close();
  });

  it('begins with the failed node: code and message, and what it was given', async () => {
    const { runId } = await world.start(call(`${world.target.url}/status/404`, 'Fetch'));
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    await panel(page).getByRole('heading', { name: 'Fetch' }).waitFor();
    await panel(page).getByText('http_status').waitFor();
    await page.getByRole('status').getByText('Run failed').waitFor();
    await page.getByRole('tab', { name: 'Input' }).click();
    await panel(page).getByText(`${world.target.url}/status/404`).waitFor();
    await page.getByRole('tab', { name: 'Cost' }).click();
    await panel(page).getByRole('table', { name: 'Cost' }).waitFor();
    await assertAccessible(page, 'a failed run');
    await page.context().close();
  });

  it('says in a line what has happened, shows the result without a click, and leads from a node to the editor', async () => {
    const done = await world.start(answer(world.stack, 'The whole answer'), {}, 'Story');
    await world.owner.api.pollToEnd(done.runId);
    const page = await open(done.runId);
    const story = page.getByRole('group', { name: 'What happened' });
    await story.getByText(/^Succeeded in .* for 0\.\d+ USD\. Its result is that of Answer\.$/).waitFor();
    await panel(page).getByText('The whole answer').waitFor();
    await nodeNamed(page, 'Start, succeeded').getByRole('button').click();
    const result = page.getByRole('region', { name: 'Result of the run' });
    await result.getByText('The whole answer').waitFor();
    await assertAccessible(page, 'the story of a run');
    await result.getByRole('button', { name: 'From Answer' }).click();
    await panel(page).getByRole('link', { name: 'Open in the editor' }).click();
    await page.getByRole('region', { name: 'Node', exact: true }).getByRole('textbox', { name: 'Label' }).waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Label' }).inputValue(), 'Answer');
    const { runId } = await world.start(call(`${world.target.url}/status/404`, 'Fetch'));
    await world.owner.api.pollToEnd(runId);
    await page.goto(`/runs/${runId}`);
    await story.getByText(/^Failed at Fetch after .*: http_status /).waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await page.context().close();
  });

  it('searches JSON by Enter from match to match, and copies the variable of a place', async () => {
    const path = `/rows/${randomUUID()}`;
    const rows = Array.from({ length: 60_000 }, (_, id) => ({ id, name: `Person ${id}`, note: 'x'.repeat(40) }));
    world.target.on(path, [{ body: JSON.stringify({ rows }) }]);
    const { runId } = await world.start(call(`${world.target.url}${path}`));
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    const search = panel(page).getByRole('searchbox', { name: 'Search in result' });
    await search.waitFor();
    await page.evaluate(WATCH_FOR_HANGS);
    await search.fill('person 59999');
    await panel(page).getByText('1 match').waitFor();
    await search.press('Enter');
    await panel(page).getByText('1 of 1').waitFor();
    const match = panel(page).locator('mark');
    assert.deepEqual(await match.allTextContents(), ['Person 59999']);
    assert.ok(await match.isVisible());
    const longest = await page.evaluate<number>('window.longest');
    assert.ok(longest < 1_500, `the page stood still for ${longest} ms`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const entry = panel(page)
      .getByRole('listitem')
      .filter({ has: page.locator('mark') })
      .last();
    await entry.getByRole('button', { name: 'Copy path' }).click();
    assert.match(
      await page.evaluate<string>('navigator.clipboard.readText()'),
      /^\{\{ \S+\.result\.rows\[59999\]\.name \}\}$/,
    );
    await assertAccessible(page, 'a searched result');
    await page.context().close();
  });

  it('has one search field for a result, also where the text only begins like JSON or is shown as a table', async () => {
    for (const text of ['[1] A source', '[{"name": "Ada"}]']) {
      const path = `/brackets/${randomUUID()}`;
      world.target.on(path, [{ body: text, headers: { 'content-type': 'text/plain' } }]);
      const { runId } = await world.start(call(`${world.target.url}${path}`));
      await world.owner.api.pollToEnd(runId);
      const page = await open(runId);
      const fields = panel(page).getByRole('region', { name: 'Further fields' });
      await fields.getByRole('searchbox', { name: 'Search in result' }).waitFor();
      await panel(page).getByRole('combobox', { name: 'Show as' }).waitFor();
      assert.equal(await panel(page).getByRole('searchbox', { name: 'Search in result' }).count(), 1, text);
      await page.context().close();
    }
  });

  it('opens a wide drawing at a size that can be read, with the failed node in sight', async () => {
    const calls = Array.from({ length: 24 }, (_, at) =>
      http(`${world.target.url}/status/${at === 20 ? 404 : 200}`, { label: `Call ${at}` }),
    );
    const { runId } = await world.start(drawing(linkInRow([trigger([], { label: 'Start' }), ...calls])));
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    const failed = nodeNamed(page, 'Call 20, failed');
    await failed.waitFor();
    await failed.getByRole('button', { pressed: true }).waitFor();
    const [box, pane] = [await failed.boundingBox(), await page.getByRole('region', { name: 'Graph' }).boundingBox()];
    assert.ok(box !== null && pane !== null);
    assert.ok(box.width >= 0.6 * 220 - 1, `${box.width} is too small`);
    assert.ok(box.x >= pane.x && box.x + box.width <= pane.x + pane.width, JSON.stringify({ box, pane }));
    await page.context().close();
  });

  it('has its timeline in the same order after a reload', async () => {
    const { runId } = await world.start(sideBySide(world.target, 12), {}, 'In order');
    const page = await open(runId);
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    const order = () =>
      page.getByRole('region', { name: 'Timeline' }).getByRole('listitem').locator('.timeline-label').allTextContents();
    const before = await order();
    await page.reload();
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    assert.deepEqual(await order(), before);
    await page.context().close();
  });

  it('cancels a run by one button, and shows what was cancelled', async () => {
    const { runId } = await world.start(callAndAnswer(world.target, '/hold/cancelled'));
    const page = await open(runId);
    await nodeNamed(page, 'Call, in progress').waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('status').getByText('Run cancelled').waitFor();
    await nodeNamed(page, 'Call, cancelled').waitFor();
    await nodeNamed(page, 'Answer, not run').waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('runs again with the same input or a changed one, and compares the two runs', async () => {
    const { runId } = await world.start(
      call(`${world.target.url}/echo?name={{ input.name }}`),
      { name: 'Ada', big: 1 },
      'Echo',
    );
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    await page.getByRole('button', { name: 'Run again', exact: true }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(runId));
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    await page.getByRole('button', { name: 'Change input' }).click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await dialog.getByRole('textbox', { name: 'Input (JSON)' }).fill('{"name": ');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await dialog.getByText('This is not JSON.').waitFor();
    const secondUrl = page.url();
    await dialog.getByRole('textbox', { name: 'Input (JSON)' }).fill('{"name": "Grace", "big": 12345678901234567890}');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await page.waitForURL((url) => url.href !== secondUrl);
    await page.getByRole('status').getByText('Run succeeded').waitFor();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    const runs = page.getByRole('dialog', { name: 'Compare runs' }).getByRole('list', { name: 'Runs to compare with' });
    await runs.getByRole('button').nth(1).waitFor();
    assert.equal(await runs.getByRole('button').count(), 2);
    await assertAccessible(page, 'the choice of a run');
    await runs.getByRole('button').last().click();
    await page.waitForURL(`**?**compare=${runId}`);
    const differences = page.getByRole('region', { name: 'Differences' });
    const name = differences.getByRole('group', { name: 'Input' }).getByRole('row', { name: 'name' });
    assert.match((await name.textContent()) ?? '', /Grace.*Ada/);
    await assertAccessible(page, 'the differences');
    await page.getByRole('button', { name: 'Change input' }).click();
    // The number has more digits than a number of JavaScript holds.
    assert.match(await dialog.getByRole('textbox').inputValue(), /12345678901234567890/);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await differences.getByRole('group', { name: 'Node Call' }).waitFor();
    assert.equal(await differences.getByRole('group', { name: 'Definition' }).count(), 0);
    await assertAccessible(page, 'a comparison');
    await page.context().close();
  });

  it('shows which node waits for a decision, takes the decision on the page, and goes on by itself', async () => {
    const { runId } = await world.start(asksToAdd(world.stack, world.tools.url));
    const page = await open(runId);
    await nodeNamed(page, 'Clerk, waiting').waitFor();
    await page.getByRole('status').getByText('Run waiting').waitFor();
    await page.getByRole('button', { name: /^Clerk, attempt 1, waiting, \d/ }).waitFor();
    // The node that waits is shown at once. From another node, the button `Decide` leads back to it.
    await panel(page).getByRole('heading', { name: 'Clerk' }).waitFor();
    await nodeNamed(page, 'Start, succeeded').getByRole('button').click();
    const story = page.getByRole('group', { name: 'What happened' });
    await story.getByRole('button', { name: 'Decide' }).click();
    const request = panel(page).getByRole('article');
    await request.getByText('"a": 1').waitFor();
    assert.equal(await request.getByRole('link').count(), 0);
    await assertAccessible(page, 'a run that asks');
    await request.getByRole('button', { name: 'Approve', exact: true }).click();
    await nodeNamed(page, 'Clerk, succeeded').click();
    await panel(page).getByRole('region', { name: 'Steps' }).getByText('add', { exact: true }).waitFor();
    assert.equal(await panel(page).locator('strong').textContent(), '3');
    assert.equal(await story.getByRole('button', { name: 'Decide' }).count(), 0);
    await page.context().close();
  });

  it('takes what models and users have written for text: nothing runs, no picture is loaded, links give nothing away', async () => {
    const text = [
      '<img src=x onerror="window.hit=1"><script>window.hit=1</script>',
      '![far](https://elsewhere.example/pixel.png)',
      '[click](javascript:window.hit=1) [out](https://elsewhere.example/) [here](/settings)',
    ].join('\n\n');
    const { runId } = await world.start(
      answer(world.stack, text, '<img src=x onerror="window.hit=1">'),
      { '<b>': text },
      '<i>Title</i>',
    );
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    const out = panel(page).getByRole('link', { name: 'out' });
    assert.match((await out.getAttribute('rel')) ?? '', /noopener/);
    assert.equal(await panel(page).locator('img, script').count(), 0);
    await panel(page).getByText('<img src=x onerror="window.hit=1"><script>').waitFor();
    assert.doesNotMatch((await panel(page).getByText('click').getAttribute('href')) ?? '', /javascript/);
    assert.equal(await panel(page).getByRole('link', { name: 'here' }).count(), 0);
    await page.getByRole('combobox', { name: 'Show as' }).selectOption('Text');
    await panel(page).getByText('<script>').waitFor();
    assert.equal(await page.evaluate('window.hit'), undefined);
    await page.getByRole('heading', { level: 1, name: '<i>Title</i>' }).waitFor();
    await page.context().close();
  });

  it('shows the first 64 KiB of a large result, and gives all of it as a file', async () => {
    const { runId } = await world.start(call(`${world.target.url}/bytes/300000`));
    await world.owner.api.pollToEnd(runId);
    const page = await open(runId);
    await panel(page).getByText('The first 64 KiB of 293 KiB.').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      panel(page).getByRole('button', { name: 'Download' }).click(),
    ]);
    assert.equal(file.suggestedFilename(), 'Call.txt');
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    assert.equal(Buffer.concat(chunks).length, 300_000);
    await page.context().close();
  });

  it('says Not found for a run that does not exist, and for what is no id', async () => {
    const page = await open(randomUUID());
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    await page.goto('/runs/none');
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    await page.context().close();
  });

  it('works by keyboard alone, in light and dark, and on a phone without scrolling sidewards', async () => {
    const { runId } = await world.start(callAndAnswer(world.target, '/echo'));
    await world.owner.api.pollToEnd(runId);
    for (const options of [{}, { colorScheme: 'dark' } as const, NARROW]) {
      const page = await open(runId, options);
      await nodeNamed(page, 'Call, succeeded').getByRole('button').focus();
      await page.keyboard.press('Enter');
      await panel(page).getByRole('heading', { name: 'Call' }).waitFor();
      await page.getByRole('tab', { name: 'Result' }).focus();
      await page.keyboard.press('ArrowRight');
      await panel(page).getByText('What the node was given').waitFor();
      await page.getByRole('button', { name: /^Answer, attempt 1,/ }).focus();
      await page.keyboard.press('Enter');
      await panel(page).getByRole('heading', { name: 'Answer' }).waitFor();
      await assertAccessible(page, `run, ${JSON.stringify(options)}`);
      await assertFits(page, JSON.stringify(options));
      await page.context().close();
    }
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});

/** Records the longest time for which the page could not draw. */
const WATCH_FOR_HANGS = `(() => {
  window.longest = 0;
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last);
    last = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;
