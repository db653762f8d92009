// Services and their actions: found in the palette and where a node is inserted, made from documents, changed, deleted.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { createAccount, giveRole } from '../api/accounts.js';
import { createConnection } from '../api/connections/sign-in.js';
import {
  agent,
  drawing,
  linkInRow,
  node as drawnNode,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const form = (page: Page) => region(page, 'Node');
const node = (page: Page, name: string) => region(page, 'Graph').getByRole('group', { name, exact: true });
const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });
const press = (within: Page | Locator, name: string) => button(within, name).click();
const text = (within: Page | Locator, name: string) => within.getByRole('textbox', { name, exact: true });
const searchbox = (within: Page | Locator, name: string) => within.getByRole('searchbox', { name, exact: true });
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });
/** Returns the choices of the field once it has loaded the connections. */
async function connections(within: Page | Locator): Promise<string[]> {
  const options = within.getByRole('combobox', { name: 'Connection', exact: true }).getByRole('option');
  await options.filter({ hasText: 'Key of the shop' }).waitFor({ state: 'attached' });
  return options.allTextContents();
}

/** Returns an OpenAPI document with these operations, named by their ids. `withCookie` cannot be called. */
function shopDocument(server: string, operations = ['changeOrder', 'readOrder', 'withCookie']): object {
  const order = { name: 'order', in: 'path', required: true, schema: { type: 'string' } };
  const all: Record<string, [path: string, method: string, operation: object]> = {
    changeOrder: [
      '/orders/{order}',
      'patch',
      {
        summary: 'Change an order',
        parameters: [order],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['status'],
                properties: { status: { type: 'string', title: 'New status' }, note: { type: 'string' } },
              },
            },
          },
        },
      },
    ],
    readOrder: ['/orders/{order}', 'get', { summary: 'Read an order', parameters: [order] }],
    withCookie: ['/basket', 'get', { parameters: [{ name: 's', in: 'cookie', required: true }] }],
  };
  const paths: Record<string, Record<string, object>> = {};
  for (const id of operations) {
    const [path, method, operation] = all[id]!;
    paths[path] = { ...paths[path], [method]: { operationId: id, responses: {}, ...operation } };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1', description: 'Orders of a shop' },
    servers: [{ url: server }],
    paths,
  };
}

describe('services in the console', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => ({
    ...(await createOwner(stack, 'With services')),
    target: await startHttpTarget(),
  }));

  const begin = (): DrawingNode => trigger([], { label: 'Begin' });
  const newWorkflow = (projectId: number, nodes: DrawingNode[] = [begin()]): Promise<number> =>
    world.account.api.createWorkflow(projectId, drawing(linkInRow(nodes)), 'Calls services');
  const edit = (id: number, options = {}): Promise<Page> =>
    world.browser.person(world.account.userId, `/workflows/${id}`, options);
  const settings = (projectId: number, userId = world.account.userId, options = {}): Promise<Page> =>
    world.browser.person(userId, `/settings?tab=services&project=${projectId}`, options);

  async function makeShop(projectId: number): Promise<string> {
    const body = { openapi: shopDocument(world.target.url) };
    const made = await world.account.api.post<{ id: string }>(`/projects/${projectId}/services/`, { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.id;
  }

  async function connect(projectId: number, name: string, origin: string): Promise<number> {
    const fields = { name, kind: 'bearer', origins: [origin], settings: {}, secrets: { token: 'a-token-of-the-shop' } };
    return createConnection(world.account, projectId, fields);
  }

  it('are found by the palette with their actions; one becomes a linked node, whose request is sent by its connection', async () => {
    const projectId = await world.account.api.createProject('Palette');
    const service = await makeShop(projectId);
    await connect(projectId, 'Key of the shop', world.target.url);
    await connect(projectId, 'Key of others', 'https://elsewhere.example');
    const id = await newWorkflow(projectId);
    const page = await edit(id);
    await node(page, 'Begin').click();
    const search = searchbox(page, 'Search nodes');
    await search.fill('shop');
    await button(page, 'Add Shop: Read an order').waitFor();
    await assertAccessible(page, 'the palette with actions');
    await search.fill('shop change');
    await button(page, 'Add Shop: Read an order').waitFor({ state: 'detached' });
    await press(page, 'Add Shop: Change an order');
    await node(page, 'Begin to Change an order').waitFor({ state: 'attached' });
    await form(page).getByText(`Only connections that go to ${world.target.url} are offered.`).waitFor();
    await form(page).getByRole('option', { name: 'Key of the shop', exact: true }).waitFor({ state: 'attached' });
    assert.deepEqual(await connections(form(page)), ['None', 'Key of the shop', 'New connection']);
    const fields = form(page).getByRole('group', { name: 'Action', exact: true });
    await fields.getByText('Shop: Change an order').waitFor();
    await form(page)
      .getByRole('textbox', { name: /^order/ })
      .fill('7/a');
    await form(page)
      .getByRole('textbox', { name: /^New status/ })
      .fill('shipped');
    await form(page).getByRole('combobox', { name: 'Connection', exact: true }).selectOption('Key of the shop');
    await assertAccessible(page, 'the form of an action');
    await press(page, 'Save');
    await page.getByText('All changes saved').waitFor();
    const { body } = await world.account.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
    const { action, values, url, method } = body.data.nodes.find(({ type }) => type === 'http-node')!.data;
    assert.deepEqual(
      [(action as { service: string }).service, (action as { id: string }).id],
      [service, 'changeOrder'],
    );
    assert.deepEqual([values, url, method], [{ order: '7/a', status: 'shipped' }, undefined, undefined]);

    await press(page, 'Run');
    await press(dialog(page, 'Run workflow'), 'Start run');
    await node(page, 'Change an order, succeeded').waitFor();
    const [request, ...more] = world.target.requestsTo('/orders/7%2Fa');
    assert.equal(more.length, 0);
    assert.deepEqual(
      [request!.method, request!.headers.authorization, JSON.parse(request!.body)],
      ['PATCH', 'Bearer a-token-of-the-shop', { status: 'shipped' }],
    );
    await page.context().close();
  });

  it('are found where a node is inserted, and by Enter in the palette', async () => {
    const page = await edit(await newWorkflow(world.projectId));
    await press(page, 'Add node after Begin');
    const menu = dialog(page, 'Insert node');
    await searchbox(menu, 'Search nodes').fill('slack send');
    await menu.getByRole('menuitem', { name: 'Slack: Send a message', exact: true }).waitFor();
    await assertAccessible(page, 'the menu with actions');
    await page.keyboard.press('Enter');
    await node(page, 'Begin to Send a message').waitFor({ state: 'attached' });
    await page.keyboard.press('Control+z');
    await node(page, 'Send a message').waitFor({ state: 'detached' });
    const search = searchbox(page, 'Search nodes');
    await search.fill('nothing is called like this');
    await page.getByText('Nothing matches.').waitFor();
    await search.fill('github create an issue');
    await button(page, 'Add GitHub: Create an issue').waitFor();
    await search.press('Enter');
    await node(page, 'Create an issue').waitFor();
    await button(page, 'Add GitHub: Create an issue').dragTo(region(page, 'Graph'), {
      targetPosition: { x: 320, y: 420 },
    });
    await node(page, 'Create an issue 2').waitFor();
    await page.context().close();
  });

  it('offer a new connection with what is known of them', async () => {
    const page = await edit(await newWorkflow(world.projectId));
    await searchbox(page, 'Search nodes').fill('stripe');
    await page
      .getByRole('button', { name: /^Add Stripe: / })
      .first()
      .click();
    const box = form(page).getByRole('combobox', { name: 'Connection', exact: true });
    await box.selectOption('New connection');
    const made = dialog(page, 'New connection');
    await made.getByRole('link', { name: 'Documentation of Stripe' }).waitFor();
    await press(made, 'Other service');
    await searchbox(made, 'Search services').waitFor();
    await page.context().close();
  });

  it('are tools of agents, with fixed values and only connections that cover their server', async () => {
    const projectId = await world.account.api.createProject('Tools');
    await makeShop(projectId);
    await connect(projectId, 'Key of the shop', world.target.url);
    await connect(projectId, 'Key of others', 'https://elsewhere.example');
    const id = await newWorkflow(projectId, [begin(), agent('Go on', {}, [], { label: 'Helper' })]);
    const page = await edit(id);
    await node(page, 'Helper').click();
    await press(form(page), 'Add tool');
    await searchbox(page, 'Search tools').fill('change an order');
    await page.getByRole('option', { name: 'Shop: Change an order', exact: true }).click();
    await form(page).getByText('Each call waits until a person approves it.').waitFor();
    assert.deepEqual(await connections(form(page)), ['None', 'Key of the shop', 'New connection']);
    await form(page).getByText('Fixed values', { exact: true }).click();
    await text(form(page), 'New status').fill('shipped');
    await form(page).getByRole('checkbox', { name: 'Ask before calling', exact: true }).click();
    await press(page, 'Save');
    await page.getByText('All changes saved').waitFor();
    const { body } = await world.account.api.get<{ data: { nodes: DrawingNode[] } }>(`/workflows/${id}/`);
    const [tool] = body.data.nodes.find(({ type }) => type === 'agent-node')!.data['tools'] as Record<
      string,
      unknown
    >[];
    assert.deepEqual([tool!['values'], tool!['require_approval']], [{ status: 'shipped' }, 'never']);
    await page.context().close();
  });

  it('are made of a file from the palette, and the dialog says what has come and what has not', async () => {
    const projectId = await world.account.api.createProject('Files');
    const page = await edit(await newWorkflow(projectId));
    await press(page, 'Add service');
    const added = dialog(page, 'Add service');
    await press(added, 'Add');
    await added.getByText('Choose a file, or enter the address of a document.').waitFor();
    await text(added, 'Address').fill('http://docs.example.com/openapi.json');
    await press(added, 'Add');
    await added.getByRole('alert').getByText(/https/).waitFor();
    await assertAccessible(page, 'the dialog Add service');
    const asked = page.waitForEvent('filechooser');
    await press(added, 'Choose file');
    const document = JSON.stringify(shopDocument(world.target.url));
    await (await asked).setFiles({ name: 'shop.json', mimeType: 'application/json', buffer: Buffer.from(document) });
    await added.getByText('shop.json').waitFor();
    await text(added, 'Name').fill('My shop');
    await press(added, 'Add');
    const came = dialog(page, 'Service added');
    await came.getByText('My shop has 2 actions.').waitFor();
    await came.getByRole('list', { name: 'Warnings' }).getByText('withCookie').waitFor();
    const list = came.getByRole('list', { name: 'Actions of the service' });
    await list.getByText('PATCH /orders/{order} · changes something').waitFor();
    await assertAccessible(page, 'what has come of a document');
    await searchbox(came, 'Search actions').fill('read');
    await list.getByText('Change an order').waitFor({ state: 'detached' });
    await press(came, 'Done');
    await searchbox(page, 'Search nodes').fill('my shop');
    await button(page, 'Add My shop: Read an order').waitFor();
    await page.context().close();
  });

  it('are listed with a search, dropped, updated and deleted in the settings, with a question while workflows use one', async () => {
    const projectId = await world.account.api.createProject('Settings of services');
    const page = await settings(projectId);
    await page.getByText('The project has no services of its own yet.').waitFor();
    await press(page, 'Add service');
    await drop(
      page,
      dialog(page, 'Add service'),
      'shop.yaml',
      `openapi: 3.1.0\ninfo: {title: Shop, version: '1'}\npaths: [`,
    );
    await press(dialog(page, 'Add service'), 'Add');
    await dialog(page, 'Add service')
      .getByRole('alert')
      .getByText(/not valid YAML/)
      .waitFor();
    await press(dialog(page, 'Add service'), 'Remove file');
    await drop(page, dialog(page, 'Add service'), 'shop.json', JSON.stringify(shopDocument('/api', ['readOrder'])));
    await text(dialog(page, 'Add service'), 'Server address').fill(world.target.url);
    await press(dialog(page, 'Add service'), 'Add');
    await dialog(page, 'Service added').getByText('Shop has 1 action.').waitFor();
    await press(dialog(page, 'Service added'), 'Done');
    const own = page.getByRole('table', { name: 'Services of the project' });
    await own.getByRole('row', { name: /^Shop/ }).waitFor();
    await assertAccessible(page, 'the services of a project');
    await searchbox(page, 'Search services').fill('send a message');
    await page.getByText('No service of the project has these words.').waitFor();
    const catalogue = page.getByRole('table', { name: 'Catalogue' });
    await press(catalogue.getByRole('row', { name: /Slack/ }), '11 actions');
    await dialog(page, 'Actions of Slack').getByText('Find a person by e-mail').waitFor();
    await page.keyboard.press('Escape');
    await searchbox(page, 'Search services').fill('');

    await press(own, 'Update');
    await drop(page, dialog(page, 'Update Shop'), 'newer.json', JSON.stringify(shopDocument(world.target.url)));
    await press(dialog(page, 'Update Shop'), 'Update');
    await dialog(page, 'Service updated').getByText('Shop has 2 actions.').waitFor();
    await press(dialog(page, 'Service updated'), 'Done');
    await button(own, '2 actions').waitFor();

    const { body } = await world.account.api.get<{ items: { id: string }[] }>(`/services/?project=${projectId}&size=1`);
    const action = { service: body.items[0]!.id, id: 'readOrder' };
    await newWorkflow(projectId, [begin(), drawnNode('http', { label: 'Call', action, values: { order: '7' } })]);
    await press(own, 'Delete');
    const asked = page.getByRole('alertdialog', { name: 'Delete service' });
    await press(asked, 'Delete');
    await asked.getByText('Workflows use the service: "Calls services".').waitFor();
    await press(asked, 'Delete anyway');
    await page.getByText('The project has no services of its own yet.').waitFor();
    assert.equal((await world.account.api.get(`/services/${action.service}/actions/`)).status, 404);
    await page.context().close();
  });

  it('are read only for viewers, and fit a narrow screen in the dark', async () => {
    const projectId = await world.account.api.createProject('Viewed');
    await makeShop(projectId);
    const viewer = await createAccount(world.stack);
    await giveRole(world.stack, viewer, projectId, 'viewer');
    const page = await settings(projectId, viewer.userId, { ...NARROW, colorScheme: 'dark' });
    await page.getByText('Your role in this project is viewer. Its editors change the services.').waitFor();
    const own = page.getByRole('table', { name: 'Services of the project' });
    await button(own, '2 actions').waitFor();
    for (const name of ['Add service', 'Update', 'Delete']) assert.equal(await button(page, name).count(), 0, name);
    await assertFits(page, 'the services');
    await assertAccessible(page, 'the services on a narrow screen');
    await press(own, '2 actions');
    await dialog(page, 'Actions of Shop').getByText('Change an order').waitFor();
    await assertFits(page, 'the actions');
    await page.context().close();

    const editor = await edit(await newWorkflow(projectId), { ...NARROW, colorScheme: 'dark' });
    await searchbox(editor, 'Search nodes').fill('shop');
    await press(editor, 'Add Shop: Change an order');
    await form(editor).getByText('Shop: Change an order').waitFor();
    await assertFits(editor, 'the form of an action');
    await assertAccessible(editor, 'the form of an action on a narrow screen');
    await editor.context().close();
  });

  it('break no policy, throw nothing and ask no other origin', () => world.browser.assertClean());
});

async function drop(page: Page, field: Locator, name: string, written: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => { const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(written)}], ${JSON.stringify(name)}, { type: 'text/plain' }));
      return transfer; })()`,
  );
  await button(field, 'Choose file').dispatchEvent('drop', { dataTransfer: transfer });
}
