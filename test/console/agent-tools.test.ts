// The tools of an agent in the editor: servers, whose tools are chosen one by one, workflows, actions, and approvals.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../harness/timing/eventually.js';
import { createGate } from '../../harness/timing/gate.js';
import { agent, drawing, linkInRow, mcp, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startToolServer } from '../../harness/target/tool-server.js';
import { startEverythingServer } from '../support/everything-server.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';
import { countPresses } from './presses.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const form = (page: Page) => region(page, 'Node');
const node = (page: Page, name: string) =>
  region(page, 'Graph').getByRole('group', { name: new RegExp(`^${name}(,|$)`) });
const press = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true }).click();
const box = (within: Page | Locator, name: string) => within.getByRole('checkbox', { name, exact: true });
const text = (within: Page | Locator, name: string) => within.getByRole('textbox', { name, exact: true });

describe('the tools of an agent', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({
    ...(await createOwner(stack, 'Agents')),
    server: await startEverythingServer('streamableHttp'),
    tools: await startToolServer(),
  }));

  const stored = async (id: number, label: string): Promise<Record<string, unknown>> => {
    const { body } = await world.account.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
    return body.data.nodes.find(({ data }) => data['label'] === label)!.data;
  };

  it('lead from a new workflow to an answer of a tool, with one approval, in ten presses', async () => {
    const model = `agent-${randomUUID()}`;
    world.stack.modelProvider.script(model, [
      { toolCalls: [{ name: 'echo', arguments: { message: 'over the hills' } }] },
      { text: 'It says over the hills' },
    ]);
    const page = await world.browser.person(world.account.userId, '/workflows');
    await page.route('**/api/v1/models/', (route) =>
      route.fulfill({
        json: [{ id: model, provider: 'own', input_price_per_million: '0', output_price_per_million: '0' }],
      }),
    );
    const presses = await countPresses(page);
    await press(page, 'New workflow');
    await page.keyboard.type('Echo');
    await page.keyboard.press('Enter');
    await press(page, 'Add Agent');
    await text(form(page), 'Message').click();
    await page.keyboard.type('Say something');
    await press(form(page), 'Add tool');
    await page.keyboard.type(world.server.url);
    await page.keyboard.press('Enter');
    await box(form(page), 'echo').waitFor();
    await assertAccessible(page, 'the tools of a server');
    await press(page, 'Run');
    await press(page.getByRole('dialog', { name: 'Run workflow' }), 'Start run');
    await node(page, 'Agent, waiting').waitFor();
    await page.getByRole('link', { name: 'Inbox, 1 waiting' }).click();
    const article = page.getByRole('article', { name: /^echo of / });
    await press(article, 'Approve');
    await article.getByText('You approved this.').waitFor();
    const counted = await presses();
    const { body } = await world.account.api.get<{ items: { id: string; workflow: { title: string } }[] }>(
      `/runs/?search=Echo&project=${world.projectId}`,
    );
    const { data } = await world.account.api.pollToEnd(body.items[0]!.id);
    assert.deepEqual(
      Object.values(data.data!).map(({ result }) => result?.['content']),
      ['It says over the hills'],
    );
    assert.ok(counted <= 10, `${counted} presses`);
    await page.context().close();
  });

  it('are chosen one by one, each with its own question, and the rule is said in words', async () => {
    const nodes = linkInRow([
      trigger([], { label: 'Begin' }),
      mcp(world.tools.url, 'add', {}, { label: 'Adds' }),
      agent('Go on', {}, [], { label: 'Helper' }),
    ]);
    const id = await world.account.api.createWorkflow(world.projectId, drawing(nodes), 'Chosen tools');
    const called = await world.account.api.createWorkflow(
      world.projectId,
      drawing(linkInRow([trigger([], { label: 'Begin' })])),
      'Look up an order',
    );
    const page = await world.browser.person(world.account.userId, `/workflows/${id}`);
    await node(page, 'Helper').click();
    await press(form(page), 'Add tool');
    const search = page.getByRole('searchbox', { name: 'Search tools' });
    await search.fill('127.0.0.1');
    await page.getByRole('option', { name: world.tools.url, exact: true }).waitFor();
    await assertAccessible(page, 'the search for tools');
    await page.getByRole('option', { name: world.tools.url, exact: true }).click();
    const server = form(page).getByRole('group', { name: new URL(world.tools.url).host, exact: true });
    await box(server, 'add').waitFor();
    await text(server, 'Server label').getByText(new URL(world.tools.url).host, { exact: true }).waitFor();
    await server.getByText('Each call waits until a person approves it.').waitFor();
    await box(server, 'All tools').click();
    await server.getByText('No tool is chosen: the agent calls none of this server.').waitFor();
    await box(server, 'add').click();
    await box(server, 'note').click();
    await box(server, 'Ask before calling note').click();
    await server.getByText('Calls of note are made at once. Each other call waits').waitFor();
    const isMixed = await box(server, 'Ask before calling').evaluate((element: unknown) => {
      return (element as { indeterminate: boolean }).indeterminate;
    });
    assert.equal(isMixed, true);
    assert.equal(await box(server, 'Ask before calling fail').count(), 0, 'a tool that is not called asks nothing');

    await press(form(page), 'Add tool');
    await search.fill('order');
    await page.keyboard.press('Enter');
    const workflow = form(page).getByRole('group', { name: 'Look up an order', exact: true });
    assert.equal(await workflow.getByRole('combobox', { name: 'Workflow' }).inputValue(), String(called));
    await box(workflow, 'Ask before calling').click();
    await workflow.getByText('No call waits for a person.').waitFor();
    await press(page, 'Save');
    await page.getByRole('status').getByText('Saved').waitFor();
    assert.equal(await box(server, 'fail').count(), 1, 'the tools that are not chosen stay listed after a save');
    const [first, second] = (await stored(id, 'Helper'))['tools'] as Record<string, unknown>[];
    assert.deepEqual(
      [first!['endpoint_url'], first!['allowed_tools'], first!['require_approval']],
      [world.tools.url, ['add', 'note'], { never: { tool_names: ['note'] } }],
    );
    assert.deepEqual([second!['workflow_id'], second!['require_approval']], [called, 'never']);

    await box(server, 'All tools').click();
    await box(server, 'Ask before calling').click();
    await press(page, 'Save');
    await eventually(async () => {
      const [again] = (await stored(id, 'Helper'))['tools'] as Record<string, unknown>[];
      return isDeepStrictEqual([again!['allowed_tools'], again!['require_approval']], [undefined, 'always']);
    });
    await form(page).getByText('Approvals', { exact: true }).click();
    await form(page).getByText('One person has to approve a call within 3 days.').waitFor();
    await page.context().close();
  });

  it('are actions of services, of which those with side effects ask', async () => {
    const nodes = linkInRow([trigger([], { label: 'Begin' }), agent('Go on', {}, [], { label: 'Helper' })]);
    const id = await world.account.api.createWorkflow(world.projectId, drawing(nodes), 'Actions as tools');
    const page = await world.browser.person(world.account.userId, `/workflows/${id}`);
    await node(page, 'Helper').click();
    for (const [words, option, asks] of [
      ['create an issue', 'GitHub: Create an issue', true],
      ['github', 'GitHub: List issues', false],
    ] as const) {
      await press(form(page), 'Add tool');
      await page.getByRole('searchbox', { name: 'Search tools' }).fill(words);
      await page.getByRole('option', { name: option, exact: true }).click();
      const tool = form(page).getByRole('group', {
        name: asks ? 'github: issues.create' : 'github: issues.list-for-repo',
      });
      await eventually(async () => (await box(tool, 'Ask before calling').isChecked()) === asks);
      await tool.getByText(asks ? 'Each call waits until' : 'No call waits').waitFor();
    }
    await assertAccessible(page, 'actions as tools');
    await press(page, 'Save');
    await eventually(async () => ((await stored(id, 'Helper'))['tools'] as unknown[]).length === 2);
    const tools = (await stored(id, 'Helper'))['tools'] as Record<string, unknown>[];
    assert.deepEqual(
      tools.map((tool) => [tool['type'], tool['service'], tool['id'], tool['require_approval']]),
      [
        ['action', 'github', 'issues.create', undefined],
        ['action', 'github', 'issues.list-for-repo', undefined],
      ],
    );
    await page.context().close();
  });

  it('are chosen by Enter only once the search has found them', async () => {
    const nodes = linkInRow([trigger([], { label: 'Begin' }), agent('Go on', {}, [], { label: 'Helper' })]);
    const id = await world.account.api.createWorkflow(world.projectId, drawing(nodes), 'Tools that come late');
    const page = await world.browser.person(world.account.userId, `/workflows/${id}`);
    const services = createGate();
    await page.route('**/api/v1/services/?*', async (route) => {
      await services.opened;
      await route.continue();
    });
    await node(page, 'Helper').click();
    await press(form(page), 'Add tool');
    const search = page.getByRole('searchbox', { name: 'Search tools' });
    await search.fill('create an issue');
    await search.press('Enter');
    services.open();
    await page.getByRole('option', { name: 'GitHub: Create an issue', exact: true }).waitFor();
    await page.context().close();
  });

  it('are named by hand where the server cannot be reached, and fit a narrow screen in the dark', async () => {
    const tool = { endpoint_url: 'http://127.0.0.1:9/mcp', allowed_tools: ['known'] };
    const nodes = linkInRow([trigger([], { label: 'Begin' }), agent('Go on', {}, [tool], { label: 'Helper' })]);
    const id = await world.account.api.createWorkflow(world.projectId, drawing(nodes), 'Unreachable');
    const page = await world.browser.person(world.account.userId, `/workflows/${id}`, {
      ...NARROW,
      colorScheme: 'dark',
    });
    await node(page, 'Helper').click();
    assert.equal(await box(form(page), 'known').isChecked(), true, 'what is stored is shown before the server answers');
    await press(form(page), 'List tools');
    await form(page).getByRole('alert').waitFor();
    await text(form(page), 'Name of a tool').fill('hidden');
    await text(form(page), 'Name of a tool').press('Enter');
    await box(form(page), 'hidden').waitFor();
    await box(form(page), 'known').click();
    await box(form(page), 'known').waitFor({ state: 'detached' });
    await assertFits(page, 'the tools');
    await assertAccessible(page, 'the tools on a narrow screen');
    await press(page, 'Save');
    await eventually(async () => {
      const [only] = (await stored(id, 'Helper'))['tools'] as Record<string, unknown>[];
      return isDeepStrictEqual(only!['allowed_tools'], ['hidden']);
    });
    await page.context().close();
    world.browser.assertClean();
  });
});
