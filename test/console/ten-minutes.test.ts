// From an empty project to a workflow that runs by itself, by a person who tests each node on the way.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { useConsole } from './browser.js';
import { countPresses } from './presses.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string | RegExp) => region(page, 'Graph').getByRole('group', { name, exact: true });
const field = (page: Page, name: string) => region(page, 'Node').getByRole('textbox', { name, exact: true });
const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();

describe('the first ten minutes', function () {
  // This is far below ten minutes, because a script does not read.
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    stack.modelProvider.script('first-minutes', { text: 'angry' });
    return { owner, stack, project: await owner.api.createProject('First'), target: await startHttpTarget() };
  });

  async function add(page: Page, kind: string, label: string, after: string, by?: string): Promise<void> {
    await press(page, `Add ${kind}`);
    await field(page, 'Label').fill(label);
    await node(page, new RegExp(`^${after}(,|$)`)).click();
    const connect = by === undefined ? 'Connect to' : `Connect ${by} to`;
    await region(page, 'Node').getByRole('combobox', { name: connect, exact: true }).selectOption(label);
    await node(page, label).click();
  }

  async function tryNode(page: Page, label: string, mode: string): Promise<void> {
    await node(page, new RegExp(`^${label}(,|$)`)).click();
    await press(region(page, 'Node'), 'Test');
    await page.getByRole('menuitem', { name: mode, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Test', exact: true });
    await press(dialog, 'Start test');
    await dialog.waitFor({ state: 'detached' });
  }

  async function answer(page: Page): Promise<void> {
    await page.goto('/inbox');
    const task = page.getByRole('article').filter({ hasText: 'An angry letter has come' }).first();
    // Leaving the page before the response could abort the request.
    const answered = page.waitForResponse((response) => response.url().includes('/answer/'));
    await task.getByRole('button', { name: 'Done' }).click();
    assert.ok((await answered).ok());
  }

  it('are enough for a workflow of five kinds that is tried, pinned, held by a case and started by a schedule', async () => {
    const { owner, target } = world;
    target.on('/letters', [{ body: { subject: 'Where is my parcel?' } }]);
    const page = await world.browser.person(owner.userId, '/workflows');
    const begun = performance.now();
    const took: Record<string, number> = {};
    const lap = (what: string): void => void (took[what] = Math.round((performance.now() - begun) / 100) / 10);

    await press(page, 'New workflow');
    const made = page.getByRole('dialog', { name: 'New workflow' });
    await made.getByRole('textbox', { name: 'Title' }).fill('Answer letters');
    await press(made, 'Create');
    await press(region(page, 'Start'), 'HTTP request');
    lap('begun with a starter');

    await node(page, 'HTTP request').click();
    await field(page, 'Label').fill('Letter');
    await field(page, 'URL').fill(`${target.url}/letters`);
    await tryNode(page, 'Letter', 'Up to here');
    await node(page, 'Letter, succeeded').waitFor();
    await press(region(page, 'Test result'), 'Pin result');
    await node(page, 'Letter, succeeded, pinned').waitFor();
    lap('the letter is fetched, and pinned');

    await add(page, 'LLM request', 'Mood', 'Letter');
    await region(page, 'Node').getByRole('combobox', { name: 'Model', exact: true }).fill('first-minutes');
    const text = region(page, 'Node')
      .getByRole('textbox', { name: /^(Text|Content|Message)/ })
      .first();
    await text.fill('How is the mood of this? ');
    await text.press('End');
    await text.pressSequentially('{{Letter', { delay: 5 });
    await page.getByRole('listbox', { name: 'Variables' }).getByRole('option').first().click();
    await tryNode(page, 'Mood', 'Only this node');
    await node(page, 'Mood, succeeded').waitFor();
    await region(page, 'Test result').getByText('angry', { exact: true }).waitFor();
    lap('a model has judged it');

    await add(page, 'Condition', 'Is angry', 'Mood');
    await field(page, 'Left').click();
    await press(region(page, 'Node'), 'Insert variable');
    await page
      .getByRole('region', { name: 'Mood' })
      .getByRole('button', { name: /Content/ })
      .first()
      .click();
    await field(page, 'Right').fill('angry');
    // The answer of the model comes after a pin, so no other test run reuses it: the model is called again.
    await tryNode(page, 'Is angry', 'Up to here');
    await node(page, 'Is angry, succeeded').waitFor();
    lap('a condition has decided');

    await add(page, 'Human task', 'Approve', 'Is angry', 'True');
    await field(page, 'Message').fill('An angry letter has come. Call them?');
    await tryNode(page, 'Approve', 'Only this node');
    await node(page, 'Approve, waiting').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved').waitFor();
    await answer(page);
    lap('a person has answered');

    await page.goBack();
    await press(page, 'Run');
    const run = page.getByRole('dialog', { name: 'Run workflow' });
    await press(run, 'Start run');
    await node(page, /^Approve, waiting/).waitFor();
    const link = region(page, 'Last run').getByRole('link', { name: 'Open run' });
    const address = await link.getAttribute('href');
    await answer(page);
    await page.goto(address!);
    await page.getByRole('status').getByText('succeeded').first().waitFor();
    await press(page, 'Save as case');
    const kept = page.getByRole('dialog', { name: 'Save as case' });
    await kept.getByRole('textbox', { name: 'Name', exact: true }).fill('An angry letter');
    await press(kept, 'Save case');
    await kept.waitFor({ state: 'detached' });
    lap('the run is a case');

    const [workflow] = (await owner.api.get<{ items: { id: number }[] }>(`/workflows/?project=${world.project}`)).body
      .items;
    await page.goto(`/workflows/${workflow!.id}/cases`);
    await press(page, 'Run all');
    await page.getByText(/1 of 1 passed/).waitFor();
    await page.goto(`/workflows/${workflow!.id}/starts`);
    await press(page.getByRole('region', { name: 'Schedules' }), 'New schedule');
    const schedule = page.getByRole('dialog', { name: 'New schedule' });
    await schedule.getByRole('textbox', { name: 'Cron expression' }).fill('30 7 * * MON-FRI');
    await press(schedule, 'Make schedule');
    await page.getByRole('article', { name: 'At 07:30, Monday through Friday' }).waitFor();
    lap('it starts by itself');

    process.stderr.write(`      seconds: ${JSON.stringify(took)}\n`);
    await page.context().close();
  });

  it('take 26 presses for four kinds that are tried, a schedule and a run', async () => {
    const { target } = world;
    const owner = await createAccount(world.stack);
    target.on('/greeting', [{ body: 'Hello' }, { body: 'Hello' }]);
    const model = `presses-${randomUUID()}`;
    world.stack.modelProvider.script(model, { text: 'polite' });
    const page = await world.browser.person(owner.userId, '/workflows');
    await page.route('**/api/v1/models/', (route) =>
      route.fulfill({
        json: [{ id: model, provider: 'own', input_price_per_million: '0', output_price_per_million: '0' }],
      }),
    );
    const presses = await countPresses(page);
    const graph = region(page, 'Graph');
    const tried = async (label: string, status = 'succeeded'): Promise<void> => {
      await press(region(page, 'Node'), 'Try');
      await node(page, `${label}, ${status}`).waitFor();
    };
    const variable = async (begun: string): Promise<void> => {
      await page.keyboard.type(`{{${begun}`);
      await page.getByRole('listbox', { name: 'Variables' }).getByRole('option').first().waitFor();
      await page.keyboard.press('Enter');
    };

    // There is no project yet: the dialog makes one.
    await press(page, 'New workflow');
    await page.keyboard.type('Greetings');
    await page.keyboard.press('Enter');
    await press(page, 'Add HTTP request');
    await field(page, 'URL').click();
    await page.keyboard.type(`${target.url}/greeting`);
    await tried('HTTP request');
    await press(page, 'Add LLM request');
    await region(page, 'Node').getByRole('textbox', { name: 'Message', exact: true }).click();
    await page.keyboard.type('Is this polite? ');
    await variable('HTTP');
    await tried('LLM request');
    await press(page, 'Add Condition');
    await field(page, 'Left').click();
    await variable('LLM');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('polite');
    await tried('Condition');
    await press(page, 'Add Human task');
    await field(page, 'Message').click();
    await page.keyboard.type('Shall we answer?');
    // The title of the field and the labels of the actions have the focus, so the typed text goes there.
    await press(region(page, 'Node'), 'Add field');
    await page.keyboard.type('Reason');
    for (const label of ['Yes', 'No']) {
      await press(region(page, 'Node'), 'Add action');
      await page.keyboard.type(label);
    }
    await tried('Human task', 'waiting');
    await press(region(page, 'Test result'), 'Yes');
    await node(page, 'Human task, succeeded').waitFor();
    await press(page, 'New start');
    await page.getByRole('menuitem', { name: 'New schedule' }).click();
    await press(page.getByRole('dialog', { name: 'New schedule' }), 'Make schedule');
    await graph.getByRole('button', { name: /^Every day at 09:00/ }).waitFor();
    await press(page, 'Run');
    await press(page.getByRole('dialog', { name: 'Run workflow' }), 'Start run');
    await node(page, 'Human task, waiting').waitFor();
    const last = region(page, 'Last run');
    await last.getByRole('link', { name: 'Open run' }).waitFor();
    await page.getByRole('button', { name: 'Yes', exact: true }).click();
    await last.getByText(/^Succeeded in/).waitFor();
    const counted = await presses();

    const { body } = await owner.api.get<{ items: { id: string; status: string }[] }>('/runs/?search=Greetings');
    assert.deepEqual(
      body.items.map(({ status }) => status),
      ['Succeeded'],
    );
    const { data } = await owner.api.poll(body.items[0]!.id);
    const results = Object.values(data.data!).map(({ result }) => result);
    assert.ok(
      results.some((result) => result?.['action'] === 'yes'),
      JSON.stringify(results),
    );
    assert.ok(counted <= 26, `${counted} presses`);
    await page.context().close();
  });
});
