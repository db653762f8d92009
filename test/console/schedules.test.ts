import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { createAccount, giveRole, removeMembership } from '../api/accounts.js';
import type { Page as ListPage } from '../api/bodies.js';
import { inTemporal, makeSchedule, ONCE_A_YEAR, untilTold, type Schedule } from '../api/schedules/schedule-maker.js';
import { eventually } from '../../harness/timing/eventually.js';
import { chain, drawing, trigger } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const button = (at: Page | Locator, name: string) => at.getByRole('button', { name, exact: true });
const sectionOf = (page: Page) => page.getByRole('region', { name: 'Schedules' });
const WEEKDAYS = 'At 07:30, Monday through Friday';

describe('schedules of a workflow in the console', function () {
  this.timeout(120_000);
  const world = useConsole((stack) => createOwner(stack, 'Scheduled'));

  const workflow = (title: string, data: object = chain(1)): Promise<number> =>
    world.account.api.createWorkflow(world.projectId, data, title);
  const open = (id: number, who = world.account, options = {}): Promise<Page> =>
    world.browser.person(who.userId, `/workflows/${id}/starts`, options);
  const schedulesOf = async (id: number): Promise<Schedule[]> =>
    (await world.account.api.get<ListPage<Schedule>>(`/workflows/${id}/schedules/`)).body.items;

  it('are made with words for the times, the fields of the trigger and the next five times', async () => {
    const fields = [
      { id: 'topic', title: 'Topic', type: 'text', input_requirements: true },
      { id: 'token', title: 'Token', type: 'text', is_secret: true },
    ];
    const id = await workflow('Scheduled one', drawing([trigger(fields)]));
    const page = await open(id);
    await sectionOf(page).getByText('The workflow has no schedules.').waitFor();
    await button(sectionOf(page), 'New schedule').click();
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    const cron = dialog.getByRole('textbox', { name: 'Cron expression' });
    await cron.fill('30 7 * * MON-FRI');
    await dialog.getByText(WEEKDAYS).waitFor();
    await dialog.getByRole('combobox', { name: 'Time zone' }).selectOption('Europe/Berlin');
    await dialog.getByRole('combobox', { name: 'While a run is open' }).selectOption({ label: 'Cancel the open run' });
    await button(dialog, 'Make schedule').click();
    await dialog.getByText('topic: Fill this in.').waitFor();
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('cats');
    await dialog.getByLabel('Token').fill('a secret token');
    await button(dialog, 'Make schedule').click();
    await dialog.waitFor({ state: 'detached' });
    const article = page.getByRole('article', { name: WEEKDAYS });
    await article.getByText('30 7 * * MON-FRI').waitFor();
    const [listed] = await schedulesOf(id);
    const made = await untilTold(world.account.api, id, listed!);
    assert.deepEqual(
      [made.time_zone, made.overlap, made.input],
      ['Europe/Berlin', 'cancel_other', { topic: 'cats', token: '********' }],
    );
    await article.getByRole('listitem').nth(4).waitFor();
    const times = await article.getByRole('listitem').locator('time').all();
    const shown = await Promise.all(times.map((time) => time.getAttribute('datetime')));
    assert.deepEqual(shown, made.next_run_times);
    assert.equal((await page.content()).includes('a secret token'), false);
    await page.context().close();
  });

  it('are made by choices, which write the cron expression, and are shown, paused and opened above the first node', async () => {
    const id = await workflow('Scheduled by choices', drawing([trigger([], { label: 'Begin' })]));
    const page = await world.browser.person(world.account.userId, `/workflows/${id}`);
    const starts = page.getByRole('list', { name: 'Starts' });
    await button(starts, 'By hand').waitFor();
    await button(page, 'New start').click();
    await page.getByRole('menuitem', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    const cron = dialog.getByRole('textbox', { name: 'Cron expression' });
    const repeats = dialog.getByRole('combobox', { name: 'Repeats' });
    await repeats.selectOption({ label: 'Every few minutes' });
    assert.equal(await cron.inputValue(), '*/15 * * * *');
    await repeats.selectOption({ label: 'On days of the week' });
    assert.equal(await cron.inputValue(), '0 9 * * MON-FRI');
    await assertAccessible(page, 'the choices of a schedule');
    await repeats.selectOption({ label: 'Every hour' });
    await dialog.getByRole('spinbutton', { name: 'At minute' }).fill('75');
    await dialog.getByText('Enter a number from 0 to 59.').waitFor();
    assert.equal(await cron.inputValue(), '');
    await repeats.selectOption({ label: 'Every day' });
    await dialog.getByLabel('At', { exact: true }).fill('06:30');
    assert.equal(await cron.inputValue(), '30 6 * * *');
    await button(dialog, 'Make schedule').click();
    await dialog.waitFor({ state: 'detached' });
    const card = starts.getByRole('button', { name: /^Every day at 06:30/ });
    await card.waitFor();
    await untilTold(world.account.api, id, (await schedulesOf(id))[0]!);
    await page.reload();
    await starts.getByRole('button', { name: /^Every day at 06:30 next / }).waitFor();
    await assertAccessible(page, 'the starts on the canvas');
    const isOn = starts.getByRole('switch', { name: 'Schedule Every day at 06:30' });
    await isOn.click();
    await button(starts, 'Every day at 06:30 paused').waitFor();
    assert.equal((await schedulesOf(id))[0]!.is_paused, true);
    assert.equal(await isOn.getAttribute('aria-checked'), 'false');
    await isOn.click();
    await card.click();
    await page.getByRole('dialog', { name: 'Edit schedule' }).waitFor();
    await page.keyboard.press('Escape');
    await button(starts, 'By hand').click();
    await page.getByRole('dialog', { name: 'Run workflow' }).waitFor();
    await page.context().close();
  });

  it('say above the first node why one was not paused, and why the workflow is not offered', async () => {
    const id = await workflow('Not paused', drawing([trigger([], { label: 'Begin' })]));
    await makeSchedule(world.account.api, id, { cron: '30 7 * * *' });
    const page = await world.browser.person(world.account.userId, `/workflows/${id}`);
    await page.route('**/api/v1/workflows/**', (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    );
    const starts = page.getByRole('list', { name: 'Starts' });
    await starts.getByRole('switch', { name: 'Schedule Every day at 07:30' }).click();
    await starts.getByRole('alert').getByText('cannot be reached').waitFor();
    const problems = page.getByRole('region', { name: 'Graph' }).getByRole('alert');
    await button(page, 'New start').click();
    await page.getByRole('menuitem', { name: 'Offer as chat' }).click();
    await problems.nth(1).getByText('cannot be reached').waitFor();
    await page.unroute('**/api/v1/workflows/**');
    await button(page, 'New start').click();
    await page.getByRole('menuitem', { name: 'Offer as chat' }).click();
    await button(starts, 'By chat').waitFor();
    await problems.nth(1).waitFor({ state: 'detached' });
    await assertAccessible(page, 'a schedule that was not paused');
    await page.context().close();
  });

  it('are paused, resumed, edited, and deleted after a question', async () => {
    const id = await workflow('Scheduled two');
    const made = await makeSchedule(world.account.api, id, { cron: '30 7 * * MON-FRI', input: { other: 1 } });
    const page = await open(id);
    const article = page.getByRole('article', { name: WEEKDAYS });
    await button(article, 'Pause').click();
    await button(article, 'Resume').waitFor();
    await article.getByText('Paused', { exact: true }).waitFor();
    assert.equal((await schedulesOf(id))[0]!.is_paused, true);
    await button(article, 'Resume').click();
    await button(article, 'Pause').waitFor();
    assert.equal((await schedulesOf(id))[0]!.is_paused, false);
    await button(article, 'Edit').click();
    const dialog = page.getByRole('dialog', { name: 'Edit schedule' });
    assert.match(await dialog.getByRole('textbox', { name: 'Input as JSON' }).inputValue(), /"other": 1/);
    // The trigger has no field for it.
    const isJson = dialog.getByRole('checkbox', { name: 'Write the input as JSON' });
    await isJson.click();
    await dialog.getByText('To go back to the fields').waitFor();
    assert.equal(await isJson.isChecked(), true);
    const cron = dialog.getByRole('textbox', { name: 'Cron expression' });
    await cron.fill('99 * * * *');
    await button(dialog, 'Save schedule').click();
    await dialog.getByText('Enter a cron expression').waitFor();
    await cron.fill('0 12 1 * *');
    await button(dialog, 'Save schedule').click();
    await dialog.waitFor({ state: 'detached' });
    const changed = page.getByRole('article', { name: 'At 12:00, on day 1 of the month' });
    await changed.waitFor();
    assert.deepEqual(
      (await schedulesOf(id)).map(({ id: same, cron: now, input }) => [same, now, input]),
      [[made.id, '0 12 1 * *', { other: 1 }]],
    );
    await button(changed, 'Delete').click();
    const question = page.getByRole('alertdialog', { name: 'Delete schedule' });
    await button(question, 'Delete').click();
    await question.waitFor({ state: 'detached' });
    await sectionOf(page).getByText('The workflow has no schedules.').waitFor();
    assert.deepEqual(await schedulesOf(id), []);
    await page.context().close();
  });

  it('keep every digit, number and null of the stored input that is not edited', async () => {
    const fields = [{ id: 'customer', type: 'number' }, { id: 'city' }, { id: 'floor' }, { id: 'note' }];
    const id = await workflow('Scheduled digits', drawing([trigger(fields)]));
    const stored = '{"customer":9007199254740993,"city":"Oslo","floor":3,"note":null}';
    const text = `{"cron":"30 7 * * MON-FRI","input":${stored}}`;
    const { status } = await world.account.api.post(`/workflows/${id}/schedules/`, { text });
    assert.equal(status, 201);
    const page = await open(id);
    await button(page.getByRole('article', { name: WEEKDAYS }), 'Edit').click();
    const dialog = page.getByRole('dialog', { name: 'Edit schedule' });
    assert.equal(await dialog.getByRole('textbox', { name: 'customer' }).inputValue(), '9007199254740993');
    assert.equal(await dialog.getByRole('textbox', { name: 'note' }).inputValue(), '');
    await dialog.getByRole('textbox', { name: 'city' }).fill('Bergen');
    await dialog.getByRole('checkbox', { name: 'Write the input as JSON' }).check();
    const json = dialog.getByRole('textbox', { name: 'Input as JSON' });
    const written = await json.inputValue();
    assert.match(written, /: 9007199254740993\b/);
    await json.fill(written.replace('Bergen', 'Hamar'));
    await dialog.getByRole('checkbox', { name: 'Write the input as JSON' }).uncheck();
    assert.equal(await dialog.getByRole('textbox', { name: 'city' }).inputValue(), 'Hamar');
    await button(dialog, 'Save schedule').click();
    await dialog.waitFor({ state: 'detached' });
    const headers = { 'X-Api-Key': world.account.apiKey };
    const answer = await fetch(`${world.stack.apiUrl}/api/v1/workflows/${id}/schedules/`, { headers });
    const listed = await answer.text();
    assert.match(listed, /"customer":9007199254740993\b/);
    const [{ input }] = (JSON.parse(listed) as { items: [{ input: object }] }).items;
    assert.deepEqual({ ...input, customer: 0 }, { customer: 0, city: 'Hamar', floor: 3, note: null });
    await page.context().close();
  });

  it('tell what the last firing has started, and why one has paused itself', async () => {
    const id = await workflow('Scheduled three');
    const author = await createAccount(world.stack);
    await giveRole(world.stack, author, world.projectId, 'editor');
    const made = await makeSchedule(author.api, id, { cron: ONCE_A_YEAR });
    await inTemporal(world.stack, made.id, (handle) => handle.trigger());
    const runId = await eventually(async () => (await schedulesOf(id))[0]!.last_firing?.run_id ?? undefined);
    const page = await open(id);
    assert.equal(await page.getByRole('link', { name: 'its run' }).getAttribute('href'), `/runs/${runId}`);
    // A firing is left out while an earlier one has not ended.
    const hasEnded = () =>
      inTemporal(world.stack, made.id, async (handle) => (await handle.describe()).info.runningActions.length === 0);
    await eventually(hasEnded);
    await removeMembership(world.stack, author, world.projectId);
    await inTemporal(world.stack, made.id, (handle) => handle.trigger());
    await eventually(async () => (await schedulesOf(id))[0]!.is_paused);
    await page.reload();
    await page.getByText('It has paused itself').waitFor();
    await page.getByText('refused: The author of this schedule may not run the workflow.').waitFor();
    await button(sectionOf(page), 'Resume').click();
    await page.getByText('It has paused itself').waitFor({ state: 'detached' });
    assert.equal((await schedulesOf(id))[0]!.author.id, world.account.userId);
    await page.context().close();
  });

  it('are shown to viewers, who change nothing, and in the settings', async () => {
    const id = await workflow('Scheduled four');
    await makeSchedule(world.account.api, id, { cron: '30 7 * * MON-FRI' });
    const viewer = await createAccount(world.stack);
    await giveRole(world.stack, viewer, world.projectId, 'viewer');
    const page = await open(id, viewer);
    await page.getByRole('article', { name: WEEKDAYS }).waitFor();
    await page.getByText('Your role in this project is viewer.').waitFor();
    for (const name of ['New schedule', 'Pause', 'Edit', 'Delete']) assert.equal(await button(page, name).count(), 0);
    await page.context().close();
    const settings = await world.browser.person(
      world.account.userId,
      `/settings?tab=starts&project=${world.projectId}`,
    );
    await settings.getByRole('tab', { name: 'Schedules and hooks', selected: true }).waitFor();
    const listed = settings.getByRole('article', { name: WEEKDAYS });
    await listed.filter({ has: settings.getByRole('link', { name: 'Scheduled four' }) }).waitFor();
    await settings.context().close();
  });

  it('are accessible, and fit a phone', async () => {
    const id = await workflow('Scheduled five');
    await makeSchedule(world.account.api, id, { cron: '*/5 8-18 * * MON-FRI', time_zone: 'Europe/Berlin' });
    await makeSchedule(world.account.api, id, { cron: ONCE_A_YEAR, is_paused: true });
    for (const options of [{}, { ...NARROW, colorScheme: 'dark' as const }]) {
      const page = await open(id, world.account, options);
      await button(page, 'Resume').waitFor();
      await assertAccessible(page, 'schedules');
      await button(page, 'New schedule').click();
      await page.getByRole('textbox', { name: 'Cron expression' }).waitFor();
      await assertAccessible(page, 'new schedule');
      await assertFits(page);
      await page.context().close();
    }
  });

  it('have broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
