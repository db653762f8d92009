import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createAccount } from '../api/accounts.js';
import { chain, drawing, http, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole, type ConsoleBrowser } from './browser.js';

describe('the list of runs', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const target = await startHttpTarget();
    const { account: owner, projectId: project } = await createOwner(stack, 'Greetings');
    const greeting = await owner.api.createWorkflow(project, chain(2), 'Greet <b>people</b>');
    const broken = drawing(linkInRow([trigger(), http(`${target.url}/status/404`)]));
    const failing = await owner.api.createWorkflow(project, broken, 'Call nowhere');
    for (const workflow of [greeting, greeting, failing]) {
      await owner.api.pollToEnd((await owner.api.run(workflow)).data.id);
    }
    return { target, owner, project, greeting };
  });

  const rows = (page: Awaited<ReturnType<ConsoleBrowser['person']>>) =>
    page
      .getByRole('table', { name: 'Runs' })
      .getByRole('row')
      .filter({ has: page.getByRole('link') });

  it('shows each run with its workflow, status, duration and exact cost, and leads to it', async () => {
    const page = await world.browser.person(world.owner.userId, '/runs');
    await rows(page).nth(2).waitFor();
    assert.equal(await rows(page).count(), 3);
    const failed = rows(page).filter({ hasText: 'Call nowhere' });
    assert.match((await failed.textContent()) ?? '', /Greetings.*failed.*http_status.*(ms|s).*0 USD/s);
    await page.getByRole('link', { name: 'Greet <b>people</b>' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Greet <b>people</b>' }).waitFor();
    assert.match(new URL(page.url()).pathname, /^\/runs\/[0-9a-f-]{36}$/);
    await page.context().close();
  });

  it('keeps its filters in the address, from which they come back', async () => {
    const page = await world.browser.person(world.owner.userId, '/runs');
    await rows(page).nth(2).waitFor();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
    await rows(page).nth(1).waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).search, '?status=failed');
    await page.getByRole('combobox', { name: 'Status' }).selectOption('');
    await page.getByRole('searchbox', { name: 'Search runs' }).fill('greet');
    await page.waitForURL('**/runs?search=greet');
    await rows(page).nth(2).waitFor({ state: 'detached' });
    assert.equal(await rows(page).count(), 2);
    await page.getByRole('combobox', { name: 'Project' }).selectOption('Greetings');
    await page.getByRole('combobox', { name: 'Workflow' }).selectOption('Greet <b>people</b>');
    await page.getByRole('textbox', { name: 'From' }).fill('2026-01-31');
    await page.getByRole('textbox', { name: 'To' }).fill('2099-12-31');
    const address = `?project=${world.project}&workflow=${world.greeting}&search=greet&from=2026-01-31&to=2099-12-31`;
    await page.waitForURL(`**/runs${address}`);
    await page.reload();
    await rows(page).nth(1).waitFor();
    assert.equal(await page.getByRole('searchbox', { name: 'Search runs' }).inputValue(), 'greet');
    assert.equal(await page.getByRole('textbox', { name: 'To' }).inputValue(), '2099-12-31');
    await page.getByRole('textbox', { name: 'To' }).fill('2001-01-01');
    await page.getByRole('button', { name: 'Show all runs' }).click();
    await rows(page).nth(2).waitFor();
    assert.equal(new URL(page.url()).search, '');
    await page.context().close();
  });

  it('takes a day into the address once its date is complete, as one step of Back', async () => {
    const page = await world.browser.person(world.owner.userId, '/runs');
    await rows(page).nth(2).waitFor();
    const steps = () => page.evaluate<number>('history.length');
    const before = await steps();
    const asked = new Set<string>();
    page.on('request', (request) => {
      const after = new URL(request.url()).searchParams.get('started_after');
      if (after !== null) asked.add(after);
    });
    await page.getByRole('textbox', { name: 'From' }).click({ position: { x: 12, y: 12 } });
    await page.keyboard.type('01312026');
    await page.waitForURL('**/runs?from=2026-01-31');
    await eventually(() => Promise.resolve(asked.size > 0));
    assert.equal(asked.size, 1);
    assert.equal((await steps()) - before, 1);
    await page.getByRole('textbox', { name: 'From' }).fill('');
    await page.waitForURL((url) => url.search === '');
    await page.context().close();
  });

  it('updates open runs by itself, without moving rows under the pointer', async () => {
    const page = await world.browser.person(world.owner.userId, '/runs');
    await rows(page).nth(2).waitFor();
    const slow = drawing(linkInRow([trigger(), http(`${world.target.url}/hold/list`)]));
    const title = `Slow ${randomUUID()}`;
    const workflowId = await world.owner.api.createWorkflow(await world.owner.api.createProject('Slow'), slow, title);
    const runId = (await world.owner.api.run(workflowId)).data.id;
    await page.reload();
    const row = rows(page).filter({ hasText: title });
    await row.getByText('in progress').waitFor();
    await row.hover();
    const before = await row.boundingBox();
    await world.owner.api.run(world.greeting);
    world.target.release('/hold/list');
    await world.owner.api.pollToEnd(runId);
    await row.getByText('succeeded').waitFor();
    assert.equal((await row.boundingBox())?.y, before?.y);
    await page.context().close();
  });

  it('tells a newcomer what to do, and says in place what has failed, with a way to try again', async () => {
    const newcomer = await createAccount(world.stack);
    const page = await world.browser.person(newcomer.userId, '/runs');
    await page.getByRole('link', { name: 'Choose a workflow to run' }).waitFor();
    // The page offers `Try again` for this status, but not for 400: the same request would be refused again.
    const refuse = { status: 409, json: { code: 'odd', detail: 'Odd.' } };
    await page.route('**/api/v1/runs/**', (route) => route.fulfill(refuse));
    await page.route('**/api/v1/projects/**', (route) => route.fulfill(refuse));
    await page.goto('/runs?search=x');
    const choices = page.getByRole('alert').filter({ hasText: 'The projects to choose from are missing. Odd.' });
    await choices.waitFor();
    await page.unroute('**/api/v1/projects/**');
    await choices.getByRole('button', { name: 'Try again' }).click();
    await choices.waitFor({ state: 'detached' });
    await page.getByRole('alert').getByText('Odd.').waitFor();
    await page.unroute('**/api/v1/runs/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Show all runs' }).waitFor();
    await page.context().close();
  });

  it('is accessible, and no wider than a phone', async () => {
    for (const options of [{ colorScheme: 'dark' } as const, NARROW]) {
      const page = await world.browser.person(world.owner.userId, '/runs', options);
      await rows(page).nth(2).waitFor();
      await assertAccessible(page, `runs, ${JSON.stringify(options)}`);
      await assertFits(page);
      await page.context().close();
    }
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
