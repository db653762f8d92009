// The text of models on the page of a run, for a person who watches while they write it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import {
  agent,
  drawing,
  link,
  linkInRow,
  llm,
  node,
  trigger,
  type Drawing,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { createGate } from '../../harness/timing/gate.js';
import { startToolServer } from '../../harness/target/tool-server.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, useConsole } from './browser.js';
import { call, createRunWorld, nodeNamed, panel } from './run-world.js';

const written = (page: Page) => page.getByRole('region', { name: 'Written so far', exact: true });

/** Returns the vertical distance of `what` from the tabs of the node. */
async function below(page: Page, what: Locator): Promise<number> {
  const [tabs, box] = await Promise.all([panel(page).getByRole('tablist').boundingBox(), what.boundingBox()]);
  return box!.y - tabs!.y;
}

describe('what models write, on a run page', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({
    ...(await createRunWorld(stack)),
    tools: await startToolServer(),
    target: await startHttpTarget(),
  }));

  type Answers = Parameters<typeof world.stack.modelProvider.script>[1];

  function model(answers: Answers): { model_name: string } {
    const name = `writes-${randomUUID()}`;
    world.stack.modelProvider.script(name, answers);
    return { model_name: name };
  }

  const inRow = (of: DrawingNode): Drawing => drawing(linkInRow([trigger([], { label: 'Start' }), of]));

  const writer = (answers: Answers): Drawing =>
    inRow(llm('Hello', { label: 'Answer', settings: model(answers), retry: { max_attempts: 2, delay: 1 } }));

  async function startWriter(answers: Answers): Promise<{ runId: string; answerId: string }> {
    const data = writer(answers);
    const { runId } = await world.start(data);
    return { runId, answerId: data.nodes[1]!.id };
  }

  const open = (runId: string, place = '?node=', options?: object) =>
    world.browser.person(world.owner.userId, `/runs/${runId}${place}`, options);

  it('come word by word in two tabs, and the result takes their place without moving', async () => {
    const [isSeen, isSeenLate, isMeasured] = [createGate(), createGate(), createGate()];
    const { runId, answerId } = await startWriter({
      parts: ['The **first**', isSeen, ' words', isSeenLate, ' and the last', isMeasured],
    });
    const page = await open(runId, `?node=${answerId}`);
    await written(page).getByText('The **first**').waitFor();
    await nodeNamed(page, 'Answer, in progress').getByText('writing', { exact: true }).waitFor();
    isSeen.open();
    const late = await open(runId, `?node=${answerId}`, NARROW);
    await written(late).getByText('The **first** words').waitFor();
    await assertAccessible(late, 'a run whose model writes');
    await assertFits(late);
    isSeenLate.open();
    const before = await below(page, written(page).getByText('The **first** words and the last', { exact: true }));
    isMeasured.open();
    const result = panel(page).getByText('The first words and the last', { exact: true });
    await result.waitFor();
    assert.ok(Math.abs((await below(page, result)) - before) < 12);
    assert.equal(await page.getByText('writing', { exact: true }).count(), 0);
    await nodeNamed(late, 'Answer, succeeded').waitFor();
    assert.equal(await written(late).count(), 0);
    await Promise.all([page.context().close(), late.context().close()]);
  });

  it('begin anew with an attempt that follows one which failed, and give way to an error', async () => {
    const cut = { reset: true } as const;
    const [isSeen, isSeenAnew] = [createGate(), createGate()];
    const { runId, answerId } = await startWriter([
      { parts: ['lost words', isSeen, cut] },
      { parts: ['new words', isSeenAnew, cut] },
    ]);
    const page = await open(runId, `?node=${answerId}`);
    await written(page).getByText('lost words').waitFor();
    isSeen.open();
    await written(page).getByText('new words', { exact: true }).waitFor();
    await written(page).getByText('writing, attempt 2', { exact: true }).waitFor();
    assert.equal(await page.getByText('lost words').count(), 0);
    isSeenAnew.open();
    await nodeNamed(page, 'Answer, failed').waitFor();
    assert.equal(await written(page).count(), 0);
    await page.context().close();
  });

  it('are whole after the connection was lost while they came', async () => {
    const [isLost, isBack, isSeen] = [createGate(), createGate(), createGate()];
    const { runId, answerId } = await startWriter({
      parts: ['before, ', isLost, 'meanwhile, ', isBack, 'after', isSeen],
    });
    const page = await open(runId, `?node=${answerId}`);
    const other = await open(runId, `?node=${answerId}`);
    await written(page).getByText('before,').waitFor();
    await written(other).getByText('before,').waitFor();
    await page.context().setOffline(true);
    await page.getByText('The connection is lost.').first().waitFor();
    isLost.open();
    await written(other).getByText('before, meanwhile,').waitFor();
    await other.context().close();
    await page.context().setOffline(false);
    await written(page).getByText('before, meanwhile,').waitFor();
    isBack.open();
    await written(page).getByText('before, meanwhile, after', { exact: true }).waitFor();
    isSeen.open();
    await nodeNamed(page, 'Answer, succeeded').waitFor();
    await page.context().close();
  });

  it('are those of the chosen iteration where ten of them write at once', async () => {
    const [isSeen, isSeenWhole] = [createGate(), createGate()];
    const settings = model(({ messages }) => {
      const word = String(messages.at(-1)!.content);
      return { parts: [`${word} begins`, isSeen, `, ${word} ends`, isSeenWhole] };
    });
    const [start, write] = [trigger([], { label: 'Start' }), llm('', { label: 'Write', settings })];
    const items = Array.from({ length: 10 }, (_, index) => `word${index}`);
    const each = node('for_each', { label: 'Each', items, body_node: write.id, concurrency: 10 });
    write.data['messages'] = [{ role: 'user', message: `{{ ${each.id}.item }}` }];
    link(start, each);
    const { runId } = await world.start(drawing([start, each, write]));
    const page = await open(runId, `?node=${write.id}&path=${encodeURIComponent(`${each.id}[7]`)}`);
    await written(page).getByText('word7 begins', { exact: true }).waitFor();
    await nodeNamed(page, 'Write, in progress').getByText('writing', { exact: true }).waitFor();
    await panel(page).getByRole('combobox', { name: 'Iteration', exact: true }).selectOption({ label: 'Each [3]' });
    await written(page).getByText('word3 begins', { exact: true }).waitFor();
    isSeen.open();
    await written(page).getByText('word3 begins, word3 ends', { exact: true }).waitFor();
    isSeenWhole.open();
    await nodeNamed(page, 'Write, succeeded').waitFor();
    await panel(page).getByText('word3 begins, word3 ends', { exact: true }).waitFor();
    await page.context().close();
  });

  it('show the tool calls of a step as rows, which become the steps of the agent', async () => {
    const [isSeen, isSeenAgain] = [createGate(), createGate()];
    const settings = model([
      { parts: ['I wait.', isSeen], toolCalls: [{ name: 'slow', arguments: { ms: 4_000, text: 'tea' } }] },
      { parts: ['It was', isSeenAgain, ' good.'] },
    ]);
    const clerk = agent('Wait', settings, [{ endpoint_url: world.tools.url, require_approval: 'never' }], {
      label: 'Clerk',
    });
    const { runId } = await world.start(inRow(clerk));
    const page = await open(runId, `?node=${clerk.id}`);
    await written(page).getByText('I wait.').waitFor();
    isSeen.open();
    // The steps of the agent replace the row, so they are not loaded before the test has read it.
    const row = written(page).getByRole('list', { name: 'Tool calls' }).getByRole('listitem').textContent();
    await page.route('**/steps/**', async (route) => {
      await row;
      await route.continue();
    });
    assert.match((await row)!, /wants to call slow\s*\{\s*"ms": 4000,\s*"text": "tea"\s*\}/);
    const steps = page.getByRole('region', { name: 'Steps' });
    await steps.getByText('called slow').waitFor();
    await written(page).waitFor({ state: 'detached' });
    assert.equal(await page.getByText('writing', { exact: true }).count(), 0);
    await written(page).getByText('writing, model call 2').waitFor();
    await written(page).getByText('It was', { exact: true }).waitFor();
    isSeenAgain.open();
    await panel(page).getByText('It was good.', { exact: true }).first().waitFor();
    await nodeNamed(page, 'Clerk, succeeded').waitFor();
    await page.context().close();
  });

  it('are shown in the editor, of a run and of a test', async () => {
    const isSeen = createGate();
    const data = writer({ parts: ['Drawn', ' words', isSeen] });
    const { workflowId } = await world.start(data);
    const page = await world.browser.person(world.owner.userId, `/workflows/${workflowId}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('dialog', { name: 'Run workflow' }).getByRole('button', { name: 'Start run' }).click();
    const card = page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: 'Answer, in progress' });
    await card.getByText('writing', { exact: true }).waitFor();
    await card.click();
    await written(page).getByText('Drawn words', { exact: true }).waitFor();
    isSeen.open();
    await page.getByRole('region', { name: 'Test result' }).getByText('Drawn words', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: 'Answer, succeeded' }).waitFor();
    assert.equal(await page.getByText('writing', { exact: true }).count(), 0);
    await page.context().close();
  });

  it('are those of the node that is chosen to answer a chat, of the models and agents outside loops', async () => {
    const [first, last] = [llm('Hello', { label: 'Draft' }), llm('Hello', { label: 'Final' })];
    const { workflowId } = await world.start(drawing(linkInRow([trigger([], { label: 'Start' }), first, last])));
    const page = await world.browser.person(world.owner.userId, `/workflows/${workflowId}`);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Node that answers', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Node that answers' });
    const choice = dialog.getByRole('combobox', { name: 'Answered by', exact: true });
    await choice.getByRole('option', { name: 'By default: Final', exact: true }).waitFor({ state: 'attached' });
    assert.deepEqual(await choice.getByRole('option').allTextContents(), ['By default: Final', 'Draft', 'Final']);
    await assertAccessible(page, 'the choice of the node that answers');
    await choice.selectOption({ label: 'Draft' });
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved', { exact: true }).first().waitFor();
    const { body } = await world.owner.api.get<{ data: { settings?: unknown } }>(`/workflows/${workflowId}/`);
    assert.deepEqual(body.data.settings, { answer_node: first.id });
    await page.context().close();
  });

  it('are not requested where no model writes', async () => {
    const asked: string[] = [];
    const { runId } = await world.start(call(`${world.target.url}/hold/no-model`));
    const page = await world.browser.person(world.owner.userId, '/costs');
    page.on('request', (request) => asked.push(request.url()));
    const stream = page.waitForRequest((request) => request.url().includes('/events/'));
    await page.evaluate(`history.pushState(null, '', '/runs/${runId}')`);
    await stream;
    world.target.release('/hold/no-model');
    await nodeNamed(page, 'Call, succeeded').waitFor();
    const streams = asked.filter((url) => url.includes('/events/'));
    assert.deepEqual(
      streams.map((url) => new URL(url).searchParams.get('include')),
      [null],
    );
    await page.context().close();
  });

  it('have broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
