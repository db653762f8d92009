// Conditions of several tests in the editor: rows of tests in groups, of which all or any must hold.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, link, node as draw, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { createOwner, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string) =>
  region(page, 'Graph').getByRole('group', { name: new RegExp(`^${name}(,|$)`) });
const field = (page: Page, name: string) => region(page, 'Node').getByRole('textbox', { name, exact: true });

const group = (page: Page, name: string) => region(page, 'Node').getByRole('group', { name, exact: true });
const button = (within: Locator, name: string) => within.getByRole('button', { name, exact: true });
const focused = (page: Page, path: string) =>
  eventually(() =>
    page.evaluate(`document.activeElement?.closest('[data-path]')?.dataset.path === ${JSON.stringify(path)}`),
  );

const is = (left: string, right: string) => ({ left, operator: '==', right });
const several = { all: [is('{{ input.city }}', 'Oslo'), { any: [is('1', '1'), is('2', '1')] }] };

describe('conditions of several comparisons in the editor', function () {
  this.timeout(120_000);
  const world = useConsole((stack) => createOwner(stack, 'Conditions'));

  it('are shown on the card and in the form, are kept by a save, and can be changed', async () => {
    const { account, projectId } = world;
    const start = trigger([{ id: 'city', title: 'City' }], { label: 'Begin' });
    const body = draw('set', { value: 1, label: 'Body' });
    const nodes = [
      start,
      draw('condition', { condition: several, label: 'Asks' }),
      draw('switch', { cases: [{ id: 'one', condition: several, node: null }], label: 'Chooses' }),
      draw('loop', { until: several, body_node: body.id, label: 'Repeats' }),
      body,
    ];
    link(start, nodes.slice(1, 4));
    const id = await account.api.createWorkflow(projectId, drawing(nodes), 'Several tests');
    const stored = async (label: string): Promise<Record<string, unknown>> => {
      const { body: read } = await account.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
      return read.data.nodes.find(({ data }) => data['label'] === label)!.data;
    };
    const page = await world.browser.person(account.userId, `/workflows/${id}`);
    await node(page, 'Asks').getByText('city is Oslo and (1 is 1 or 2 is 1)').waitFor();
    for (const [label, name] of [
      ['Asks', 'Condition'],
      ['Chooses', 'Condition'],
      ['Repeats', 'Until'],
    ] as const) {
      // The panel beside the canvas may cover the node.
      await node(page, label).press('Enter');
      const form = group(page, name);
      await form.getByRole('group', { name: 'Test 1', exact: true }).getByText('input › city').waitFor();
      const inner = form.getByRole('group', { name: 'Group 2', exact: true });
      assert.equal(await inner.getByRole('group', { name: 'Test 2.2', exact: true }).count(), 1);
      await assertAccessible(page, `the form of ${label}`);
      await field(page, 'Label').fill(`${label} again`);
    }
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await eventually(async () => isDeepStrictEqual((await stored('Repeats again'))['until'], several));
    assert.deepEqual((await stored('Asks again'))['condition'], several);
    const [only] = (await stored('Chooses again'))['cases'] as { condition: unknown }[];
    assert.deepEqual(only!.condition, several);

    await page.context().close();
  });

  it('are written by pressing, three groups deep, and become one test again', async () => {
    const { account, projectId } = world;
    const start = trigger([{ id: 'city', title: 'City' }], { label: 'Begin' });
    const asks = draw('condition', { condition: is('', ''), label: 'Asks' });
    link(start, [asks]);
    const id = await account.api.createWorkflow(projectId, drawing([start, asks]), 'Written tests');
    const stored = async (): Promise<unknown> => {
      const { body: read } = await account.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
      return read.data.nodes.find(({ data }) => data['label'] === 'Asks')!.data['condition'];
    };
    const saved = async (condition: unknown): Promise<void> => {
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await eventually(async () => isDeepStrictEqual(await stored(), condition));
    };
    const page = await world.browser.person(account.userId, `/workflows/${id}`);
    await node(page, 'Asks').click();
    const form = group(page, 'Condition');
    // A stored condition without sides is marked at once.
    await form.getByText('The left side of the condition is empty.').waitFor();
    await form.getByText('The right side of the condition is empty.').waitFor();
    const places = await Promise.all(
      ['Left', 'Operator', 'Right'].map((name) => form.getByLabel(name, { exact: true }).first().boundingBox()),
    );
    assert.ok(places[0]!.y < places[1]!.y && places[1]!.y < places[2]!.y, 'the fields stand below each other');
    const type = async (left: string, right: string): Promise<void> => {
      await page.keyboard.type(left);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.type(right);
    };
    await field(page, 'Left').click();
    await type('a', 'b');
    // A test that is added has the focus.
    await button(form, 'Add test').click();
    await focused(page, 'condition.all.1.left');
    await type('c', 'd');
    await form.getByRole('combobox', { name: 'Tests that must hold', exact: true }).selectOption('Any of');
    await button(form, 'Add group').last().click();
    await focused(page, 'condition.any.2.all.0.left');
    await type('e', 'f');
    const second = form.getByRole('group', { name: 'Group 3', exact: true });
    await button(second, 'Add group').click();
    await focused(page, 'condition.any.2.all.1.any.0.left');
    await type('g', 'h');
    const third = form.getByRole('group', { name: 'Group 3.2', exact: true });
    assert.equal(await button(third, 'Add group').count(), 0, 'a group stands in at most two others');
    await assertAccessible(page, 'groups of tests');
    await saved({
      any: [is('a', 'b'), is('c', 'd'), { all: [is('e', 'f'), { any: [is('g', 'h')] }] }],
    });
    await button(form, 'Remove test 3.2.1').click();
    await third.waitFor({ state: 'detached' });
    await button(form, 'Remove group 3').click();
    await button(form, 'Remove test 1').click();
    await saved(is('c', 'd'));
    for (let count = 1; count < 20; count += 1) {
      await button(form, 'Add test').click();
      // The mark of the new test moves the button down. A press on a moving button is lost.
      await form
        .getByText('The right side of the condition is empty.')
        .nth(count - 1)
        .waitFor();
    }
    await form.getByText('A condition has at most 20 tests.').waitFor();
    assert.equal(await button(form, 'Add test').isDisabled(), true);
    await page.context().close();
    world.browser.assertClean();
  });
});
