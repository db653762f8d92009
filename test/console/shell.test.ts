import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { createPerson } from '../api/sessions/people.js';
import { assertAccessible } from './axe.js';
import { chain } from '../../harness/drawing/drawing.js';
import { assertFits, createOwner, NARROW, useConsole } from './browser.js';

const PLACES = ['Workflows', 'Runs', 'Inbox', 'Marketplace', 'Costs', 'Settings'];
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
const linkTo = (page: Page, place: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: new RegExp(`^${place}(,|$)`) });
const focused = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent');

describe('the frame of the console', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({ person: await createPerson(stack) }));

  it('leads to every place, whose heading and window title name it, and marks where one is', async () => {
    const page = await world.browser.person(world.person.userId);
    await heading(page, 'Workflows').waitFor();
    for (const place of PLACES) {
      await linkTo(page, place).click();
      await heading(page, place).waitFor();
      assert.equal(await page.title(), `${place} · Workflow automation`);
      assert.equal(await linkTo(page, place).getAttribute('aria-current'), 'page');
      assert.equal(new URL(page.url()).pathname, `/${place.toLowerCase()}`);
    }
    await page.goBack();
    await heading(page, 'Costs').waitFor();
    await page.context().close();
  });

  it('tells in the name of the inbox how many requests wait', async () => {
    const page = await world.browser.visitor();
    const answer = (total: number) => ({ page: 1, size: 1, total, items: [] });
    await page.route('**/api/v1/agent-approvals/?status=pending&size=1', (route) => route.fulfill({ json: answer(2) }));
    await page.goto('/costs');
    const { email, password } = world.person;
    await page.getByRole('textbox', { name: 'Email' }).fill(email);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const link = page.getByRole('link', { name: 'Inbox, 2 waiting', exact: true });
    await link.waitFor();
    assert.equal(await link.getAttribute('aria-label'), null, 'the name holds the words that people see');
    await page.unroute('**/api/v1/agent-approvals/?status=pending&size=1');
    await page.reload();
    await page.waitForLoadState('networkidle');
    await page.getByRole('link', { name: 'Inbox', exact: true }).waitFor();
    await page.context().close();
  });

  it('says Not found for unknown addresses and ids, and keeps the navigation', async () => {
    const page = await world.browser.person(world.person.userId, '/costs');
    await page.evaluate(`history.pushState(null, '', '/nothing/here')`);
    await heading(page, 'Not found').waitFor();
    for (const at of ['/worklfows', '/workflows/none', '/workflows/0', '/workflows/99999999999999999999']) {
      await page.goto(at);
      await heading(page, 'Not found').waitFor();
    }
    await assertAccessible(page, 'not found');
    const visitor = await world.browser.visitor();
    for (const each of [page, visitor]) {
      for (const at of ['/settings/nothing', '/workflows/abc/nothing']) {
        assert.equal((await each.goto(at))?.status(), 404, at);
        await heading(each, 'Not found').waitFor();
      }
    }
    await visitor.context().close();
    await linkTo(page, 'Runs').click();
    await heading(page, 'Runs').waitFor();
    await page.context().close();
  });

  it('goes to pages, workflows and runs by Ctrl+K and a few letters', async () => {
    const page = await world.browser.person(world.person.userId, '/costs');
    await heading(page, 'Costs').waitFor();
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Go to' });
    await dialog.getByRole('searchbox').waitFor();
    await assertAccessible(page, 'the dialog Go to');
    await page.keyboard.type('settin');
    await dialog.getByRole('link', { name: 'Inbox' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await heading(page, 'Settings').waitFor();
    await page.keyboard.press('Control+k');
    await dialog.getByRole('link', { name: 'Workflows' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heading(page, 'Runs').waitFor();
    await dialog.waitFor({ state: 'detached' });
    const { account, projectId } = await createOwner(world.stack, 'Found');
    const workflowId = await account.api.createWorkflow(projectId, chain(1), 'Quarterly figures');
    const runId = (await account.api.run(workflowId)).data.id;
    const own = await world.browser.person(account.userId, '/costs');
    const found = own.getByRole('dialog', { name: 'Go to' });
    for (const [group, at] of [
      ['Workflows', `/workflows/${workflowId}`],
      ['Runs', `/runs/${runId}`],
    ] as const) {
      await own.keyboard.press('Control+k');
      await found.getByRole('searchbox').waitFor();
      await own.keyboard.type('quarterly');
      await found.getByRole('region', { name: group, exact: true }).getByRole('link').first().click();
      await own.waitForURL((url) => url.pathname === at);
      await found.waitFor({ state: 'detached' });
    }
    await own.context().close();
    await page.context().close();
  });

  it('shows the keys by ? on every page, and finds the search of the page by /', async () => {
    const page = await world.browser.person(world.person.userId, '/workflows');
    await heading(page, 'Workflows').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('is it ?');
    const search = page.getByRole('searchbox', { name: 'Search workflows' });
    assert.equal(await search.inputValue(), 'is it ?', 'a text is written as it is');
    for (const place of ['Costs', 'Workflows']) {
      await linkTo(page, place).click();
      await heading(page, place).waitFor();
      await page.keyboard.press('?');
      const dialog = page.getByRole('dialog', { name: 'Keys', exact: true });
      await dialog.getByText('Go to a page, a workflow or a run').waitFor();
      await assertAccessible(page, 'the dialog Keys');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    await page.context().close();
  });

  it('is open for visitors at the marketplace, with a way to sign in', async () => {
    const page = await world.browser.visitor();
    await page.goto('/marketplace');
    await heading(page, 'Marketplace').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await heading(page, 'Sign in').waitFor();
    assert.equal(new URL(page.url()).search, '?next=%2Fmarketplace');
    await page.context().close();
  });

  it('can be used by keyboard alone: skip link, navigation, account menu', async () => {
    const page = await world.browser.person(world.person.userId, '/costs');
    await heading(page, 'Costs').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'Skip to content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    await linkTo(page, 'Runs').focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Runs').waitFor();
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    await page.getByRole('button', { name: 'Account' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await assertAccessible(page, 'open account menu');
    await page.keyboard.press('Escape');
    assert.equal(await focused(page), 'Account');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await heading(page, 'Sign in').waitFor();
    await page.context().close();
  });

  it('opens its navigation by the button Menu on a narrow screen, and closes it on the way', async () => {
    const page = await world.browser.person(world.person.userId, '/costs', NARROW);
    const menu = page.getByRole('button', { name: 'Menu', exact: true });
    assert.equal(await linkTo(page, 'Runs').isVisible(), false);
    await menu.click();
    assert.equal(await menu.getAttribute('aria-expanded'), 'true');
    await assertAccessible(page, 'open menu at 390 px');
    await linkTo(page, 'Runs').focus();
    await page.keyboard.press('Escape');
    assert.equal(await linkTo(page, 'Runs').isVisible(), false);
    assert.equal(await focused(page), 'Menu');
    await menu.click();
    await linkTo(page, 'Runs').click();
    await heading(page, 'Runs').waitFor();
    assert.equal(await linkTo(page, 'Costs').isVisible(), false);
    await assertFits(page);
    await page.context().close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no serious violation of accessibility in ${colorScheme} colours`, async () => {
      const page = await world.browser.person(world.person.userId, '/costs', { colorScheme });
      await heading(page, 'Costs').waitFor();
      await assertAccessible(page, `frame, ${colorScheme}`);
      await page.context().close();
    });
  }

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});
