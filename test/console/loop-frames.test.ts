// The frames around the bodies of loops, moved by a person's pointer.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, link, node, trigger, type Drawing, type DrawingNode } from '../../harness/drawing/drawing.js';
import { boxAtRest, useConsole } from './browser.js';
import { createRunWorld } from './run-world.js';

interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

const graphOf = (page: Page) => page.getByRole('region', { name: 'Graph', exact: true });
const group = (page: Page, name: string | RegExp) => graphOf(page).getByRole('group', { name, exact: true });
const frame = (page: Page, loop: string) => group(page, `Body of ${loop}`);

async function rectOf(of: Locator): Promise<Rect> {
  return (await of.boundingBox())!;
}

function isInside(inner: Rect, outer: Rect): boolean {
  const isWide = inner.x > outer.x && inner.x + inner.width < outer.x + outer.width;
  return isWide && inner.y > outer.y && inner.y + inner.height < outer.y + outer.height;
}

function isApart(one: Rect, other: Rect): boolean {
  const isBeside = one.x >= other.x + other.width || other.x >= one.x + one.width;
  return isBeside || one.y >= other.y + other.height || other.y >= one.y + one.height;
}

/** Returns true if the rectangle moved by this distance, except for the few pixels at which a drag starts. */
function isMoved(from: Rect, to: Rect, x: number, y: number): boolean {
  return Math.abs(to.x - from.x - x) < 4 && Math.abs(to.y - from.y - y) < 4;
}

async function drag(page: Page, what: Locator, x: number, y: number): Promise<void> {
  const box = await rectOf(what);
  const [fromX, fromY] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(fromX, fromY);
  await page.mouse.down();
  await page.mouse.move(fromX + 2, fromY + 2);
  for (let step = 1; step <= 5; step += 1) await page.mouse.move(fromX + (x * step) / 5, fromY + (y * step) / 5);
  await page.mouse.up();
}

function placed(what: DrawingNode, x: number, y: number): DrawingNode {
  what.position = { x, y };
  return what;
}

const pass = (label: string): DrawingNode => node('set', { label, value: label });
const each = (label: string, body: DrawingNode, data: object = {}): DrawingNode =>
  node('for_each', { label, items: [1], body_node: body.id, ...data });

/** A loop whose body is `First` and `Second`, with `Outside` behind it. */
function oneLoop(): Drawing {
  const [start, first, second, outside] = [
    trigger([], { label: 'Start' }),
    pass('First'),
    pass('Second'),
    pass('Outside'),
  ];
  const loop = each('Each', first);
  link(start, loop);
  link(loop, outside);
  link(first, second);
  return drawing([
    placed(start, 0, 0),
    placed(loop, 300, 0),
    placed(outside, 900, 0),
    placed(first, 300, 300),
    placed(second, 600, 300),
  ]);
}

/** Five loops, each in the body of the one before, and `Call` in the last of them. */
function fiveLoops(): Drawing {
  const start = placed(trigger([], { label: 'Start' }), 0, 0);
  const inner = placed(pass('Call'), 200, 1_000);
  const loops: DrawingNode[] = [];
  for (let depth = 4; depth >= 0; depth -= 1) {
    loops.unshift(placed(each(`Loop ${depth}`, loops[0] ?? inner), 200, depth * 200));
  }
  link(start, loops[0]!);
  return drawing([start, ...loops, inner]);
}

/** Fails unless each body of `fiveLoops` is around the next loop and its body, and the last one around the call. */
async function assertNested(page: Page, nameOf: (label: string) => string | RegExp): Promise<void> {
  await group(page, nameOf('Call')).waitFor();
  for (let depth = 0; depth <= 4; depth += 1) {
    const around = await rectOf(frame(page, `Loop ${depth}`));
    const next =
      depth === 4
        ? [group(page, nameOf('Call'))]
        : [group(page, nameOf(`Loop ${depth + 1}`)), frame(page, `Loop ${depth + 1}`)];
    for (const inside of next)
      assert.ok(isInside(await rectOf(inside), around), `${depth}: ${await inside.ariaSnapshot()}`);
    const loop = await rectOf(group(page, nameOf(`Loop ${depth}`)));
    assert.ok(isApart(loop, around), `loop ${depth} is not in its own body`);
  }
}

describe('the frames of loops', function () {
  this.timeout(120_000);
  const world = useConsole(createRunWorld);

  async function openEditor(data: Drawing, title: string): Promise<Page> {
    const workflowId = await world.owner.api.createWorkflow(await world.owner.api.createProject(), data, title);
    return world.browser.person(world.owner.userId, `/workflows/${workflowId}`);
  }

  it('follow the nodes in them, and take in no node that only lies there', async () => {
    const page = await openEditor(oneLoop(), 'Frames');
    const [body, first, second, outside] = [
      frame(page, 'Each'),
      group(page, 'First'),
      group(page, 'Second'),
      group(page, 'Outside'),
    ];
    await second.waitFor();
    // A node that is dragged near the edge of the graph moves the view, too.
    for (let time = 0; time < 2; time += 1) await page.getByRole('button', { name: 'Zoom out' }).click();
    const before = await boxAtRest(body);
    for (const inside of [first, second]) assert.ok(isInside(await rectOf(inside), before));
    assert.ok(isApart(await rectOf(outside), before));

    await drag(page, second, 60, 90);
    // The dragged node is chosen, so the panel opens and makes the graph smaller, and the node moves into view.
    await page.getByRole('region', { name: 'Node', exact: true }).getByRole('textbox', { name: 'Label' }).waitFor();
    const grown = await boxAtRest(body);
    assert.ok(grown.width > before.width + 55 && grown.height > before.height + 85, JSON.stringify({ before, grown }));
    for (const inside of [first, second]) assert.ok(isInside(await rectOf(inside), grown));

    const [from, to] = [await rectOf(outside), await rectOf(first)];
    await drag(page, outside, to.x + 20 - from.x, to.y + to.height + 10 - from.y);
    const still = await boxAtRest(body);
    assert.ok(!isApart(await rectOf(outside), still), 'it lies in the frame');
    assert.ok(Math.abs(still.width - grown.width) < 1 && Math.abs(still.height - grown.height) < 1);
    const places = await Promise.all([first, second, outside].map(rectOf));
    await drag(page, body.getByText('Body of Each'), 70, -20);
    const moved = await boxAtRest(body);
    const after = await Promise.all([first, second, outside].map(rectOf));
    assert.ok(isMoved(still, moved, 70, -20), 'the frame goes along');
    for (const [index, [x, y]] of [
      [70, -20],
      [70, -20],
      [0, 0],
    ].entries()) {
      assert.ok(isMoved(places[index]!, after[index]!, x!, y!), JSON.stringify({ index, places, after }));
    }
    await page.keyboard.press('Control+z');
    await eventually(async () => isMoved(still, await rectOf(body), 0, 0));

    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved').waitFor();
    await page.context().close();
  });

  it('let go of a node whose link is taken away, and take it in again with the link', async () => {
    const page = await openEditor(oneLoop(), 'Links');
    const [body, first, second] = [frame(page, 'Each'), group(page, 'First'), group(page, 'Second')];
    await second.waitFor();
    const form = page.getByRole('region', { name: 'Node', exact: true });
    await first.click();
    // The panel makes the graph smaller, and the chosen node moves into view.
    await form.getByRole('textbox', { name: 'Label' }).waitFor();
    const before = await boxAtRest(body);
    await form.getByRole('button', { name: 'Remove link to Second' }).click();
    await eventually(async () => isApart(await rectOf(second), await rectOf(body)));
    assert.ok(isInside(await rectOf(first), await rectOf(body)));
    await form.getByRole('combobox', { name: 'Connect to', exact: true }).selectOption({ label: 'Second' });
    await eventually(async () => isMoved(before, await rectOf(body), 0, 0));
    assert.ok(isInside(await rectOf(second), await rectOf(body)));
    await page.context().close();
  });

  it('are drawn five deep, each node in its own, in the editor and on the page of a run', async () => {
    const { workflowId, runId } = await world.start(fiveLoops(), {}, 'Five deep');
    const page = await world.browser.person(world.owner.userId, `/workflows/${workflowId}`);
    assert.equal((await world.owner.api.pollToEnd(runId)).data.status, 'succeed');
    const succeeded = (label: string): RegExp => new RegExp(`^${label}, succeeded$`);
    await assertNested(page, succeeded);
    await page.getByRole('button', { name: 'Fit View' }).click();
    const inner = group(page, succeeded('Call'));
    // The view moves for a while after the press.
    const [before, call] = [await boxAtRest(frame(page, 'Loop 0')), await boxAtRest(inner)];
    await drag(page, frame(page, 'Loop 0').getByText('Body of Loop 0'), 40, 30);
    assert.ok(isMoved(before, await rectOf(frame(page, 'Loop 0')), 40, 30));
    assert.ok(isMoved(call, await rectOf(inner), 40, 30), 'what is in the innermost frame goes along');
    await assertNested(page, succeeded);
    await page.context().close();
    const run = await world.browser.person(world.owner.userId, `/runs/${runId}`);
    await assertNested(run, succeeded);
    await run.context().close();
  });

  it('have broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
