import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { createAccount } from '../api/accounts.js';
import { createPerson, type Person } from '../api/sessions/people.js';
import { createApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, openConsole, useConsole } from './browser.js';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const link = (page: Page, name: string) => page.getByRole('main').getByRole('link', { name, exact: true });
const trigger = {
  nodes: [
    { id: 't', type: 'trigger-node', position: { x: 0, y: 0 }, data: { id: 't', label: 'Start', next_nodes: [] } },
  ],
  edges: [],
  start_node: 't',
};

describe('the list of workflows, and who may do what with one', function () {
  this.timeout(180_000);
  const world = useConsole(async (stack) => {
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const person = await createPerson(stack);
    const project = await api.createProject('Shared by the owner');
    const join = async (member: Person, role: string): Promise<void> => {
      const { status } = await api.post(`/projects/${project}/members/`, { body: { email: member.email, role } });
      assert.equal(status, 201);
    };
    await join(person, 'editor');
    const apples = await api.createWorkflow(project, trigger, 'Apples');
    await api.createWorkflow(project, trigger, 'Pears');
    return { api, person, project, join, apples };
  });

  it('tells a newcomer what to do, and makes their first project with their first workflow', async () => {
    const newcomer = await createPerson(world.stack);
    const page = await world.browser.person(newcomer.userId, '/workflows');
    await page.getByRole('button', { name: 'Draw the first workflow' }).click();
    const dialog = page.getByRole('dialog', { name: 'New workflow' });
    await dialog.getByRole('textbox', { name: 'Title' }).fill('The first');
    await dialog.getByRole('combobox', { name: 'Project' }).waitFor();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'The first' }).waitFor();
    await page.goto('/workflows');
    await link(page, 'The first').waitFor();
    await page.getByRole('combobox', { name: 'Project' }).selectOption({ label: 'My workflows' });
    await page.waitForURL(/\?project=\d+$/);
    await page.context().close();
  });

  it('shows the last runs as a picture with words, and cards on a phone', async () => {
    const owner = await createAccount(world.stack);
    const { workflowId } = await owner.api.runToEnd(trigger, {});
    const second = await owner.api.run(workflowId);
    await owner.api.pollToEnd(second.data.id);
    for (const options of [{}, NARROW, { ...NARROW, colorScheme: 'dark' } as const]) {
      const page = await world.browser.person(owner.userId, '/workflows', options);
      await page.getByRole('img', { name: 'Last 2 runs: 2 succeeded; the newest succeeded' }).waitFor();
      await page.getByRole('table', { name: 'Workflows' }).getByRole('rowheader').getByRole('link').waitFor();
      await assertAccessible(page, `workflows, ${JSON.stringify(options)}`);
      await assertFits(page);
      await page.context().close();
    }
  });

  it('searches, keeps its filters in the address, and puts bookmarked workflows first', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    const titles = () => page.getByRole('table', { name: 'Workflows' }).getByRole('link').allTextContents();
    await link(page, 'Pears').waitFor();
    assert.deepEqual(await titles(), ['Pears', 'Apples']);
    const bookmark = page.getByRole('row', { name: /Apples/ }).getByRole('button', { name: 'Bookmark' });
    await bookmark.click();
    await page.getByRole('button', { name: 'Bookmark', pressed: true }).waitFor();
    await eventually(async () => (await titles())[0] === 'Apples');
    await assertAccessible(page, 'the list');
    await page.keyboard.press('/');
    await page.keyboard.type('pear');
    await link(page, 'Apples').waitFor({ state: 'detached' });
    await page.waitForURL(/\?search=pear$/);
    await page.reload();
    await link(page, 'Pears').waitFor();
    assert.equal(await page.getByRole('searchbox', { name: 'Search workflows' }).inputValue(), 'pear');
    await page.goto(`/workflows?search=nothing+like+it`);
    await page.getByRole('button', { name: 'Show all workflows' }).click();
    await link(page, 'Apples').click();
    await page.waitForURL(new RegExp(`/workflows/${world.apples}$`));
    await page.context().close();
  });

  it('gives the focus back where a dialog was opened, by a button or from a menu', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await link(page, 'Apples').waitFor();
    await page.getByRole('button', { name: 'New workflow' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New workflow' }).waitFor();
    await page.keyboard.press('Escape');
    await eventually(async () => (await page.evaluate('document.activeElement.textContent')) === 'New workflow');
    await link(page, 'Apples').click();
    await page.getByRole('button', { name: 'More' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Delete workflow' }).press('Enter');
    await page.getByRole('alertdialog', { name: 'Delete workflow' }).getByRole('button', { name: 'Cancel' }).click();
    await eventually(async () => (await page.evaluate('document.activeElement.textContent')) === 'More');
    await page.context().close();
  });

  it('shows in the searchbox what it searches for, whichever way the address has changed', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows?search=pear');
    const search = page.getByRole('searchbox', { name: 'Search workflows' });
    await link(page, 'Pears').waitFor();
    assert.equal(await search.inputValue(), 'pear');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Workflows' }).click();
    await link(page, 'Apples').waitFor();
    assert.equal(await search.inputValue(), '');
    await page.goto('/workflows?project=999999');
    await page.getByText('No workflow matches.').waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Project' }).inputValue(), '999999');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('Empty yet');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByText('This project has no workflow yet.').waitFor();
    await page.context().close();
  });

  it('says in place why a bookmark was not set, and tries again when asked to', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows?search=pear');
    await page.route('**/add-bookmark/', (route) => route.fulfill({ status: 403, json: { detail: 'No.', code: 'x' } }));
    await page.getByRole('button', { name: 'Bookmark', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('Your role does not permit this.').waitFor();
    await page.unroute('**/add-bookmark/');
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Bookmark', pressed: true }).waitFor();
    assert.equal(await alert.count(), 0);
    await page.context().close();
  });

  it('begins with a copy of another workflow', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await page.getByRole('button', { name: 'New workflow' }).click();
    const dialog = page.getByRole('dialog', { name: 'New workflow' });
    await dialog.getByRole('textbox', { name: 'Title' }).fill('More apples');
    await dialog.getByRole('combobox', { name: 'Start from' }).selectOption({ label: 'Copy of Apples' });
    // A click beside the dialog closes it only if no text would be lost.
    await page.mouse.click(5, 5);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await region(page, 'Graph').getByRole('group', { name: 'Start', exact: true }).waitFor();
    await page.context().close();
  });

  it('shows a drawing to a viewer, who can change nothing of it', async () => {
    const viewer = await createPerson(world.stack);
    await world.join(viewer, 'viewer');
    const id = await world.api.createWorkflow(world.project, trigger, 'To look at');
    const page = await world.browser.person(viewer.userId, `/workflows/${id}`);
    await region(page, 'Graph').getByRole('group', { name: 'Start', exact: true }).click();
    const label = region(page, 'Node').getByRole('textbox', { name: 'Label' });
    assert.equal(await label.isDisabled(), true);
    for (const name of ['Save', 'Run', 'Undo', 'Publish', 'Add Trigger', 'Delete node']) {
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
    }
    await page.keyboard.press('Delete');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Versions' }).click();
    await page.getByRole('dialog', { name: 'Versions' }).getByText('Version 1 (now)').waitFor();
    // The versions were opened after the keys, which have neither deleted the node nor asked for a run.
    assert.equal(await page.getByRole('dialog', { name: 'Run workflow' }).count(), 0);
    await page.keyboard.press('Escape');
    await region(page, 'Graph').getByRole('group', { name: 'Start', exact: true }).waitFor();
    const { body } = await world.api.get<{ version: number }>(`/workflows/${id}/`);
    assert.equal(body.version, 1);
    await page.context().close();
  });

  it('asks whose drawing counts, whatever was to be changed, and stores the one that a person keeps', async () => {
    const id = await world.api.createWorkflow(world.project, trigger, 'Two at once');
    const labels = async (): Promise<string> => JSON.stringify((await world.api.get(`/workflows/${id}/`)).body);
    const changeElsewhere = async (label: string): Promise<void> => {
      const [node] = trigger.nodes;
      const data = { ...trigger, nodes: [{ ...node, data: { ...node!.data, label } }] };
      assert.equal((await world.api.patch(`/workflows/${id}/`, { body: { data } })).status, 200);
    };
    const page = await world.browser.person(world.person.userId, `/workflows/${id}`);
    const question = page.getByRole('dialog', { name: 'Changed meanwhile' });
    const node = (label: string) => region(page, 'Graph').getByRole('group', { name: label, exact: true });
    await node('Start').waitFor();
    await changeElsewhere('Theirs');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    const rename = page.getByRole('dialog', { name: 'Rename workflow' });
    const title = rename.getByRole('textbox', { name: 'Title' });
    await title.fill('Typed before the question');
    await rename.getByRole('button', { name: 'Rename' }).click();
    await question.getByRole('button', { name: 'Keep mine' }).click();
    await eventually(async () => (await labels()).includes('"Start"'));
    // The open dialog has kept its text, and gets the focus back.
    assert.equal(await title.inputValue(), 'Typed before the question');
    await rename.locator(':focus').waitFor();
    await rename.getByRole('button', { name: 'Rename' }).click();
    await rename.waitFor({ state: 'detached' });
    assert.match(await labels(), /"Typed before the question"/);
    await changeElsewhere('Theirs again');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Versions' }).click();
    await page.getByRole('button', { name: 'Restore version 1', exact: true }).click();
    await question.getByRole('button', { name: 'Take theirs' }).click();
    await page.keyboard.press('Escape');
    await node('Theirs again').waitFor();
    await page.context().close();
  });

  it('asks before signing out leaves unsaved changes', async () => {
    const id = await world.api.createWorkflow(world.project, trigger, 'Not saved yet');
    const page = await world.browser.person(world.person.userId, `/workflows/${id}`);
    await page.getByRole('button', { name: 'Add HTTP request' }).click();
    const signOut = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    };
    const question = page.getByRole('alertdialog', { name: 'Unsaved changes' });
    await signOut();
    await question.getByRole('button', { name: 'Stay' }).click();
    await region(page, 'Graph').getByRole('group', { name: 'HTTP request', exact: true }).waitFor();
    await signOut();
    await question.getByRole('button', { name: 'Leave', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  it('keeps the drawing where a part of the editor cannot be loaded', async () => {
    const id = await world.api.createWorkflow(world.project, trigger, 'With a missing part');
    // React and the browser log that a part is missing, so this browser need not be clean.
    const other = await openConsole(world.stack);
    const page = await other.person(world.person.userId, `/workflows/${id}`);
    await page.route('**/assets/code-editor*', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('button', { name: 'Add Code' }).click();
    await region(page, 'Node').getByRole('alert').first().getByRole('button', { name: 'Try again' }).waitFor();
    await region(page, 'Node').getByRole('textbox', { name: 'Label', exact: true }).fill('Still here');
    await region(page, 'Graph').getByRole('group', { name: 'Still here', exact: true }).waitFor();
    // Keys that are pressed on the tools around the graph act on the graph as well.
    await page.getByRole('button', { name: 'Add Condition' }).click();
    await page.keyboard.press('Delete');
    await region(page, 'Graph').getByRole('group', { name: 'Condition', exact: true }).waitFor({ state: 'detached' });
    await other.close();
  });

  it('starts a run with the digits that were written, more than a number of JavaScript holds', async () => {
    const id = await world.api.createWorkflow(world.project, trigger, 'Many digits');
    const page = await world.browser.person(world.person.userId, `/workflows/${id}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    const isJson = dialog.getByRole('checkbox', { name: 'Write the input as JSON' });
    const json = dialog.getByRole('textbox', { name: 'Input as JSON' });
    await isJson.check();
    await json.fill('{"big": 12345678901234567890}');
    // The trigger has no field for it, so unticking the box would lose it.
    await isJson.click();
    await dialog.getByText('To go back to the fields').waitFor();
    assert.equal(await isJson.isChecked(), true);
    await json.press('Control+Enter');
    await page.getByRole('region', { name: 'Last run' }).getByRole('link', { name: 'Open run' }).click();
    await page.waitForURL(/\/runs\//);
    await page.getByRole('button', { name: 'Change input' }).click();
    assert.match(await dialog.getByRole('textbox').inputValue(), /12345678901234567890/);
    await page.context().close();
  });

  it('publishes what a run has shown to work, and takes it back', async () => {
    const id = await world.api.createWorkflow(world.project, trigger, 'To publish');
    const { data } = await world.api.run(id);
    await world.api.pollToEnd(data.id);
    const page = await world.browser.person(world.stack.stack.user_id, `/workflows/${id}`);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Publish', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish' });
    const publish = dialog.getByRole('button', { name: 'Publish', exact: true });
    await dialog.getByRole('textbox', { name: 'Marketplace title' }).fill(`Published ${id}`);
    await dialog.getByRole('textbox', { name: 'Guide' }).fill('# How to use it');
    await publish.click();
    await dialog.getByText('Fill this in.').first().waitFor();
    await dialog.getByRole('textbox', { name: 'Short description' }).fill('Does nothing, reliably.');
    await dialog.getByRole('checkbox', { name: 'English' }).check();
    const template = dialog.getByRole('combobox', { name: 'Template run' });
    await template.selectOption({ index: 1 });
    assert.equal(await template.getByRole('option', { name: 'Choose…' }).count(), 0, 'it cannot be taken back');
    await publish.click();
    await dialog.getByRole('link', { name: 'see it on the marketplace' }).waitFor();
    await assertAccessible(page, 'publishing');
    const [start] = trigger.nodes;
    const theirs = { ...trigger, nodes: [{ ...start, data: { ...start!.data, label: 'Theirs' } }] };
    assert.equal((await world.api.patch(`/workflows/${id}/`, { body: { data: theirs } })).status, 200);
    await dialog.getByRole('button', { name: 'Unpublish' }).click();
    await dialog.getByRole('link').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    // The page has the answer to Unpublish, but not the drawing that somebody else saved before: no save overwrites it.
    await page.getByRole('button', { name: 'Add HTTP request' }).click();
    await page.keyboard.press('Control+s');
    const question = page.getByRole('dialog', { name: 'Changed meanwhile' });
    await question.getByRole('button', { name: 'Take theirs' }).click();
    await region(page, 'Graph').getByRole('group', { name: 'Theirs', exact: true }).waitFor();
    await page.context().close();
  });

  it('says Not found for a workflow that is not shared', async () => {
    const id = await world.api.createWorkflow(await world.api.createProject(), trigger);
    const page = await world.browser.person(world.person.userId, `/workflows/${id}`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.context().close();
  });

  it('breaks no policy, throws nothing and asks no other origin', () => world.browser.assertClean());
});
