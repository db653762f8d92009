import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { changeUser, createAccount, giveRole } from '../api/accounts.js';
import { chain } from '../../harness/drawing/drawing.js';
import { assertAccessible } from './axe.js';
import { assertFits, NARROW, shoot, useConsole } from './browser.js';

describe('the audit log in the console', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => {
    const owner = await createAccount(stack);
    await changeUser(stack, owner, { name: 'Ada' });
    const projectId = await owner.api.createProject('Sums');
    const workflow = await owner.api.createWorkflow(projectId, chain(1), 'Adds <b>up</b>');
    await owner.api.patch(`/workflows/${workflow}/`, { body: { title: 'Adds', data: chain(2) } });
    const viewer = await createAccount(stack);
    await changeUser(stack, viewer, { name: 'Eve' });
    await giveRole(stack, viewer, projectId, 'viewer');
    await viewer.api.delete(`/workflows/${workflow}/`);
    return { owner, projectId };
  });

  const open = (tab: string, who = world.owner, options = {}): Promise<Page> =>
    world.browser.person(who.userId, `/settings?tab=${tab}&project=${world.projectId}`, options);
  const rows = (page: Page) => page.getByRole('table', { name: 'Audit' }).getByRole('row');

  it('tells owners and admins who has changed what and who was refused, and filters', async () => {
    const page = await open('audit');
    const refused = page.getByRole('row', { name: /Deleted workflow/ });
    await refused.waitFor();
    assert.match(await refused.innerText(), /Eve\s+with API key \d+, 127\.0\.0\.1[^]*refused/);
    const changed = page.getByRole('row', { name: /Changed workflow/ });
    assert.match(await changed.innerText(), /Ada[^]*Adds[^]*data: 1 → 2[^]*title: Adds <b>up<\/b> → Adds/);
    await assertAccessible(page, 'the audit log');
    await shoot(page, 'audit-wide');
    await page.getByRole('combobox', { name: 'Action' }).selectOption({ label: 'Created project' });
    await page.getByRole('row', { name: /Deleted workflow/ }).waitFor({ state: 'detached' });
    assert.equal(await rows(page).count(), 2);
    await page.getByRole('combobox', { name: 'User' }).selectOption({ label: 'Eve' });
    await page.getByText('Nothing was recorded that fits these filters.').waitFor();
    await page.context().close();
  });

  it('names the client of an assistant once, with its API key if it has one', async () => {
    const page = await world.browser.person(world.owner.userId, '/costs');
    await page.route(`**/projects/${world.projectId}/audit/**`, async (route) => {
      const answer = await route.fetch();
      const { items, ...rest } = (await answer.json()) as { items: Record<string, unknown>[] };
      const byAssistant = items.map((item, at) => ({
        ...item,
        via: 'mcp',
        client: at === 0 ? 'Assistant in the editor' : 'Some client',
        key_id: at === 0 ? null : 7,
      }));
      await route.fulfill({ response: answer, json: { items: byAssistant, ...rest } });
    });
    await page.goto(`/settings?tab=audit&project=${world.projectId}`);
    const details = page.getByText(/127\.0\.0\.1$/);
    await details.nth(1).waitFor();
    const [first, second] = await details.allTextContents();
    assert.match(first!, /^by Assistant in the editor, 127/);
    assert.match(second!, /^by Some client with API key 7, 127/);
    await page.context().close();
  });

  it('asks for a day once its date is complete, not for each digit', async () => {
    const page = await open('audit');
    await page.getByRole('row', { name: /Deleted workflow/ }).waitFor();
    const asked: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/audit/')) asked.push(searchParams.get('from'));
    });
    await page.getByRole('textbox', { name: 'From' }).click({ position: { x: 12, y: 12 } });
    await page.keyboard.type('01312099');
    await page.getByText('Nothing was recorded that fits these filters.').waitFor();
    assert.deepEqual(asked, ['2099-01-31']);
    await page.getByRole('textbox', { name: 'From' }).fill('');
    await page.getByRole('row', { name: /Deleted workflow/ }).waitFor();
    await page.context().close();
  });

  it('is not offered to editors', async () => {
    const editor = await createAccount(world.stack);
    await giveRole(world.stack, editor, world.projectId, 'editor');
    const page = await open('audit', editor);
    await page.getByRole('tab', { name: 'Sessions' }).waitFor();
    assert.equal(await page.getByRole('tab', { name: 'Audit' }).count(), 0);
    await page.context().close();
  });

  it('tells administrators of everything, sign-ins too', async () => {
    const administrator = await createAccount(world.stack);
    await changeUser(world.stack, administrator, { is_admin: true });
    const page = await open('service-audit', administrator);
    await page
      .getByRole('row', { name: /Signed in/ })
      .first()
      .waitFor();
    await assertAccessible(page, 'the audit log of the service');
    await shoot(page, 'audit-service');
    await page.context().close();
  });

  it('fits a phone, and the dark', async () => {
    const phone = await open('audit', world.owner, NARROW);
    await phone.getByRole('row', { name: /Deleted workflow/ }).waitFor();
    await assertFits(phone);
    await shoot(phone, 'audit-narrow');
    await phone.context().close();
    const dark = await open('audit', world.owner, { colorScheme: 'dark' });
    await dark.getByRole('row', { name: /Deleted workflow/ }).waitFor();
    await assertAccessible(dark, 'the audit log in the dark');
    await shoot(dark, 'audit-dark');
    await dark.context().close();
  });
});
