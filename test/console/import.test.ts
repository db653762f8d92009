import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { createPerson } from '../api/sessions/people.js';
import { createApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, shoot, useConsole } from './browser.js';
import { countPresses } from './presses.js';

const APPS = path.join(import.meta.dirname, '..', 'n8n', 'files', 'apps-without-equivalent.json');
const ORDERS = path.join(import.meta.dirname, '..', '..', 'examples', 'n8n', 'orders-of-the-day.json');
const drawing = {
  nodes: [
    { id: 't', type: 'trigger-node', position: { x: 0, y: 0 }, data: { id: 't', label: 'Start', next_nodes: [] } },
  ],
  edges: [],
  start_node: 't',
};

describe('files on the list of workflows', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const person = await createPerson(stack);
    const invite = async (project: number, role: string): Promise<void> => {
      const { status } = await api.post(`/projects/${project}/members/`, { body: { email: person.email, role } });
      assert.equal(status, 201);
    };
    for (const name of ['Alpha', 'Beta']) await invite(await api.createProject(name), 'editor');
    await invite(await api.createProject('Only to read'), 'viewer');
    return { api, person };
  });

  const inGraph = (page: Page, label: string): Locator =>
    page.getByRole('region', { name: 'Graph', exact: true }).getByRole('group', { name: label, exact: true });

  /** Drops files as a browser does when a person drags them over the page. */
  async function drop(page: Page, files: { name: string; text: string }[]): Promise<void> {
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      const files = ${JSON.stringify(files)};
      for (const { name, text } of files) transfer.items.add(new File([text], name, { type: 'application/json' }));
      return transfer;
    })()`);
    const list = page.getByRole('heading', { level: 1, name: 'Workflows' });
    await list.dispatchEvent('dragover', { dataTransfer: transfer });
    await page.getByText('Drop the file to import the workflow').waitFor();
    await list.dispatchEvent('drop', { dataTransfer: transfer });
    await page.getByText('Drop the file to import the workflow').waitFor({ state: 'detached' });
  }

  it('takes a dropped file, asks for the project, and opens the workflow', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await page.getByRole('heading', { level: 1, name: 'Workflows' }).waitFor();
    await drop(page, [{ name: 'From elsewhere.json', text: JSON.stringify(drawing) }]);
    const dialog = page.getByRole('dialog', { name: 'Import workflow' });
    const project = dialog.getByRole('combobox', { name: 'Project' });
    await project.waitFor();
    assert.deepEqual(await project.getByRole('option').allTextContents(), ['Alpha', 'Beta']);
    await project.selectOption({ label: 'Beta' });
    await assertAccessible(page, 'the choice of the project');
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByRole('heading', { level: 1, name: 'From elsewhere' }).waitFor();
    await inGraph(page, 'Start').waitFor();
    await page.goto('/workflows');
    await page
      .getByRole('row', { name: /From elsewhere/ })
      .getByRole('cell', { name: 'Beta' })
      .waitFor();
    await page.context().close();
  });

  it('lists what was left out of a file of n8n, node by node, and then opens what was taken over', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows', { ...NARROW, colorScheme: 'dark' });
    await page.getByRole('combobox', { name: 'Project' }).selectOption({ label: 'Alpha' });
    await page.waitForURL(/project=/);
    await drop(page, [{ name: 'apps.json', text: readFileSync(APPS, 'utf8') }]);
    const dialog = page.getByRole('dialog', { name: '“Apps in between” was imported' });
    const remarks = dialog.getByRole('list', { name: 'Remarks' }).getByRole('listitem');
    await remarks.first().waitFor();
    const said = await remarks.allTextContents();
    assert.equal(said.length, 6);
    for (const remark of [/^Tell Slack.*n8n-nodes-base\.mattermost was left out/, /^The whole file.*errors/]) {
      assert.ok(
        said.some((text) => remark.test(text)),
        said.join('\n'),
      );
    }
    await assertAccessible(page, 'what was left out, narrow and dark');
    await assertFits(page);
    await shoot(page, 'import-narrow');
    await dialog.getByRole('button', { name: 'Open workflow' }).press('Enter');
    await inGraph(page, 'Log').waitFor();
    await page.context().close();
  });

  it('stays on the list when asked to, which has the workflow then, and gives the focus back', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await page.getByRole('combobox', { name: 'Project' }).selectOption({ label: 'Alpha' });
    await page.waitForURL(/project=/);
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Import', exact: true }).press('Enter'),
    ]);
    await chooser.setFiles({ name: 'x.json', mimeType: 'application/json', buffer: readFileSync(APPS) });
    const dialog = page.getByRole('dialog', { name: '“Apps in between” was imported' });
    await dialog.waitFor();
    await shoot(page, 'import-wide');
    await dialog.getByRole('button', { name: 'Stay here' }).click();
    await dialog.waitFor({ state: 'detached' });
    await eventually(async () => (await page.evaluate('document.activeElement.textContent')) === 'Import');
    await page.getByRole('main').getByRole('link', { name: 'Apps in between' }).first().waitFor();
    await page.context().close();
  });

  it('says in place what is wrong with a file', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    const project = page.getByRole('combobox', { name: 'Project' });
    await project.selectOption({ label: 'Alpha' });
    await page.waitForURL(/project=/);
    const wrong: [files: { name: string; text: string }[], sentence: RegExp][] = [
      [[{ name: 'cut.json', text: '{"nodes"' }], /“cut\.json” was not imported: it is not a workflow in JSON\./],
      [[{ name: 'list.json', text: '[1]' }], /“list\.json” was not imported: it is not a workflow in JSON\./],
      [[{ name: 'two.json', text: '[{}, {}]' }], /list of 2 workflows\. Import them one by one\./],
      [
        [{ name: 'new.json', text: '{"format": "workflow-automation/9"}' }],
        /format: The format "workflow-automation\/9" is not known/,
      ],
      [[{ name: 'empty.json', text: '{"nodes": [], "connections": {}}' }], /nodes: The file has no nodes\./],
      [
        [
          { name: 'a.json', text: '{}' },
          { name: 'b.json', text: '{}' },
        ],
        /Drop one file at a time\./,
      ],
    ];
    for (const [files, sentence] of wrong) {
      await drop(page, files);
      await page.getByRole('alert').getByText(sentence).waitFor();
    }
    await assertAccessible(page, 'a refused file');
    await page.context().close();
  });

  it('exports what is on the screen, without secrets, and takes it back', async () => {
    const key = { id: 'key', title: 'Key', is_secret: true, default_value: 'a-long-secret' };
    const [start] = drawing.nodes;
    const data = { ...drawing, nodes: [{ ...start, data: { ...start!.data, input_fields: [key] } }] };
    const { body: projects } = await world.api.get<{ items: { id: number; name: string }[] }>(
      '/projects/?name__icontains=Alpha',
    );
    const id = await world.api.createWorkflow(projects.items[0]!.id, data, 'Round trip');
    const page = await world.browser.person(world.person.userId, `/workflows/${id}`);
    await inGraph(page, 'Start').waitFor();
    await page.getByRole('button', { name: 'Add HTTP request' }).click();
    await page.getByRole('button', { name: 'More' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export', exact: true }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'Round trip.json');
    const text = readFileSync(await download.path(), 'utf8');
    const file = JSON.parse(text) as { format: string; data: { nodes: unknown[] } };
    assert.equal(file.format, 'workflow-automation/1');
    assert.equal(file.data.nodes.length, 2);
    assert.ok(!text.includes('a-long-secret'));
    await page.getByText('All changes saved').waitFor();
    await page.goto(`/workflows?project=${projects.items[0]!.id}`);
    await drop(page, [{ name: 'back.json', text }]);
    const dialog = page.getByRole('dialog', { name: '“Round trip” was imported' });
    await dialog.getByText('Fill in the default of the secret field "key": a file holds no credentials.').waitFor();
    await page.context().close();
  });

  it('exports for a person who may only read', async () => {
    const { body } = await world.api.get<{ items: { id: number }[] }>('/projects/?name__icontains=Only to read');
    const id = await world.api.createWorkflow(body.items[0]!.id, drawing, 'To read');
    const page = await world.browser.person(world.person.userId, `/workflows/${id}`);
    await page.getByRole('button', { name: 'More' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export', exact: true }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'To read.json');
    await page.context().close();
  });

  it('runs a file of n8n after four presses, and leaves what is to be done at its nodes until it is done', async () => {
    const { account } = await createOwner(world.stack, 'Of n8n');
    const page = await world.browser.person(account.userId, '/workflows');
    await page.getByRole('heading', { level: 1, name: 'Workflows' }).waitFor();
    const pressed = await countPresses(page);
    await drop(page, [{ name: 'orders-of-the-day.json', text: readFileSync(ORDERS, 'utf8') }]);
    await page.getByRole('button', { name: 'Open workflow' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Start run' }).click();
    await inGraph(page, 'Each order, succeeded').waitFor({ timeout: 120_000 });
    assert.equal(await pressed(), 4);

    await page.getByRole('article', { name: 'Left out', exact: true }).waitFor();
    await openProblems(page);
    const problems = page.getByRole('region', { name: 'Problems', exact: true });
    await problems.getByText('googleSheets was left out').waitFor();
    await assertAccessible(page, 'what an import has left to do');
    await problems.getByRole('button', { name: 'Make this schedule' }).click();
    await page.getByRole('dialog', { name: 'New schedule' }).getByRole('button', { name: 'Make schedule' }).click();
    await page.getByRole('dialog', { name: 'New schedule' }).waitFor({ state: 'detached' });
    await problems.getByText('Make a schedule for the workflow').waitFor({ state: 'detached' });
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    const { body } = await account.api.get<{ items: { cron: string }[] }>(`/workflows/${id}/schedules/`);
    assert.deepEqual(
      body.items.map(({ cron }) => cron),
      ['0 9 * * *'],
    );
    await problems.getByRole('button', { name: /^Done: .*googleSheets was left out/ }).click();
    await problems.getByText('googleSheets was left out').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+s');
    await page.getByText('All changes saved').waitFor();
    await page.reload();
    await inGraph(page, 'Each order').or(inGraph(page, 'Each order, succeeded')).waitFor();
    await openProblems(page);
    await problems.getByText('This workflow can run.').waitFor();
    await page.context().close();
  });

  it('leads from a remark to the field that settles it', async () => {
    const { account, projectId } = await createOwner(world.stack, 'Credentials');
    const node = (name: string, type: string, more: object) => {
      return {
        id: name,
        name,
        type: `n8n-nodes-base.${type}`,
        typeVersion: 4.2,
        position: [0, 0],
        parameters: {},
        ...more,
      };
    };
    const fetching = {
      url: 'https://example.com',
      authentication: 'genericCredentialType',
      genericAuthType: 'oAuth2Api',
    };
    const file = {
      name: 'Fetch',
      nodes: [
        node('Start', 'manualTrigger', { typeVersion: 1 }),
        node('Fetch', 'httpRequest', { parameters: fetching, position: [220, 0] }),
      ],
      connections: { Start: { main: [[{ node: 'Fetch', type: 'main', index: 0 }]] } },
    };
    const { body } = await account.api.post<{ id: number }>(`/projects/${projectId}/import/`, { body: file });
    const page = await world.browser.person(account.userId, `/workflows/${body.id}`);
    await inGraph(page, 'Fetch').waitFor();
    await openProblems(page);
    const problems = page.getByRole('region', { name: 'Problems', exact: true });
    await problems.getByRole('button', { name: 'Choose the connection' }).click();
    const connection = page.getByRole('combobox', { name: /^Connection/ });
    await eventually(() =>
      connection
        .first()
        .evaluate(
          (field: unknown) =>
            field === (globalThis as { document?: { activeElement: unknown } }).document?.activeElement,
        ),
    );
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});

/** Opens the list of problems if it is folded. */
async function openProblems(page: Page): Promise<void> {
  const counter = page.getByRole('button', { name: /^Problems/ });
  if (await counter.isVisible()) await counter.click();
}
