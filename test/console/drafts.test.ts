// The service keeps unsaved work and offers it in other browsers. If the service cannot keep it, the browser does.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { drawing, http, linkInRow, trigger, type Drawing } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string | RegExp) => region(page, 'Graph').getByRole('group', { name, exact: true });
const field = (page: Page, name: string) => region(page, 'Node').getByRole('textbox', { name, exact: true });
const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const offer = (page: Page) => region(page, 'Unsaved work');
const keptIn = (page: Page) =>
  page.evaluate<string[]>(`Object.keys(localStorage).filter((key) => key.startsWith('draft:'))`);
const isInBrowser = (page: Page, text: string) =>
  eventually(() =>
    page.evaluate<boolean>(`Object.values(localStorage).some((each) => each.includes(${JSON.stringify(text)}))`),
  );

describe('work that was not saved', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    return { owner, project: await owner.api.createProject('Drafts'), target: await startHttpTarget() };
  });

  const row = (): Drawing =>
    drawing(linkInRow([trigger([], { label: 'Start' }), http('http://127.0.0.1:9', { label: 'Call' })]));
  const make = () => world.owner.api.createWorkflow(world.project, row(), 'Worked on');
  const open = (workflowId: number, options?: object) =>
    world.browser.person(world.owner.userId, `/workflows/${workflowId}`, options);
  const draftOf = (id: number) => world.owner.api.get<{ data: unknown }>(`/workflows/${id}/draft/`);
  const isKept = (id: number, text: string) =>
    eventually(async () => JSON.stringify((await draftOf(id)).body).includes(text));
  const isGone = (id: number) => eventually(async () => (await draftOf(id)).status === 404);

  async function type(page: Page, from: string, to: string): Promise<void> {
    await node(page, from).click();
    await field(page, 'Label').fill(to);
  }

  async function rename(page: Page, id: number, from: string, to: string): Promise<void> {
    await type(page, from, to);
    await isKept(id, to);
  }

  async function save(page: Page): Promise<void> {
    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved').waitFor();
  }

  /** Closes the tab without an answer to the browser's question, and opens another one. */
  async function reopen(page: Page): Promise<Page> {
    const [context, { pathname }] = [page.context(), new URL(page.url())];
    const next = await context.newPage();
    await page.close({ runBeforeUnload: false });
    await next.goto(pathname);
    return next;
  }

  it('survives a closed tab, comes back as one step of Undo, and ends everywhere when it is saved', async () => {
    const id = await make();
    const first = await open(id);
    await rename(first, id, 'Call', 'Called unsaved');
    const page = await reopen(first);
    await node(page, 'Call').waitFor();
    await offer(page).getByRole('time').waitFor();
    await offer(page).getByText('from this browser').waitFor();
    await assertAccessible(page, 'the offer of unsaved work');
    await press(offer(page), 'Continue');
    await node(page, 'Called unsaved').waitFor();
    await offer(page).waitFor({ state: 'detached' });
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    await press(page, 'Undo');
    await node(page, 'Call').waitFor();
    await press(page, 'Redo');
    await save(page);
    await isGone(id);
    await eventually(async () => (await keptIn(page)).length === 0);
    await page.context().close();
  });

  it('follows to another device, with the secrets that were typed, and can be saved there', async () => {
    const secret = `typed-${randomUUID()}`;
    const call = http(`${world.target.url}/followed`, { label: 'Call', headers: { 'X-Access': '{{ input.access }}' } });
    const drawn = drawing(linkInRow([trigger([], { label: 'Start' }), call]));
    const id = await world.owner.api.createWorkflow(world.project, drawn, 'Followed');
    const first = await open(id);
    await node(first, 'Start').click();
    await press(region(first, 'Node'), 'Add input field');
    await field(first, 'Title').fill('Access');
    const secrecy = region(first, 'Node').getByRole('checkbox', { name: /secret/i });
    await secrecy.check();
    await region(first, 'Node')
      .getByLabel(/^Default value/)
      .fill(secret);
    await isKept(id, '********');
    await first.context().close();
    const page = await open(id, NARROW);
    await offer(page).getByText('from another place').waitFor();
    await assertFits(page, 'the offer of unsaved work');
    await press(offer(page), 'Continue');
    await offer(page).waitFor({ state: 'detached' });
    await save(page);
    await isGone(id);
    const { body } = await world.owner.api.get<{ data: unknown }>(`/workflows/${id}/`);
    assert.match(JSON.stringify(body.data), /\*{8}/);
    await world.owner.api.pollToEnd((await world.owner.api.run(id, {})).data.id);
    assert.deepEqual(
      world.target.requestsTo('/followed').map(({ headers }) => headers['x-access']),
      [secret],
    );
    await page.context().close();
  });

  it('of another device is tried with the secrets that were typed there', async () => {
    const data = drawing(linkInRow([trigger(), http(`${world.target.url}/tried`, { label: 'Call' })]));
    const id = await world.owner.api.createWorkflow(world.project, data, 'Tried elsewhere');
    const first = await open(id);
    await node(first, 'Call').click();
    await press(region(first, 'Node'), 'Add header');
    await field(first, 'Headers 1 name').fill('Authorization');
    await field(first, 'Headers 1 value').fill('Bearer typed');
    await isKept(id, '********');
    await first.context().close();
    const page = await open(id);
    await press(offer(page), 'Continue');
    await offer(page).waitFor({ state: 'detached' });
    await node(page, 'Call').click();
    await press(region(page, 'Node'), 'Try');
    const called = await eventually(() => world.target.requests.find(({ path }) => path === '/tried'));
    assert.equal(called.headers.authorization, 'Bearer typed');
    await page.context().close();
  });

  it('is discarded for good', async () => {
    const id = await make();
    const first = await open(id);
    await rename(first, id, 'Call', 'Thrown away');
    const page = await reopen(first);
    await press(offer(page), 'Discard');
    await offer(page).waitFor({ state: 'detached' });
    await isGone(id);
    await eventually(async () => (await keptIn(page)).length === 0);
    await page.reload();
    // The editor looks for a draft before it keeps another one.
    await rename(page, id, 'Call', 'Begun anew');
    assert.equal(await offer(page).count(), 0);
    await page.context().close();
  });

  it('of an older version says so, and lets the person choose', async () => {
    const id = await make();
    const first = await open(id);
    await rename(first, id, 'Call', 'Mine');
    await world.owner.api.patch(`/workflows/${id}/`, { body: { data: row() } });
    const page = await reopen(first);
    await offer(page).getByText('that work began at version 1, this is 2').waitFor();
    await press(offer(page), 'Continue');
    await node(page, 'Mine').waitFor();
    await save(page);
    await page.context().close();
  });

  it('of two places is kept of both: neither overwrites the other, and a save of one leaves the other', async () => {
    const id = await make();
    const [one, two] = [await open(id), await open(id)];
    await rename(one, id, 'Call', 'Of the first place');
    await type(two, 'Call', 'Of the second place');
    await offer(two).getByText('from another place').waitFor();
    await isInBrowser(two, 'Of the second place');
    assert.match(JSON.stringify((await draftOf(id)).body), /Of the first place/);
    await one.context().close();
    await save(two);
    await two.reload();
    await node(two, 'Of the second place').waitFor();
    await press(offer(two), 'Continue');
    await node(two, 'Of the first place').waitFor();
    await two.context().close();
  });

  it('of another place is not deleted by a save that had not seen it: nothing is saved, and it is offered', async () => {
    const id = await make();
    const first = await open(id);
    await rename(first, id, 'Call', 'Of the first place');
    await first.context().close();
    const page = await open(id);
    await press(offer(page), 'Continue');
    await node(page, 'Of the first place').waitFor();
    await offer(page).waitFor({ state: 'detached' });
    let isFirst = true;
    await page.route(`**/api/v1/workflows/${id}/`, async (route) => {
      if (isFirst && route.request().method() === 'PATCH') {
        isFirst = false;
        const data = row();
        data.nodes[1]!.data['label'] = 'Of the second place';
        await world.owner.api.put(`/workflows/${id}/draft/`, { body: { data, base_version: 1 } });
      }
      await route.continue();
    });
    await page.keyboard.press('Control+s');
    await offer(page).getByText('from another place').waitFor();
    await page.getByText('Somebody else has changed this meanwhile.').waitFor();
    assert.equal(await page.getByRole('dialog', { name: 'Changed meanwhile' }).count(), 0);
    assert.match(JSON.stringify((await draftOf(id)).body), /Of the second place/);
    const { body } = await world.owner.api.get<{ version: number }>(`/workflows/${id}/`);
    assert.equal(body.version, 1);
    await save(page);
    await press(offer(page), 'Continue');
    await node(page, 'Of the second place').waitFor();
    await page.context().close();
  });

  it('is kept by the browser without a connection, and by the service as soon as there is one', async () => {
    const id = await make();
    const page = await open(id);
    await node(page, 'Call').waitFor();
    await page.context().setOffline(true);
    await type(page, 'Call', 'Called offline');
    await page.getByText('Until you save, only this browser has your changes.').waitFor();
    await isInBrowser(page, 'Called offline');
    await page.context().setOffline(false);
    await isKept(id, 'Called offline');
    await page.getByText('Until you save, only this browser').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('that is too large for the service says so, and stays in the browser', async () => {
    const id = await make();
    const page = await open(id);
    await node(page, 'Call').click();
    await field(page, 'Label').fill('x'.repeat(1024 * 1024));
    await page.getByText('A draft has at most 1 MiB.').waitFor();
    assert.equal((await draftOf(id)).status, 404);
    await isInBrowser(page, 'x'.repeat(1024 * 1024));
    await page.context().close();
  });

  it('leaves secrets out of the browser, and nothing of it is there after signing out', async () => {
    const secret = `typed-${randomUUID()}`;
    const id = await make();
    const page = await open(id);
    await page.route('**/draft/', (route) => route.abort());
    await node(page, 'Start').click();
    await press(region(page, 'Node'), 'Add input field');
    await field(page, 'Title').fill('Access');
    await region(page, 'Node')
      .getByRole('checkbox', { name: /secret/i })
      .check();
    await region(page, 'Node')
      .getByLabel(/^Default value/)
      .fill(secret);
    await field(page, 'Title').fill('Access at last');
    await isInBrowser(page, 'Access at last');
    const all = await page.evaluate<string>(`JSON.stringify({ ...localStorage })`);
    assert.equal(all.includes(secret), false);
    await press(page, 'Account');
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    const leave = page.getByRole('alertdialog', { name: 'Unsaved changes' });
    await leave.or(page.getByRole('button', { name: 'Sign in', exact: true })).waitFor();
    if (await leave.isVisible()) await press(leave, 'Leave');
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    await eventually(async () => (await keptIn(page)).length === 0);
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});
