import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import Stripe from 'stripe';
import { createAccount, giveRole, removeMembership } from '../api/accounts.js';
import { deliverTo, gitHubHeaders, makeStartHook, type StartHook } from '../api/hooks/hook-sender.js';
import type { Page as ListPage } from '../api/bodies.js';
import { makeSchedule } from '../api/schedules/schedule-maker.js';
import { chain } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const button = (at: Page | Locator, name: string) => at.getByRole('button', { name, exact: true });
const articleOf = (page: Page, id: number) => page.getByRole('article', { name: `Hook ${id}`, exact: true });

describe('what starts a workflow by itself', function () {
  this.timeout(120_000);
  const world = useConsole((stack) => createOwner(stack, 'Hooked'));

  const workflow = (title: string): Promise<number> =>
    world.account.api.createWorkflow(world.projectId, chain(1), title);
  const open = (id: number, who = world.account, options = {}): Promise<Page> =>
    world.browser.person(who.userId, `/workflows/${id}/starts`, options);
  const hooksOf = async (id: number): Promise<StartHook[]> =>
    (await world.account.api.get<ListPage<StartHook>>(`/workflows/${id}/hooks/`)).body.items;

  it('is one step from the editor: make a hook, copy its URL and its secret, which is shown once', async () => {
    const id = await workflow('Hooked one');
    const page = await world.browser.person(world.account.userId, `/workflows/${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = (): Promise<string> => page.evaluate('navigator.clipboard.readText()');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Starts by itself' }).click();
    await page.getByRole('heading', { level: 1, name: 'Starts by itself' }).waitFor();
    const section = page.getByRole('region', { name: 'Hooks' });
    await section.getByText('The workflow has no hooks.').waitFor();
    await button(section, 'New hook').click();
    const dialog = page.getByRole('dialog', { name: 'New hook' });
    await dialog.getByRole('combobox', { name: 'Signature' }).selectOption({ label: 'GitHub' });
    await button(dialog, 'Make hook').click();
    const shown = page.getByRole('group', { name: /^Signing secret of hook \d+$/ });
    const secret = await shown.getByRole('code').innerText();
    await button(shown, 'Copy secret').click();
    await button(shown, 'Copied').waitFor();
    assert.equal(await copied(), secret);
    const [hook] = await hooksOf(id);
    const article = articleOf(page, hook!.id);
    await article.getByText('Signed as GitHub does').waitFor();
    await article.getByText('None yet').waitFor();
    await button(article, 'Copy URL').click();
    await button(article, 'Copied').waitFor();
    const url = await copied();
    assert.equal(url, hook!.url);
    await button(shown, 'Done').click();
    assert.equal((await page.content()).includes(secret), false);
    assert.equal((await deliverTo(url, '{}', await gitHubHeaders(secret, 'event', '{}'))).status, 202);
    await page.reload();
    await article.getByText('started a run').waitFor();
    assert.equal((await page.content()).includes(secret), false);
    await page.getByRole('link', { name: 'Hooked one' }).click();
    await page.getByRole('region', { name: 'Graph' }).waitFor();
    await page.context().close();
  });

  it('stands above the first node in the editor, each with its dialog', async () => {
    const id = await workflow('Hooked in the editor');
    const page = await world.browser.person(world.account.userId, `/workflows/${id}`);
    const starts = page.getByRole('list', { name: 'Starts' });
    const choose = async (item: string): Promise<void> => {
      await button(page, 'New start').click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
    };
    await choose('New hook');
    await button(page.getByRole('dialog', { name: 'New hook' }), 'Make hook').click();
    const made = page.getByRole('dialog', { name: 'Hook', exact: true });
    const secret = await made
      .getByRole('group', { name: /^Signing secret of hook \d+$/ })
      .getByRole('code')
      .innerText();
    await assertAccessible(page, 'the dialog of a hook');
    await button(made, 'Close').click();
    await made.waitFor({ state: 'detached' });
    assert.equal((await page.content()).includes(secret), false);
    const [hook] = await hooksOf(id);
    await button(starts, `Hook ${hook!.id}`).click();
    await articleOf(page, hook!.id).getByText(hook!.url!).waitFor();
    await button(made, 'Close').click();
    await choose('Offer as tool');
    await button(starts, 'As a tool').click();
    const tool = page.getByRole('dialog', { name: 'Tool' });
    // Not `uncheck`, which waits for the new state: the box may disappear together with the tool before that.
    await tool.getByRole('checkbox', { name: 'Offer as MCP tool' }).click();
    await button(starts, 'As a tool').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    // The editor keeps the ETag of the last of these changes, so the next save meets no conflict.
    await choose('Offer as chat');
    await button(starts, 'By chat').waitFor();
    await page.getByRole('button', { name: 'Add Output' }).click();
    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved').waitFor();
    await page.context().close();
  });

  it('a field that is wrong says so; the secret that Stripe shows replaces the one of now', async () => {
    const id = await workflow('Hooked two');
    const page = await open(id);
    await button(page, 'New hook').click();
    const dialog = page.getByRole('dialog', { name: 'New hook' });
    const signature = dialog.getByRole('combobox', { name: 'Signature' });
    await dialog.getByLabel('Secret').fill('no base64');
    await button(dialog, 'Make hook').click();
    await dialog.getByText('Enter whsec_ and base64, as the sender shows it.').waitFor();
    await signature.selectOption({ label: 'None' });
    assert.equal(await dialog.getByLabel('Secret').count(), 0);
    await signature.selectOption({ label: 'HMAC-SHA256 in another header' });
    await dialog.getByRole('textbox', { name: 'Header' }).fill('not a header');
    await button(dialog, 'Make hook').click();
    await dialog.getByText('Enter the name of a header.').waitFor();
    await signature.selectOption({ label: 'Stripe' });
    await dialog.getByLabel('Secret').fill('');
    await button(dialog, 'Make hook').click();
    await dialog.waitFor({ state: 'detached' });
    const [hook] = await hooksOf(id);
    assert.deepEqual([hook!.verify, hook!.header], ['hmac-sha256', 'Stripe-Signature']);
    await button(articleOf(page, hook!.id), 'Replace secret').click();
    const replace = page.getByRole('dialog', { name: 'Replace secret' });
    await replace.getByLabel('Secret').fill('whsec_of_stripe');
    await button(replace, 'Replace secret').click();
    await replace.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('group', { name: /^Signing secret/ }).count(), 0);
    const payload = JSON.stringify({ object: 'event', id: 'evt_1' });
    const statusOf = async (secret: string): Promise<number> => {
      const header = new Stripe('sk_test').webhooks.generateTestHeaderString({ payload, secret });
      return (await deliverTo(hook!.url!, payload, { 'stripe-signature': header })).status;
    };
    assert.equal(await statusOf('whsec_of_another'), 401);
    assert.equal(await statusOf('whsec_of_stripe'), 202);
    await page.context().close();
  });

  it('a hook is deleted after a question', async () => {
    const id = await workflow('Hooked three');
    const hook = await makeStartHook(world.account.api, id);
    const page = await open(id);
    const article = articleOf(page, hook.id);
    await article.getByText('Not signed').waitFor();
    await button(article, 'Delete').click();
    const question = page.getByRole('alertdialog', { name: 'Delete hook' });
    await button(question, 'Cancel').click();
    assert.equal((await deliverTo(hook.url)).status, 202);
    await button(article, 'Delete').click();
    await button(question, 'Delete').click();
    // Elements behind a dialog have no role, so the test waits until it has closed.
    await question.waitFor({ state: 'detached' });
    await article.waitFor({ state: 'detached' });
    assert.equal((await deliverTo(hook.url)).status, 404);
    await page.context().close();
  });

  it('a viewer sees that there are hooks, and no URL; a hook whose author has left says so', async () => {
    const id = await workflow('Hooked four');
    const [author, viewer] = [await createAccount(world.stack), await createAccount(world.stack)];
    await giveRole(world.stack, author, world.projectId, 'editor');
    await giveRole(world.stack, viewer, world.projectId, 'viewer');
    const hook = await makeStartHook(author.api, id);
    const page = await open(id, viewer);
    await articleOf(page, hook.id).getByText('Not signed').waitFor();
    await page.getByText('Your role in this project is viewer.').waitFor();
    assert.equal((await page.content()).includes(hook.url), false);
    for (const name of ['New hook', 'Copy URL', 'Delete']) assert.equal(await button(page, name).count(), 0);
    await removeMembership(world.stack, author, world.projectId);
    await page.reload();
    await page.getByText('It starts no runs').waitFor();
    await page.getByText('or give test user a role in the project that may run it.').waitFor();
    await page.context().close();
  });

  it('is under Schedules and hooks of the settings, those of the whole project, and made and deleted there', async () => {
    const { account } = world;
    const project = await account.api.createProject('Hooked together');
    const [one, other] = [
      await account.api.createWorkflow(project, chain(1), 'Hooked five'),
      await account.api.createWorkflow(project, chain(1), 'Hooked six'),
    ];
    const hooks = [await makeStartHook(account.api, one), await makeStartHook(account.api, other)];
    await makeSchedule(account.api, one, { cron: '30 7 * * MON-FRI' });
    const page = await world.browser.person(account.userId, `/settings?tab=starts&project=${project}`);
    await page.getByRole('tab', { name: 'Schedules and hooks', selected: true }).waitFor();
    for (const [index, title] of ['Hooked five', 'Hooked six'].entries()) {
      await articleOf(page, hooks[index]!.id).getByRole('link', { name: title, exact: true }).waitFor();
    }
    const schedule = page.getByRole('article', { name: 'At 07:30, Monday through Friday' });
    await button(schedule, 'Pause').click();
    await button(schedule, 'Resume').waitFor();
    await button(schedule, 'Edit').click();
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 12 1 * *');
    await button(page, 'Save schedule').click();
    await page.getByRole('article', { name: 'At 12:00, on day 1 of the month' }).waitFor();
    await button(articleOf(page, hooks[0]!.id), 'Delete').click();
    await button(page.getByRole('alertdialog', { name: 'Delete hook' }), 'Delete').click();
    await articleOf(page, hooks[0]!.id).waitFor({ state: 'detached' });
    await button(page, 'New hook').click();
    const choice = page.getByRole('dialog', { name: 'New hook' });
    await choice.getByRole('combobox', { name: 'Workflow' }).selectOption({ label: 'Hooked six' });
    await assertAccessible(page, 'the choice of a workflow');
    await button(choice, 'Next').click();
    await button(choice, 'Make hook').click();
    await page.getByRole('group', { name: /^Signing secret of hook \d+$/ }).waitFor();
    const [, made] = await hooksOf(other);
    await articleOf(page, made!.id).getByRole('link', { name: 'Hooked six' }).waitFor();
    await button(page, 'New schedule').click();
    await button(page, 'Next').click();
    await button(page, 'Make schedule').click();
    await page.getByRole('article', { name: 'Every day at 09:00' }).waitFor();
    await assertAccessible(page, 'schedules and hooks of a project');
    await page.setViewportSize(NARROW.viewport);
    await assertFits(page);
    await page.getByRole('link', { name: 'Hooked six' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Starts by itself' }).waitFor();
    await page.context().close();
  });

  it('says Not found for workflows of others and for what is no id', async () => {
    const id = await workflow('Hooked seven');
    const stranger = await createAccount(world.stack);
    const page = await open(id, stranger);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.goto('/workflows/x/starts');
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.context().close();
  });

  it('is accessible, and fits a phone', async () => {
    const id = await workflow('Hooked eight');
    for (const verify of ['none', 'standard-webhooks']) await makeStartHook(world.account.api, id, { verify });
    for (const options of [{}, { ...NARROW, colorScheme: 'dark' as const }]) {
      const page = await open(id, world.account, options);
      await button(page, 'Copy URL').first().waitFor();
      await assertAccessible(page, 'starts by itself');
      await button(page, 'New hook').click();
      await page.getByRole('dialog', { name: 'New hook' }).waitFor();
      await assertAccessible(page, 'new hook');
      await assertFits(page);
      await page.context().close();
    }
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
