import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { createAccount, giveRole } from '../api/accounts.js';
import { createConnection, oauthConnection, readConnection, type ConnectionBody } from '../api/connections/sign-in.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startFakeMcpServer } from '../support/fake-mcp-server.js';
import { drawing, http, linkInRow, mcp, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase } from '../support/inspect.js';
import { startTokenProvider } from '../support/token-provider.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, openConsole, useConsole } from './browser.js';

const button = (at: Page | Locator, name: string) => at.getByRole('button', { name, exact: true });
const textbox = (at: Page | Locator, name: string) => at.getByRole('textbox', { name, exact: true });
const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });
const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`^${name}\\b`) });
const chosenIn = (box: Locator) =>
  box.evaluate((select) => (select as unknown as { selectedOptions: { label: string }[] }).selectedOptions[0]?.label);
const activeName = (page: Page) => page.evaluate('document.activeElement.labels?.[0]?.textContent');

describe('connections in the console', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const [owner, target, provider, mcpServer] = await Promise.all([
      createOwner(stack, 'Services'),
      startHttpTarget(),
      startTokenProvider(),
      startFakeMcpServer(),
    ]);
    // The window of a sign-in visits the pages of the provider, which have another origin.
    const browser = await openConsole(stack, [provider.url]);
    return { ...owner, target, provider, mcpServer, browser };
  });

  const open = (who = world.account, options = {}, projectId = world.projectId): Promise<Page> =>
    world.browser.person(who.userId, `/settings?tab=connections&project=${projectId}`, options);

  async function stored(name: string): Promise<ConnectionBody> {
    const path = `/projects/${world.projectId}/connections/`;
    const { body } = await world.account.api.get<{ items: ConnectionBody[] }>(path);
    const found = body.items.find((each) => each.name === name);
    assert.ok(found, `no connection ${name}`);
    return found;
  }

  /** Returns the headers of a request by the connection. Its secrets are sealed, so only a request shows them. */
  async function sentBy(id: number): Promise<Record<string, unknown>> {
    const path = `/${randomUUID()}`;
    world.target.on(path, { status: 200 });
    const tried = await world.account.api.post<{ ok: boolean }>(
      `/projects/${world.projectId}/connections/${id}/test/`,
      { body: { url: world.target.url + path } },
    );
    assert.equal(tried.body.ok, true, JSON.stringify(tried.body));
    return world.target.requests.find((request) => request.path === path)!.headers;
  }

  it('are made for a known service by mouse, with the parts of its address filled in', async () => {
    const page = await open();
    await page.getByText('The project has no connections yet.').waitFor();
    await button(page, 'New connection').click();
    const dialog = dialogOf(page, 'New connection');
    await assertAccessible(page, 'the choice of a service');
    await dialog.getByRole('searchbox', { name: 'Search services' }).fill('zen');
    await dialog.getByRole('option', { name: 'Slack' }).waitFor({ state: 'detached' });
    await dialog.getByRole('option', { name: 'Zendesk', exact: true }).click();
    assert.equal(await textbox(dialog, 'Name').inputValue(), 'Zendesk');
    const link = dialog.getByRole('link', { name: 'Documentation of Zendesk' });
    assert.deepEqual([await link.getAttribute('target'), await link.getAttribute('rel')], ['_blank', 'noreferrer']);
    await assertAccessible(page, 'the form of a service');
    await button(dialog, 'Create').click();
    assert.equal(await dialog.getByText('Fill this in.').count(), 2, 'the subdomain and the password');
    await textbox(dialog, 'Subdomain').fill('https://acme.zendesk.com');
    await button(dialog, 'Create').click();
    await dialog.getByText('Enter only this part of the address.').waitFor();
    await textbox(dialog, 'Subdomain').fill('acme');
    await textbox(dialog, 'User name').fill('ada@example.com/token');
    await textbox(dialog, 'Password').fill('the-secret-of-zendesk');
    await button(dialog, 'Create').click();
    const row = rowOf(page, 'Zendesk');
    await row.getByText('ready', { exact: true }).waitFor();
    await row.getByText('https://acme.zendesk.com').waitFor();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await page.content()).includes('the-secret-of-zendesk'), false);
    const { settings, origins } = await stored('Zendesk');
    assert.deepEqual([settings, origins], [{ username: 'ada@example.com/token' }, ['https://acme.zendesk.com']]);
    await page.context().close();
  });

  it('are made and changed by keyboard alone, and keep secrets that are not written anew', async () => {
    const page = await open();
    await button(page, 'New connection').focus();
    await page.keyboard.press('Enter');
    const dialog = dialogOf(page, 'New connection');
    const search = dialog.getByRole('searchbox', { name: 'Search services' });
    await search.waitFor();
    await eventually(async () => (await page.evaluate('document.activeElement.ariaLabel')) === 'Search services');
    await page.keyboard.type('query parameter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    const active = await search.getAttribute('aria-activedescendant');
    assert.equal(await page.locator(`[id="${active}"]`).innerText(), 'Query parameter');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('header');
    await page.keyboard.press('Enter');
    await textbox(dialog, 'Header').waitFor();
    await eventually(async () => (await activeName(page)) === 'Name');
    await page.keyboard.type('by hand');
    for (const [label, text] of [
      ['Header', 'x-key'],
      ['Value', 'the first secret'],
    ] as const) {
      await page.keyboard.press('Tab');
      assert.equal(await activeName(page), label);
      await page.keyboard.type(text);
    }
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await textbox(dialog, 'Value 2').waitFor();
    await textbox(dialog, 'Header 2').focus();
    await page.keyboard.type('x-second');
    await page.keyboard.press('Tab');
    await page.keyboard.type('the second secret');
    await textbox(dialog, 'Origins').focus();
    await page.keyboard.type(world.target.url);
    await textbox(dialog, 'Name').focus();
    await page.keyboard.press('Enter');
    const row = rowOf(page, 'by hand');
    await row.getByText('ready', { exact: true }).waitFor();
    const { id } = await stored('by hand');
    const both = async () => {
      const { 'x-key': first, 'x-second': second } = await sentBy(id);
      return [first, second];
    };
    assert.deepEqual(await both(), ['the first secret', 'the second secret']);

    await button(row, 'Edit').focus();
    await page.keyboard.press('Enter');
    const edit = dialogOf(page, 'Edit connection');
    assert.equal(await textbox(edit, 'Value 1').inputValue(), '');
    assert.equal(await textbox(edit, 'Value 1').getAttribute('placeholder'), '********');
    await textbox(edit, 'Name').fill('by keyboard');
    await textbox(edit, 'Value 2').fill('another second secret');
    await page.keyboard.press('Enter');
    await rowOf(page, 'by keyboard').waitFor();
    assert.deepEqual(await both(), ['the first secret', 'another second secret']);

    await button(rowOf(page, 'by keyboard'), 'Edit').press('Enter');
    await textbox(edit, 'Origins').fill('https://elsewhere.example.com');
    await textbox(edit, 'Name').press('Enter');
    await edit.getByText('Enter the secrets again: their addresses have changed.').waitFor();
    assert.equal(await textbox(edit, 'Value 1').getAttribute('aria-invalid'), 'true');
    await assertAccessible(page, 'a form with a problem');
    await page.keyboard.press('Escape');
    await edit.waitFor({ state: 'detached' });
    assert.deepEqual((await stored('by keyboard')).origins, [world.target.url]);
    await page.context().close();
  });

  it('say at the field what is wrong', async () => {
    const page = await open();
    await button(page, 'New connection').click();
    const dialog = dialogOf(page, 'New connection');
    await dialog.getByRole('option', { name: 'OAuth 2', exact: true }).click();
    const redirect = `${world.stack.apiUrl}/api/v1/connections/callback/`;
    await dialog.getByText(redirect).waitFor();
    await button(dialog, 'Copy redirect address').waitFor();
    for (const [label, text] of [
      ['Name', 'Zendesk'],
      ['Client ID', 'me'],
      ['Authorization URL', 'nonsense'],
      ['Token URL', 'https://provider.example.com/token'],
      ['Origins', 'https://api.example.com/path'],
    ] as const) {
      await textbox(dialog, label).fill(text);
    }
    await button(dialog, 'Create').click();
    await dialog.getByText('Enter a valid origin in place of').waitFor();
    assert.equal(await textbox(dialog, 'Origins').getAttribute('aria-invalid'), 'true');
    await textbox(dialog, 'Origins').fill('https://api.example.com');
    await button(dialog, 'Create').click();
    await dialog.getByText('Enter a valid URL.').waitFor();
    assert.equal(await textbox(dialog, 'Authorization URL').getAttribute('aria-invalid'), 'true');
    await textbox(dialog, 'Authorization URL').fill('https://provider.example.com/authorize');
    await button(dialog, 'Create').click();
    await dialog.getByText('A connection of this project has the name.').waitFor();
    assert.equal(await textbox(dialog, 'Name').getAttribute('aria-invalid'), 'true');
    await page.context().close();
  });

  it('are signed in for in a window of its own, which tells the page and closes', async () => {
    const page = await open();
    await button(page, 'New connection').click();
    const dialog = dialogOf(page, 'New connection');
    await dialog.getByRole('option', { name: 'OAuth 2', exact: true }).click();
    const { authorize_url, token_url, client_id, scopes } = world.provider.settings;
    for (const [label, text] of [
      ['Name', 'provider'],
      ['Client ID', client_id],
      ['Authorization URL', authorize_url],
      ['Token URL', token_url],
      ['Client secret', world.provider.clientSecret],
      ['Scopes', (scopes as string[]).join(' ')],
      ['Origins', world.provider.url],
    ] as [string, string][]) {
      await textbox(dialog, label).fill(text);
    }
    await button(dialog, 'Create').click();
    const offer = dialogOf(page, 'Sign in');
    await offer.getByText('can be used once somebody has signed in').waitFor();
    await assertAccessible(page, 'the offer to sign in');
    const { id, status } = await stored('provider');
    assert.equal(status, 'needs_authorization');
    const opened = page.waitForEvent('popup');
    await button(offer, 'Sign in').click();
    const popup = await opened;
    await popup.waitForEvent('close');
    await offer.waitFor({ state: 'detached' });
    const row = rowOf(page, 'provider');
    await row.getByText('ready', { exact: true }).waitFor();
    await row.getByText('Signed in as ada@example.com').waitFor();
    assert.equal((await readConnection(world.account, world.projectId, id)).status, 'ready');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText('Sign out').waitFor();
    await page.context().close();
  });

  it('say why a sign-in has failed, in the window that was opened and by the address', async () => {
    const id = await oauthConnection(world.account, world.projectId, world.provider, 'refused');
    const page = await open();
    world.provider.answer = { status: 400, body: { error: 'invalid_grant' } };
    try {
      const opened = page.waitForEvent('popup');
      await button(rowOf(page, 'refused'), 'Sign in').click();
      await (await opened).waitForEvent('close');
      await page.getByRole('alert').getByText('The provider has refused the sign-in.').waitFor();
    } finally {
      world.provider.answer = undefined;
    }
    assert.equal((await readConnection(world.account, world.projectId, id)).status, 'needs_authorization');
    await page.goto(`/settings?tab=connections&project=${world.projectId}&error=access_denied`);
    await page.getByRole('alert').getByText('access was not granted').waitFor();
    await page.goto(`/settings?tab=connections&project=${world.projectId}&error=<b>call me</b>`);
    await page.getByRole('alert').getByText('The provider has refused the sign-in.', { exact: true }).waitFor();
    await page.context().close();
  });

  it('are signed in for on the page itself where the browser opens no window', async () => {
    const id = await oauthConnection(world.account, world.projectId, world.provider, 'blocked');
    const page = await open();
    await page.evaluate('window.open = () => null');
    await button(rowOf(page, 'blocked'), 'Sign in').click();
    await rowOf(page, 'blocked').getByText('ready', { exact: true }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('project'), String(world.projectId));
    assert.equal((await readConnection(world.account, world.projectId, id)).status, 'ready');
    await page.context().close();
  });

  it('are tested, and removed once somebody insists where workflows use them', async () => {
    const id = await createConnection(world.account, world.projectId, {
      name: 'in use',
      kind: 'bearer',
      origins: [world.target.url],
      secrets: { token: 'a-token' },
    });
    const call = http(`${world.target.url}/`, { connection: id });
    await world.account.api.createWorkflow(world.projectId, drawing(linkInRow([trigger(), call])), 'Caller');
    const page = await open();
    const row = rowOf(page, 'in use');
    world.target.on('/', { status: 204 });
    await button(row, 'Test').click();
    await row.getByRole('status').getByText('Works. The server has answered with status 204.').waitFor();
    world.target.on('/', { status: 401 });
    await button(row, 'Test').click();
    await row.getByRole('status').getByText('Does not work.').waitFor();
    await row.getByText('failing', { exact: true }).waitFor();
    await button(row, '1 workflow').click();
    const used = dialogOf(page, 'Used by: in use');
    await used.getByRole('link', { name: 'Caller' }).waitFor();
    await used.getByText('No open run has used it or waits for it.').waitFor();
    await assertAccessible(page, 'what uses a connection');
    await page.keyboard.press('Escape');
    await button(row, 'Remove').click();
    const ask = page.getByRole('alertdialog', { name: 'Remove connection' });
    await button(ask, 'Remove').click();
    await ask.getByRole('alert').getByText('Workflows use the connection: "Caller".').waitFor();
    assert.equal((await stored('in use')).id, id);
    await button(ask, 'Remove anyway').click();
    // Elements behind a dialog have no role, so the test waits until it has closed.
    await ask.waitFor({ state: 'detached' });
    await row.waitFor({ state: 'detached' });
    assert.equal((await world.account.api.get(`/projects/${world.projectId}/connections/${id}/`)).status, 404);
    await page.context().close();
  });

  it('are made where a node asks for one, and the node names what was made', async () => {
    const call = http(`${world.target.url}/`, { label: 'Call' });
    const workflowId = await world.account.api.createWorkflow(
      world.projectId,
      drawing(linkInRow([trigger(), call])),
      'Picker',
    );
    const page = await world.browser.person(world.account.userId, `/workflows/${workflowId}`);
    await page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: 'Call', exact: true }).click();
    const panel = page.getByRole('region', { name: 'Node', exact: true });
    const box = panel.getByRole('combobox', { name: 'Connection', exact: true });
    await box.selectOption({ label: 'New connection' });
    const dialog = dialogOf(page, 'New connection');
    await dialog.getByRole('searchbox', { name: 'Search services' }).fill('slack');
    await dialog.getByRole('option', { name: 'Slack', exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await textbox(dialog, 'Token').fill('a-token-of-slack');
    await button(dialog, 'Create').click();
    await dialog.waitFor({ state: 'detached' });
    const { id } = await stored('Slack');
    assert.equal(await box.inputValue(), String(id));
    await eventually(async () => (await chosenIn(box)) === 'Slack');
    await assertAccessible(page, 'the choice of a connection');
    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved').waitFor();
    const connectionOf = async () => {
      const [row] = await queryDatabase<{ document: { nodes: { id: string; data: Record<string, unknown> }[] } }>(
        world.stack,
        'SELECT document FROM workflows WHERE id = $1',
        [workflowId],
      );
      return row!.document.nodes.find((each) => each.id === call.id)!.data['connection'];
    };
    assert.equal(await connectionOf(), id);
    await box.selectOption({ label: 'None' });
    await page.keyboard.press('Control+s');
    await eventually(async () => (await connectionOf()) === undefined);
    await box.selectOption({ label: 'Slack' });
    await page.keyboard.press('Control+s');
    await eventually(async () => (await connectionOf()) === id);
    await world.account.api.delete(`/projects/${world.projectId}/connections/${id}/?force=true`);
    await page.reload();
    await page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: /^Call/ }).click();
    await panel.getByText('The project has no such connection').waitFor();
    await eventually(async () => (await chosenIn(box)) === `Connection ${id} (missing)`);
    await page.context().close();
  });

  it('bring the tools of an MCP server to its form', async () => {
    const name = `mcp ${randomUUID()}`;
    const id = await createConnection(world.account, world.projectId, {
      name,
      kind: 'bearer',
      origins: [world.mcpServer.origin],
      secrets: { token: 'the-token-of-tools' },
    });
    const server = world.mcpServer.endpoint();
    const call = mcp(server.url, 'unknown', {}, { label: 'Tool', connection: id });
    const workflowId = await world.account.api.createWorkflow(
      world.projectId,
      drawing(linkInRow([trigger(), call])),
      'Tools',
    );
    const page = await world.browser.person(world.account.userId, `/workflows/${workflowId}`);
    await page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: 'Tool', exact: true }).click();
    const panel = page.getByRole('region', { name: 'Node', exact: true });
    await button(panel, 'List tools').click();
    const tools = panel.getByRole('list', { name: 'Tools of the server' });
    await button(tools, 'echo').click();
    assert.equal(await textbox(panel, 'Tool name').textContent(), 'echo');
    assert.equal(await button(tools, 'echo').getAttribute('aria-pressed'), 'true');
    assert.equal(server.requests[0]!.headers.authorization, 'Bearer the-token-of-tools');
    await assertAccessible(page, 'the tools of a server');
    await panel.getByRole('combobox', { name: 'Connection', exact: true }).selectOption({ label: 'None' });
    await tools.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('wait in the inbox and on the page of the run until somebody has signed in', async () => {
    const { account, projectId } = await createOwner(world.stack, 'Waiting');
    const id = await oauthConnection(account, projectId, world.provider, 'nightly');
    const call = http(`${world.provider.url}/after`, { label: 'Call', connection: id });
    const workflowId = await account.api.createWorkflow(projectId, drawing(linkInRow([trigger(), call])), 'Night');
    const run = (await account.api.run(workflowId)).data.id;
    const page = await world.browser.person(account.userId, `/runs/${run}`);
    await page.getByRole('group', { name: 'Call, waiting', exact: true }).click();
    await page.getByText('The node waits until somebody has signed in for the connection nightly').waitFor();
    const link = page.getByRole('link', { name: 'Go to the connection' });
    assert.equal(await link.getAttribute('href'), `/settings?tab=connections&project=${projectId}`);
    await page.getByRole('link', { name: 'Inbox, 1 waiting', exact: true }).click();
    const article = page.getByRole('article', { name: 'Sign in again: nightly', exact: true });
    await article.getByText('1 run waits').waitFor();
    await article.getByRole('link', { name: 'Waiting' }).waitFor();
    assert.equal(await page.getByText('Nothing waits for you.').count(), 0);
    await assertAccessible(page, 'a sign-in in the inbox');
    const opened = page.waitForEvent('popup');
    await button(article, 'Sign in').click();
    await (await opened).waitForEvent('close');
    await article.waitFor({ state: 'detached' });
    await page.getByText('Nothing waits for you.').waitFor();
    await page.getByRole('link', { name: /^Inbox(?:, 0 waiting)?$/ }).waitFor();
    assert.equal((await account.api.pollToEnd(run)).data.status, 'succeed');
    await page.context().close();
  });

  it('are listed and tested by editors, and not shown to viewers', async () => {
    const { account, projectId } = await createOwner(world.stack, 'Roles');
    const id = await createConnection(account, projectId, {
      name: 'shared',
      kind: 'bearer',
      origins: [world.target.url],
      secrets: { token: 'a-token' },
    });
    const call = http(`${world.target.url}/`, { label: 'Call', connection: id });
    const workflowId = await account.api.createWorkflow(projectId, drawing(linkInRow([trigger(), call])), 'Shared');
    const [editor, viewer] = [await createAccount(world.stack), await createAccount(world.stack)];
    await giveRole(world.stack, editor, projectId, 'editor');
    await giveRole(world.stack, viewer, projectId, 'viewer');

    const page = await open(editor, {}, projectId);
    const row = rowOf(page, 'shared');
    await button(row, 'Test').waitFor();
    await page.getByText('Your role in this project is editor.').waitFor();
    for (const name of ['New connection', 'Edit', 'Remove']) assert.equal(await button(page, name).count(), 0, name);
    await page.goto(`/workflows/${workflowId}`);
    const panel = page.getByRole('region', { name: 'Node', exact: true });
    await page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: 'Call', exact: true }).click();
    const box = panel.getByRole('combobox', { name: 'Connection', exact: true });
    await box.getByRole('option', { name: 'shared' }).waitFor({ state: 'attached' });
    assert.deepEqual(await box.getByRole('option').allInnerTexts(), ['None', 'shared']);
    await page.context().close();

    const theirs = await open(viewer, {}, projectId);
    await theirs.getByRole('tab', { name: 'Webhooks' }).waitFor();
    assert.equal(await theirs.getByRole('tab', { name: 'Connections' }).count(), 0);
    await theirs.goto(`/workflows/${workflowId}`);
    await theirs.getByRole('region', { name: 'Graph' }).getByRole('group', { name: 'Call', exact: true }).click();
    const seen = theirs.getByRole('region', { name: 'Node', exact: true });
    await seen.getByText('********').waitFor();
    assert.equal(await seen.getByRole('combobox', { name: 'Connection', exact: true }).count(), 0);
    await theirs.context().close();
  });

  it('fit a phone, in the dark too', async () => {
    const page = await open(world.account, { ...NARROW, colorScheme: 'dark' });
    await rowOf(page, 'Zendesk').waitFor();
    await assertFits(page, 'the list');
    await assertAccessible(page, 'the list of connections at 390 px');
    await button(page, 'New connection').click();
    const dialog = dialogOf(page, 'New connection');
    await dialog.getByRole('option', { name: 'Slack', exact: true }).waitFor();
    await assertFits(page, 'the choice of a service');
    await assertAccessible(page, 'the choice of a service at 390 px');
    await dialog.getByRole('searchbox', { name: 'Search services' }).fill('microsoft');
    await dialog.getByRole('option', { name: 'Microsoft Graph', exact: true }).click();
    await textbox(dialog, 'Tenant').fill('contoso.onmicrosoft.com');
    const given = dialog.getByText('Addresses and what else is known of the service');
    await given.click();
    assert.equal(
      await textbox(dialog, 'Token URL').inputValue(),
      'https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/token',
    );
    await assertFits(page, 'the form of a service');
    await assertAccessible(page, 'the form of a service at 390 px');
    const body = dialog.locator('form');
    const isWide = (form: unknown) => {
      const { scrollWidth, clientWidth } = form as { scrollWidth: number; clientWidth: number };
      return scrollWidth > clientWidth;
    };
    assert.equal(await body.evaluate(isWide), false, 'the form');
    await page.context().close();
  });

  it('have broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
