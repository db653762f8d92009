// Conditions of several comparisons in the editor, which shows them as JSON and keeps them.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, link, node as draw, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { createOwner, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const node = (page: Page, name: string) =>
  region(page, 'Graph').getByRole('group', { name: new RegExp(`^${name}(,|$)`) });
const field = (page: Page, name: string) => region(page, 'Node').getByRole('textbox', { name, exact: true });

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
      await node(page, label).click();
      await field(page, name).getByText('"any"').waitFor();
      await assertAccessible(page, `the form of ${label}`);
      await field(page, 'Label').fill(`${label} again`);
    }
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await eventually(async () => isDeepStrictEqual((await stored('Repeats again'))['until'], several));
    assert.deepEqual((await stored('Asks again'))['condition'], several);
    const [only] = (await stored('Chooses again'))['cases'] as { condition: unknown }[];
    assert.deepEqual(only!.condition, several);

    await node(page, 'Asks again').click();
    await field(page, 'Condition').fill('{"any": [');
    assert.equal(await field(page, 'Condition').isVisible(), true, 'an incomplete text stays');
    await field(page, 'Condition').fill(JSON.stringify({ any: [is('1', '1')] }));
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await eventually(async () => isDeepStrictEqual((await stored('Asks again'))['condition'], { any: [is('1', '1')] }));
    world.browser.assertClean();
  });
});
