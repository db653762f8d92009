import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { changeUser, createAccount, giveRole, type Account } from '../api/accounts.js';
import { createPerson, signedIn } from '../api/sessions/people.js';
import { deliveriesOf, startRun } from '../api/webhook-receiver.js';
import { createApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { assertAccessible } from './axe.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const TABS = [
  'api-keys',
  'members',
  'provider-keys',
  'connections',
  'webhooks',
  'starts',
  'sessions',
  'password',
  'audit',
];
/** The labels of the tabs that differ from their ids in more than capitals. */
const LABELS: Readonly<Record<string, string>> = {
  'api-keys': 'API keys',
  'provider-keys': 'Provider keys',
  starts: 'Schedules and hooks',
};
/** Counts the tables that scroll sideways. */
const WIDE_TABLES = `[...document.querySelectorAll('.table-frame')].filter((each) => each.scrollWidth > each.clientWidth).length`;
const button = (at: Page | Locator, name: string) => at.getByRole('button', { name, exact: true });
const textbox = (at: Page | Locator, name: string) => at.getByRole('textbox', { name, exact: true });

describe('the settings', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({
    ...(await createOwner(stack, 'Sums')),
    target: await startHttpTarget(),
  }));

  const administrators: Account[] = [];
  async function createAdministrator(): Promise<Account> {
    const account = await createAccount(world.stack);
    administrators.push(account);
    await changeUser(world.stack, account, { is_admin: true });
    return account;
  }
  afterEach(async () => {
    for (const account of administrators.splice(0)) await changeUser(world.stack, account, { is_admin: false });
  });

  const open = (tab: string, who = world.account, options = {}): Promise<Page> =>
    world.browser.person(who.userId, `/settings?tab=${tab}&project=${world.projectId}`, options);

  it('make an API key, show it once, change it and delete it', async () => {
    const page = await open('api-keys');
    await button(page, 'Create key').click();
    const dialog = page.getByRole('dialog', { name: 'Create key' });
    await textbox(dialog, 'Label').fill('nightly <b>job</b>');
    await dialog.getByRole('combobox', { name: 'Restricted to' }).selectOption({ label: 'Sums' });
    await dialog.getByRole('combobox', { name: 'Scope' }).selectOption({ label: 'Read' });
    // A day without a time, which browsers report as an empty field.
    await textbox(dialog, 'Expires').click({ position: { x: 12, y: 12 } });
    await page.keyboard.type('01012099');
    await button(dialog, 'Create key').click();
    const isPartial = page.getByText('Fill in the date and the time, or clear both.');
    await isPartial.waitFor();
    await textbox(dialog, 'Expires').fill('2001-01-01T00:00');
    await isPartial.waitFor({ state: 'detached' });
    await button(dialog, 'Create key').click();
    await dialog.getByText('Enter a time in the future.').waitFor();
    await textbox(dialog, 'Expires').fill('2099-01-01T00:00');
    await button(dialog, 'Create key').click();
    const shown = page.getByRole('group', { name: 'Your new key' });
    await button(shown, 'Copy key').waitFor();
    const key = await shown.getByRole('code').innerText();
    assert.equal((await createApiClient(world.stack.apiUrl, key).get('/projects/')).status, 200);
    await eventually(async () => (await page.evaluate('document.activeElement.ariaLabel')) === 'Your new key');
    await button(shown, 'Done').click();
    assert.equal((await page.content()).includes(key), false);
    const row = page.getByRole('row', { name: /nightly/ });
    assert.match(await row.innerText(), new RegExp(`nightly <b>job</b>\\s+${key.slice(-4)}\\s+Sums\\s+Read`));
    await button(row, 'Edit').click();
    const editing = page.getByRole('dialog', { name: 'Edit key' });
    await textbox(editing, 'Label').fill('weekly');
    const expiry = await textbox(editing, 'Expires').inputValue();
    await textbox(editing, 'Expires').click({ position: { x: 12, y: 12 } });
    await page.keyboard.press('Backspace');
    assert.equal(await textbox(editing, 'Expires').inputValue(), '');
    await button(page, 'Save').click();
    await isPartial.waitFor();
    await textbox(editing, 'Expires').fill(expiry);
    await button(page, 'Save').click();
    const changed = page.getByRole('row', { name: /weekly/ });
    await button(changed, 'Delete').click();
    await page.getByRole('alertdialog', { name: 'Delete key' }).getByRole('button', { name: 'Delete' }).click();
    // Elements behind a dialog have no role, so the test waits until it has closed.
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await changed.waitFor({ state: 'detached' });
    assert.equal((await createApiClient(world.stack.apiUrl, key).get('/projects/')).status, 401);
    await page.context().close();
  });

  it('add a member, change the role, remove, and take the removal back', async () => {
    const person = await createPerson(world.stack);
    const page = await open('members');
    await textbox(page, 'Email').fill('nobody@nowhere.example');
    await button(page, 'Add member').click();
    await page.getByText('No user has this e-mail address.').waitFor();
    await textbox(page, 'Email').fill(person.email);
    await page.getByRole('combobox', { name: 'Role' }).selectOption('viewer');
    await button(page, 'Add member').click();
    const row = page.getByRole('row', { name: person.email });
    await row.getByRole('combobox').selectOption('admin');
    const roles = async (): Promise<string[]> => {
      const { body } = await world.account.api.get<{ items: { role: string }[] }>(
        `/projects/${world.projectId}/members/`,
      );
      return body.items.map(({ role }) => role);
    };
    await eventually(async () => (await roles()).join() === 'owner,admin');
    await button(row, 'Remove').click();
    await row.waitFor({ state: 'detached' });
    await button(page, 'Undo').click();
    await row.waitFor();
    assert.deepEqual(await roles(), ['owner', 'admin']);
    await button(page.getByRole('row', { name: /\(you\)/ }), 'Leave').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByText('A project needs an owner.').waitFor();
    await page.context().close();
  });

  it('store a provider key and never show it again', async () => {
    const page = await open('provider-keys');
    const secret = `sk-${randomUUID()}`;
    await textbox(page, 'Provider').fill('fake');
    await textbox(page, 'Key').fill(secret);
    await button(page, 'Add provider key').click();
    const row = page.getByRole('table', { name: 'Provider keys' }).getByRole('row', { name: /^fake/ });
    await row.waitFor();
    assert.equal(await textbox(page, 'Key').inputValue(), '');
    assert.equal((await page.content()).includes(secret), false);
    await button(row, 'Delete').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The project has no keys of its own').waitFor();
    await page.context().close();
  });

  it('point a webhook somewhere, show its secret once, and send an event again', async () => {
    const path = `/hooks/${randomUUID()}`;
    world.target.on(path, { status: 200 });
    const page = await open('webhooks');
    await textbox(page, 'Webhook URL').fill('nonsense');
    await button(page, 'Save').click();
    await page.getByText(/^Enter an address/).waitFor();
    await textbox(page, 'Webhook URL').fill(world.target.url + path);
    await page.getByRole('checkbox', { name: 'Send events' }).check();
    await button(page, 'Save').click();
    await button(page, 'New signing secret').click();
    await button(page, 'Make secret').click();
    const shown = page.getByRole('group', { name: 'Your new signing secret' });
    assert.match(await shown.getByRole('code').innerText(), /^whsec_/);
    await startRun(world.account.api, world.projectId);
    const row = page.getByRole('row', { name: /workflow_run\.succeeded/ });
    await row.getByText('delivered').waitFor();
    const { id } = (await deliveriesOf(world.account.api, world.projectId)).at(-1)!;
    await button(row, 'Send again').click();
    await eventually(async () => {
      const sent = (await deliveriesOf(world.account.api, world.projectId)).find((delivery) => delivery.id === id);
      return (sent?.attempts ?? 0) >= 2;
    });
    await page.context().close();
  });

  it('correct the address of a webhook without undoing what another admin has switched on meanwhile', async () => {
    const { account, projectId } = await createOwner(world.stack, 'Two admins');
    const change = (body: object) => account.api.patch(`/projects/${projectId}/`, { body });
    assert.equal((await change({ webhook_url: `${world.target.url}/wrong` })).status, 200);
    const page = await world.browser.person(account.userId, `/settings?tab=webhooks&project=${projectId}`);
    const events = page.getByRole('checkbox', { name: 'Send events' });
    assert.equal(await events.isChecked(), false);
    assert.equal((await change({ is_webhook_enabled: true })).status, 200);
    const corrected = `${world.target.url}/corrected`;
    await textbox(page, 'Webhook URL').fill(corrected);
    await button(page, 'Save').click();
    const stored = await eventually(async () => {
      const { body } = await account.api.get<Record<string, unknown>>(`/projects/${projectId}/`);
      return body['webhook_url'] === corrected ? body : undefined;
    });
    assert.equal(stored['is_webhook_enabled'], true);
    await eventually(() => events.isChecked());
    await page.context().close();
  });

  it('list the sessions and end another one', async () => {
    const person = await createPerson(world.stack);
    const [page, other] = [
      await world.browser.person(person.userId, '/settings?tab=sessions'),
      await world.browser.person(person.userId),
    ];
    const table = page.getByRole('table', { name: 'Sessions' });
    await page.reload();
    await button(table, 'End').click();
    await button(table, 'End').waitFor({ state: 'detached' });
    assert.equal(await table.getByText('This session').count(), 1);
    await other.goto('/inbox');
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.context().close();
    await other.context().close();
  });

  it('hide from a viewer what the role does not allow, and say why', async () => {
    const viewer = await createAccount(world.stack);
    await giveRole(world.stack, viewer, world.projectId, 'viewer');
    const page = await open('members', viewer);
    await page.getByText('Your role in this project is viewer.').waitFor();
    assert.equal(await button(page, 'Add member').count(), 0);
    assert.equal(await button(page, 'Remove').count(), 0);
    for (const [name, hidden] of [
      ['Provider keys', 'Add provider key'],
      ['Webhooks', 'Save'],
    ] as const) {
      await page.getByRole('tab', { name }).click();
      await page.getByRole('tabpanel', { name }).getByText('Your role in this project is viewer.').waitFor();
      assert.equal(await button(page, hidden).count(), 0);
    }
    assert.equal(await page.getByRole('tab', { name: 'Users' }).count(), 0);
    await page.context().close();
  });

  it('let administrators make and change users', async () => {
    const admin = await createAdministrator();
    const page = await open('users', admin);
    const name = `Grace ${randomUUID()}`;
    await button(page, 'New user').click();
    await textbox(page, 'Name').fill(name);
    await button(page, 'Create').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Search users' }).fill(name);
    const row = page.getByRole('row', { name: new RegExp(name) });
    await button(row, 'Edit').click();
    await page.getByRole('checkbox', { name: 'API access' }).uncheck();
    await button(page, 'Save').click();
    await row.getByRole('cell', { name: 'No' }).nth(1).waitFor();
    await page.context().close();
  });

  it('let administrators hand out a password link, end sessions and lock somebody out', async () => {
    const admin = await createAdministrator();
    const person = await createPerson(world.stack);
    const { session } = await signedIn(world.stack, person);
    const page = await open('users', admin);
    await page.getByRole('searchbox', { name: 'Search users' }).fill(person.email);
    const row = page.getByRole('row', { name: new RegExp(person.email, 'i') });
    await button(row, 'Sessions').click();
    await button(page.getByRole('dialog'), 'End all sessions').click();
    await page.getByText('The user is signed in nowhere.').waitFor();
    await button(page.getByRole('dialog'), 'Close').click();
    assert.equal((await createApiClient(world.stack.apiUrl, { session }).get('/me/')).status, 401);
    await button(row, 'Password link').click();
    const url = await page
      .getByRole('group', { name: /^Password link of Ada/ })
      .getByRole('code')
      .innerText();

    const theirs = await world.browser.visitor();
    await theirs.goto(url);
    await textbox(theirs, 'New password').waitFor();
    assert.equal(new URL(theirs.url()).hash, '', 'the token leaves the address bar');
    await assertAccessible(theirs, 'a password link');
    await textbox(theirs, 'New password').fill('qwerty123456');
    await button(theirs, 'Set password').click();
    await theirs.getByText('one of the most common ones').waitFor();
    await textbox(theirs, 'New password').fill('correct horse battery');
    await button(theirs, 'Set password').click();
    await button(theirs, 'Account').waitFor();
    assert.equal(new URL(theirs.url()).pathname, '/workflows');
    await button(theirs, 'Account').click();
    await theirs.getByRole('menuitem', { name: 'Sessions' }).click();
    await theirs.getByRole('table', { name: 'Sessions' }).waitFor();
    await button(theirs, 'Account').click();
    await theirs.getByRole('menuitem', { name: 'Change password' }).click();
    await textbox(theirs, 'Current password').fill('not it');
    await textbox(theirs, 'New password').fill('correct horse battery staple');
    await button(theirs, 'Change password').click();
    await theirs.getByText('This is not your password.').waitFor();
    await textbox(theirs, 'Current password').fill('correct horse battery');
    await button(theirs, 'Change password').click();
    await theirs.getByRole('tabpanel').getByRole('status').getByText('The password is changed.').waitFor();

    await button(row, 'Deactivate').click();
    await button(page.getByRole('dialog'), 'Deactivate').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await theirs.goto('/runs');
    await button(theirs, 'Sign in').first().waitFor();
    await button(row, 'Activate').click();
    await button(row, 'Deactivate').waitFor();
    await theirs.goto(url);
    await textbox(theirs, 'New password').fill('correct horse battery');
    await button(theirs, 'Set password').click();
    await theirs.getByText('This link was used before').waitFor();
    await theirs.context().close();
    await page.context().close();
  });

  it('make, rename and delete a project', async () => {
    const newcomer = await createAccount(world.stack);
    const page = await world.browser.person(newcomer.userId, '/settings?tab=members');
    await page.getByText('You have no project yet.').waitFor();
    for (const [action, name, done] of [
      ['New project', 'Greetings', 'Create'],
      ['Rename', 'Kind greetings', 'Rename'],
    ] as const) {
      if (action === 'Rename') await button(page, 'Change project').click();
      await (action === 'Rename' ? page.getByRole('menuitem', { name: action }) : button(page, action)).click();
      await textbox(page, 'Name').fill(name);
      await button(page.getByRole('dialog'), done).click();
      await page.getByRole('combobox', { name: 'Project' }).filter({ hasText: name }).waitFor();
    }
    await page.getByText('The project stores 0 bytes:').waitFor();
    await button(page, 'Change project').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('You have no project yet.').waitFor();
    await page.context().close();
  });

  it('stand in groups, of the project, of the person and of the service, whose tabs keys select', async () => {
    const page = await open('members');
    const groups = async () =>
      Promise.all((await page.getByRole('tablist').all()).map((list) => list.getAttribute('aria-label')));
    await page.getByText('The project stores').waitFor();
    assert.deepEqual(await groups(), ['Project', 'You']);
    const own = page.getByRole('tablist', { name: 'You' });
    assert.deepEqual(await own.getByRole('tab').allTextContents(), ['API keys', 'Sessions', 'Password']);
    await page.getByRole('tab', { name: 'Members' }).press('ArrowDown');
    await page.getByRole('tab', { name: 'Provider keys' }).press('Enter');
    await page.waitForURL(/tab=provider-keys/);
    await own.getByRole('tab', { name: 'Sessions' }).click();
    await page.getByRole('tabpanel', { name: 'Sessions' }).waitFor();
    // The storage of the project is not shown on the tabs of the person.
    assert.equal(await page.getByText('The project stores').count(), 0);
    await changeUser(world.stack, world.account, { is_admin: true });
    await page.reload();
    await page.getByRole('tablist', { name: 'Service' }).getByRole('tab', { name: 'Users' }).waitFor();
    await changeUser(world.stack, world.account, { is_admin: false });
    await page.context().close();
  });

  it('keep the tab in the address, are accessible, and fit a phone', async () => {
    for (const options of [{}, { ...NARROW, colorScheme: 'dark' as const }]) {
      const page = await open('api-keys', world.account, options);
      for (const tab of TABS) {
        await page.goto(`/settings?tab=${tab}&project=${world.projectId}`);
        await page.getByRole('tab', { name: LABELS[tab] ?? tab, selected: true }).waitFor();
        await page.getByRole('tabpanel').waitFor();
        await page.waitForLoadState('networkidle');
        await assertAccessible(page, `settings, ${tab}`);
        await assertFits(page, tab);
        assert.equal(await page.evaluate(WIDE_TABLES), 0, `${tab}: rows are cards on a phone`);
      }
      const members = page.getByRole('tab', { name: 'Members', exact: true });
      await members.click();
      await page.waitForURL(/[?&]tab=members\b/);
      await page.reload();
      await page.getByRole('tab', { name: 'Members', exact: true, selected: true }).waitFor();
      await page.context().close();
    }
  });

  it('of administrators are accessible, and fit a phone', async () => {
    const admin = await createAdministrator();
    const page = await open('users', admin, { ...NARROW, colorScheme: 'dark' as const });
    for (const [tab, table] of [
      ['users', 'Users'],
      ['service-audit', 'Audit'],
    ] as const) {
      await page.goto(`/settings?tab=${tab}`);
      await page.getByRole('table', { name: table, exact: true }).waitFor();
      await assertAccessible(page, `settings, ${tab}`);
      await assertFits(page, tab);
      assert.equal(await page.evaluate(WIDE_TABLES), 0, tab);
    }
    await page.context().close();
  });

  it('have broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
