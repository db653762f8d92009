import assert from 'node:assert/strict';
import type { Page, Request } from 'playwright-core';
import { claimPort } from '../../cli/embedded/ports.js';
import { startApiProcess, type ApiProcess } from '../../harness/stack/api-process.js';
import { startIssuer, type Issuer } from '../api/sessions/issuer.js';
import { createLink, createPerson, type Person } from '../api/sessions/people.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { assertAccessible } from './axe.js';
import { openConsole, useConsole, type ConsoleBrowser } from './browser.js';

const REFRESH = '/api/v1/auth/refresh/';
const pathOf = (page: Page): string => page.url().slice(new URL(page.url()).origin.length);
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

async function fillIn(page: Page, { email, password }: Pick<Person, 'email' | 'password'>): Promise<void> {
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await heading(page, 'Sign in').waitFor();
}

function countRefreshes(page: Page): () => number {
  let count = 0;
  page.on('request', (request: Request) => (count += Number(new URL(request.url()).pathname === REFRESH)));
  return () => count;
}

describe('signing in to the console', function () {
  this.timeout(120_000);
  const world = useConsole(async (stack) => ({ person: await createPerson(stack) }));

  it('asks a visitor who they are, and leads back to the address that was asked for', async () => {
    const page = await world.browser.visitor();
    await page.goto('/runs?status=failed');
    await heading(page, 'Sign in').waitFor();
    await assertAccessible(page, 'sign-in');
    await fillIn(page, world.person);
    await heading(page, 'Runs').waitFor();
    assert.equal(pathOf(page), '/runs?status=failed');
    await page.context().close();
  });

  it('says in an alert that the password is wrong, and lets the person try again', async () => {
    const page = await world.browser.visitor();
    await page.goto('/sign-in');
    await fillIn(page, { ...world.person, password: 'not it' });
    await page.getByRole('alert').getByText('The e-mail address or the password is wrong.').waitFor();
    await assertAccessible(page, 'sign-in with a wrong password');
    await page.getByRole('textbox', { name: 'Password' }).fill(world.person.password);
    await page.keyboard.press('Enter');
    await heading(page, 'Workflows').waitFor();
    assert.equal(pathOf(page), '/workflows');
    await page.context().close();
  });

  it('shows what is missing beside its field', async () => {
    const page = await world.browser.visitor();
    await page.goto('/sign-in');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const email = page.getByRole('textbox', { name: 'Email' });
    await page
      .getByText(/^(?:Enter |Fill this in\.)/)
      .first()
      .waitFor();
    assert.equal(await email.getAttribute('aria-invalid'), 'true');
    await page.context().close();
  });

  it('says how long somebody has to wait who has failed too often', async () => {
    const page = await world.browser.visitor();
    await page.goto('/sign-in');
    const other = await createPerson(world.stack);
    const alert = page.getByRole('alert');
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      const answered = page.waitForResponse((response) => response.url().endsWith('/login/'));
      await fillIn(page, { ...other, password: `wrong ${attempt}` });
      await answered;
    }
    await alert.getByText(/^Too many requests\. Try again in [1-6]?\d seconds?\.$/).waitFor();
    await page.context().close();
  });

  it('takes a link once, and clears its token out of the address; a used one is told of', async () => {
    const token = await createLink(world.stack, world.person.userId);
    const page = await world.browser.visitor();
    await page.goto(`/#token=${token}`);
    await heading(page, 'Workflows').waitFor();
    assert.equal(pathOf(page), '/workflows', 'without the token');
    assert.ok(
      !JSON.stringify(await page.evaluate('[{...localStorage}, {...sessionStorage}, document.cookie]')).includes('e'),
    );
    // A used link does not matter to a signed-in person.
    await page.goto(`/#token=${token}`);
    await heading(page, 'Workflows').waitFor();

    const stranger = await world.browser.visitor();
    await stranger.goto(`/#token=${token}`);
    await stranger.getByRole('alert').getByText('This sign-in link was used before').waitFor();
    assert.doesNotMatch(stranger.url(), /token/);
    await Promise.all([page.context().close(), stranger.context().close()]);
  });

  it('keeps a link that the service could not judge, for another try', async () => {
    const page = await world.browser.visitor();
    const link = '**/api/v1/auth/link/';
    await page.route(link, (route) => route.fulfill({ status: 503, json: { detail: 'Busy.', code: 'overloaded' } }));
    await page.goto(`/#token=${await createLink(world.stack, world.person.userId)}`);
    const again = page.getByRole('alert').getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.unroute(link);
    await again.click();
    await heading(page, 'Workflows').waitFor();
    await page.context().close();
  });

  it('leads to no other origin, whatever the address asks for', async () => {
    const page = await world.browser.person(world.person.userId);
    for (const next of [
      '//evil.example',
      'https://evil.example/',
      '/\\evil.example',
      'javascript:alert(1)',
      '/.//evil.example',
    ]) {
      await page.goto(`/sign-in?next=${encodeURIComponent(next)}`);
      await heading(page, 'Workflows').waitFor();
      assert.equal(page.url(), `${world.stack.apiUrl}/workflows`, next);
    }
    await page.context().close();
  });

  it('stays signed in over a reload, and renews a token that is refused, once for all calls', async () => {
    const page = await world.browser.person(world.person.userId, '/runs');
    const refreshes = countRefreshes(page);
    await page.reload();
    await heading(page, 'Runs').waitFor();
    assert.equal(refreshes(), 1);
    let refused = 0;
    await page.route('**/api/v1/**', async (route) => {
      // Only calls with the token of this page's first refresh are refused.
      const isRefusal = !route.request().url().includes('/auth/') && refreshes() === 2;
      refused += Number(isRefusal);
      await (isRefusal ? route.fulfill({ status: 401, json: { detail: 'Expired.', code: 'x' } }) : route.fallback());
    });
    // The navigation's own call was refused, too. It is repeated with the new token.
    const isAnswered = page.waitForResponse((answer) => answer.url().includes('/human-tasks/') && answer.ok());
    await page.reload();
    await isAnswered;
    await page.waitForLoadState('networkidle');
    assert.ok(refused >= 2, `${refused} calls were refused`);
    assert.equal(refreshes(), 3);
    await page.context().close();
  });

  it('renews a token before it ends', async () => {
    const page = await world.browser.visitor();
    await page.clock.install();
    await page.goto(`/#token=${await createLink(world.stack, world.person.userId)}`);
    await heading(page, 'Workflows').waitFor();
    const refreshes = countRefreshes(page);
    const refreshed = page.waitForResponse((response) => new URL(response.url()).pathname === REFRESH);
    await page.clock.fastForward('00:59:30');
    assert.equal((await refreshed).status(), 200);
    await heading(page, 'Workflows').waitFor();
    assert.equal(refreshes(), 1);
    await page.context().close();
  });

  it('asks a person who has lost the session to sign in, and goes on at the same address', async () => {
    const page = await world.browser.person(world.person.userId, '/costs');
    await page.context().request.post('/api/v1/auth/logout/');
    await page.getByRole('link', { name: 'Workflows', exact: true }).click();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.reload();
    await heading(page, 'Sign in').waitFor();
    assert.equal(pathOf(page), '/sign-in?next=%2Fsettings');
    await fillIn(page, world.person);
    await heading(page, 'Settings').waitFor();
    await page.context().close();
  });

  it('says so when the session ends while the page is open', async () => {
    const page = await world.browser.visitor();
    await page.clock.install();
    await page.goto(`/costs#token=${await createLink(world.stack, world.person.userId)}`);
    await heading(page, 'Costs').waitFor();
    await page.context().request.post('/api/v1/auth/logout/');
    await page.clock.fastForward('00:00:20');
    await page.getByText('Your session has ended. Sign in to go on where you were.').waitFor();
    assert.equal(pathOf(page), '/sign-in?next=%2Fcosts');
    await page.context().close();
  });

  it('signs out in all tabs, and leaves nothing to read', async () => {
    const page = await world.browser.person(world.person.userId, '/runs');
    const tab = await page.context().newPage();
    await tab.goto('/costs');
    await heading(tab, 'Costs').waitFor();
    await signOut(page);
    await heading(tab, 'Sign in').waitFor();
    await page.goBack();
    await page.goto('/workflows');
    await heading(page, 'Sign in').waitFor();
    assert.equal((await page.context().request.post(REFRESH)).status(), 401);
    assert.deepEqual(
      (await page.context().cookies()).filter(({ value }) => value !== ''),
      [],
    );
    await page.context().close();
  });

  it('says when the service cannot be reached, and tries again when asked to', async () => {
    const page = await world.browser.visitor();
    await page.route(`**${REFRESH}`, (route) => route.fulfill({ status: 503, json: { detail: 'Busy.', code: 'x' } }));
    await page.goto('/runs');
    const alert = page.getByRole('alert');
    await alert.getByText('The service is busy or restarting. Try again in a moment.').waitFor();
    await page.unroute(`**${REFRESH}`);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await heading(page, 'Sign in').waitFor();
    await page.context().close();
  });

  it('has broken no policy, written no error and asked no other origin', () => world.browser.assertClean());
});

describe('signing in to the console with an identity provider', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let issuer: Issuer;
  let api: ApiProcess;
  let browser: ConsoleBrowser;

  before(async () => {
    stack = await sharedStack();
    const port = await claimPort({ port: 0, host: '127.0.0.1', variable: 'PORT' });
    issuer = await startIssuer(`http://127.0.0.1:${port}/api/v1/auth/oidc/callback/`);
    api = await startApiProcess(stack, {
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: issuer.clientId,
      OIDC_CLIENT_SECRET: issuer.clientSecret,
      OIDC_NAME: 'Example <b>Ltd</b>',
    });
    browser = await openConsole(api, [issuer.url]);
  });
  after(async () => {
    await browser.close();
    await api.stop();
    await issuer.close();
  });

  it('goes there by a link with its name, and comes back to the address that was asked for', async () => {
    const { email } = await createPerson(stack);
    issuer.people.set('ada', { email, email_verified: true });
    issuer.visitor = 'ada';
    const page = await browser.visitor();
    await page.goto('/costs');
    await page.getByRole('link', { name: 'Sign in with Example <b>Ltd</b>' }).click();
    await heading(page, 'Costs').waitFor();
    await page.context().close();
  });

  it('says on the sign-in page why the provider has not let the person in', async () => {
    const page = await browser.visitor();
    await page.goto('/sign-in');
    issuer.visitor = undefined;
    await page.getByRole('link', { name: /^Sign in with/ }).click();
    await page.getByRole('alert').getByText('The identity provider has refused the sign-in.').waitFor();
    issuer.people.set('eve', { email: 'nobody@here.example', email_verified: true });
    issuer.visitor = 'eve';
    await page.getByRole('link', { name: /^Sign in with/ }).click();
    await page.getByRole('alert').getByText('Nobody here has the e-mail address').waitFor();
    await page.goto('/api/v1/auth/oidc/callback/?state=x&code=y');
    await page.getByRole('alert').getByText('That sign-in was not begun in this browser').waitFor();
    await page.context().close();
  });

  it('has broken no policy and asked no origin but the two', () => browser.assertClean());
});
