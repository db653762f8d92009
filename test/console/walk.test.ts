// The first steps of a new user, from the sign-in link to the cost of a run: once by mouse, and once by keyboard alone.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createPerson } from '../api/sessions/people.js';
import { startToolServer } from '../../harness/target/tool-server.js';
import { assertAccessible } from './axe.js';
import { NARROW, useConsole } from './browser.js';

/** The part of an element's type that the tests need. They are compiled without the types of the browser. */
interface Focusable {
  matches: (selector: string) => boolean;
}

interface Hands {
  press: (what: Locator) => Promise<void>;
  write: (where: Locator, text: string) => Promise<void>;
  choose: (box: Locator, option: string) => Promise<void>;
}

const mouse: Hands = {
  press: (what) => what.click(),
  write: (where, text) => where.fill(text),
  choose: async (box, option) => void (await box.selectOption({ label: option })),
};

/** Uses keys only: a control that Tab does not reach cannot be used. */
const keyboard: Hands = {
  async press(what) {
    await tabTo(what);
    await what.page().keyboard.press('Enter');
  },
  async write(where, text) {
    await tabTo(where);
    await where.page().keyboard.press('Control+a');
    await where.page().keyboard.type(text);
  },
  async choose(box, option) {
    await tabTo(box);
    await box.page().keyboard.type(option);
  },
};

const MAX_TABS = 200;

async function tabTo(what: Locator): Promise<void> {
  await what.waitFor();
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    if (await what.evaluate((element: unknown) => (element as Focusable).matches(':focus'))) return;
    await what.page().keyboard.press('Tab');
  }
  throw new Error(`${MAX_TABS} times Tab do not lead to ${String(what)}`);
}

describe('the first steps of a new user', function () {
  // Above the limit that the test asserts, whose message says which step has taken long.
  this.timeout(600_000);
  const world = useConsole(async () => ({ tools: await startToolServer() }));

  for (const [name, hands] of Object.entries({ 'by the mouse': mouse, 'by keyboard alone': keyboard })) {
    it(`${name}: draws four nodes, runs them, watches, approves on a phone and reads the cost`, async () => {
      const laps = startLaps();
      const person = await createPerson(world.stack);
      const page = await world.browser.person(person.userId, '/workflows');
      laps.end('signed in');
      await draw(page, hands);
      laps.end('drawn');
      await page.keyboard.press('Control+Enter');
      await hands.press(page.getByRole('dialog', { name: 'Run workflow' }).getByRole('button', { name: 'Start run' }));
      await nodeOf(page, 'Agent, waiting').waitFor();
      await assertAccessible(page, 'the editor, in which the run waits');
      const lastRun = page.getByRole('region', { name: 'Last run' });
      await hands.press(lastRun.getByRole('link', { name: 'Open run' }));
      await page.getByRole('region', { name: 'Timeline' }).waitFor();
      await assertAccessible(page, 'the run that waits');
      laps.end('run, until it waits');
      const phone = await world.browser.person(person.userId, '/inbox', NARROW);
      const article = phone.getByRole('article', { name: 'add of tools' });
      await hands.press(article.getByRole('button', { name: 'Approve', exact: true }));
      await article.getByText('You approved this.').waitFor();
      await phone.context().close();
      laps.end('approved');
      await page.getByRole('status').getByText('Run succeeded').waitFor();
      await nodeOf(page, 'Agent, succeeded').waitFor();
      await hands.press(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Costs' }));
      const row = page.getByRole('table', { name: 'Cost by workflow' }).getByRole('row', { name: /First steps/ });
      // The LLM request makes one call, and the agent two.
      await row.getByText('0.00006 USD').waitFor();
      laps.end('cost read');
      assert.equal(world.tools.callsOf('add').length, name === 'by the mouse' ? 1 : 2);
      assert.ok(laps.seconds() < 300, laps.text());
      process.stdout.write(`      ${laps.text()}\n`);
      await page.context().close();
    });
  }

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());

  async function draw(page: Page, { press, write, choose }: Hands): Promise<void> {
    const model = `walk-${randomUUID()}`;
    world.stack.modelProvider.script(model, [
      { text: 'One and two' },
      { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] },
      { text: 'It is 3' },
    ]);
    const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
    const panel = page.getByRole('region', { name: 'Node', exact: true });
    const field = (name: string): Locator => panel.getByRole('textbox', { name, exact: true });
    const modelField = panel.getByLabel('Model', { exact: true });
    await press(button('New workflow'));
    const dialog = page.getByRole('dialog', { name: 'New workflow' });
    await write(dialog.getByRole('textbox', { name: 'Title' }), 'First steps');
    await press(dialog.getByRole('button', { name: 'Create' }));
    await page.getByRole('heading', { level: 1, name: 'First steps' }).waitFor();
    const kinds = ['Trigger', 'HTTP request', 'LLM request', 'Agent'];
    for (const kind of kinds) await press(button(`Add ${kind}`));
    for (const [index, kind] of kinds.slice(1).entries()) {
      await press(nodeOf(page, kinds[index]!));
      await choose(panel.getByRole('combobox', { name: 'Connect to', exact: true }), kind);
    }
    await press(nodeOf(page, 'HTTP request'));
    await write(field('URL'), `${world.stack.apiUrl}/healthz`);
    await press(nodeOf(page, 'LLM request'));
    await write(modelField, model);
    await write(field('Message'), 'Which numbers?');
    await press(nodeOf(page, 'Agent'));
    await write(modelField, model);
    await write(field('Message'), 'Add them.');
    await press(panel.getByRole('button', { name: 'Add tool', exact: true }));
    await page.getByRole('searchbox', { name: 'Search tools' }).waitFor();
    await page.keyboard.type(world.tools.url);
    // The tools are listed although the drawing has not been saved yet.
    await page.keyboard.press('Enter');
    await write(field('Server label'), 'tools');
    const offered = panel.getByRole('list', { name: 'Tools of the server' });
    await offered.getByRole('checkbox', { name: 'add', exact: true }).waitFor();
    await assertAccessible(page, 'the drawing');
  }
});

function nodeOf(page: Page, name: string): Locator {
  return page.getByRole('region', { name: 'Graph' }).getByRole('group', { name, exact: true });
}

/** Measures the times between the steps. */
function startLaps() {
  const start = performance.now();
  const laps: string[] = [];
  let last = start;
  const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  return {
    end(step: string) {
      laps.push(`${step} ${inSeconds(performance.now() - last)}`);
      last = performance.now();
    },
    seconds: () => (performance.now() - start) / 1000,
    text: () => `${laps.join(', ')}; in all ${inSeconds(performance.now() - start)}`,
  };
}
