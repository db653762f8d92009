import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { createAccount, giveRole } from '../api/accounts.js';
import { call, connectOfficial, textOf } from '../api/mcp-server/mcp-clients.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, linkInRow, node as nodeOf, trigger } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const sectionOf = (page: Page): Locator => page.getByRole('region', { name: 'Tool', exact: true });
const switchOf = (page: Page): Locator => sectionOf(page).getByRole('checkbox', { name: 'Offer as MCP tool' });

describe('a workflow as an MCP tool, in the console', function () {
  this.timeout(120_000);
  const world = useConsole((stack) => createOwner(stack, 'Tools'));

  const echo = (): object =>
    drawing(
      linkInRow([
        trigger([{ id: 'topic', title: 'Topic', type: 'text', input_requirements: true }]),
        nodeOf('output', { value: 'about {{ input.topic }}' }),
      ]),
    );
  const workflow = (title: string): Promise<number> => world.account.api.createWorkflow(world.projectId, echo(), title);
  const open = (id: number, who = world.account, options = {}): Promise<Page> =>
    world.browser.person(who.userId, `/workflows/${id}/starts`, options);

  it('one switch offers it, with the settings that a client takes as they are', async () => {
    const id = await workflow('Weekly report');
    const page = await open(id);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await switchOf(page).waitFor();
    assert.equal(await switchOf(page).isChecked(), false);
    assert.equal(await sectionOf(page).getByText('Copy address').count(), 0);
    await switchOf(page).check();
    const section = sectionOf(page);
    const name = `Weekly_report_${id}`;
    await section.getByText(name, { exact: true }).waitFor();
    await section.getByText('Runs the workflow "Weekly report" and returns what it puts out.').waitFor();
    const schema = await section.getByRole('group', { name: 'What it takes' }).locator('pre').innerText();
    assert.deepEqual((JSON.parse(schema) as { required: unknown }).required, ['topic']);
    await section.getByRole('button', { name: 'Copy settings' }).click();
    await section.getByRole('button', { name: 'Copied' }).waitFor();
    const settings = JSON.parse(await page.evaluate('navigator.clipboard.readText()')) as {
      mcpServers: { workflows: { url: string; headers: { Authorization: string } } };
    };
    const { url, headers } = settings.mcpServers.workflows;
    assert.deepEqual([url, headers.Authorization], [`${world.stack.apiUrl}/mcp`, 'Bearer YOUR_API_KEY']);
    const isTool = async (): Promise<boolean> =>
      (await world.account.api.get<{ is_tool: boolean }>(`/workflows/${id}/`)).body.is_tool;
    // The page shows the change before the service has stored it.
    await eventually(isTool);
    const client = await connectOfficial(url.replace(/\/mcp$/, ''), world.account.apiKey);
    assert.equal(textOf(await call(client, name, { topic: 'cats' })), 'about cats');
    await client.client.close();
    await page.reload();
    await section.getByText(name, { exact: true }).waitFor();
    assert.equal(await switchOf(page).isChecked(), true);
    await switchOf(page).uncheck();
    await section.getByText(name, { exact: true }).waitFor({ state: 'detached' });
    await eventually(async () => !(await isTool()));
    await page.context().close();
  });

  it('a viewer sees whether it is offered, and cannot change it', async () => {
    const id = await workflow('Looked at');
    await world.account.api.patch(`/workflows/${id}/`, { body: { is_tool: true } });
    const viewer = await createAccount(world.stack);
    await giveRole(world.stack, viewer, world.projectId, 'viewer');
    const page = await open(id, viewer);
    await sectionOf(page).getByText(`Looked_at_${id}`, { exact: true }).waitFor();
    assert.deepEqual([await switchOf(page).isChecked(), await switchOf(page).isDisabled()], [true, true]);
    await sectionOf(page).getByText('Editors of the project offer tools.').waitFor();
    await page.context().close();
  });

  it('is accessible, and fits a phone', async () => {
    const id = await workflow('A title that is rather long, so that the name of the tool is as long as it may be');
    await world.account.api.patch(`/workflows/${id}/`, { body: { is_tool: true } });
    for (const options of [{}, { colorScheme: 'dark' as const }, { ...NARROW, colorScheme: 'dark' as const }]) {
      const page = await open(id, world.account, options);
      await sectionOf(page).getByRole('button', { name: 'Copy settings' }).waitFor();
      await assertAccessible(page, 'tool');
      await assertFits(page);
      await page.context().close();
    }
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
