// Opens the console in Chromium. Tests find elements by role and name, as people do, and what a page must never do is
// recorded (`assertClean`). All test files of a process share one Chromium; each page that is opened has a context of
// its own.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { createAccount, type Account } from '../api/accounts.js';
import { createLink } from '../api/sessions/people.js';
import { sharedBrowser } from '../support/browser.js';
import { sharedStack } from '../support/shared-stack.js';
import { eventually } from '../../harness/timing/eventually.js';
import type { TestStack } from '../../harness/stack/stack.js';

export interface ConsoleBrowser {
  /** Opens a page in a new context: nobody is signed in, and nothing is stored. */
  visitor: (options?: BrowserContextOptions) => Promise<Page>;
  /** Signs a user in by a link, in a new context, and opens the page at `path`. */
  person: (userId: number, path?: string, options?: BrowserContextOptions) => Promise<Page>;
  /** Fails if a page broke its policy, threw, wrote an error to its log, or sent a request to another origin. */
  assertClean: () => void;
  /** Takes a screenshot of each open page, and prints the files' names. */
  photograph: (title: string) => Promise<void>;
  close: () => Promise<unknown>;
}

export const NARROW = { viewport: { width: 390, height: 844 }, hasTouch: true } as const;
const WIDE = { viewport: { width: 1280, height: 900 } } as const;
/** Chromium itself logs every answer with a status of 400 or more, and every lost connection. Tests provoke both. */
const FAILED_ANSWER =
  /^Failed to load resource: (?:the server responded with a status of [45]\d\d|net::ERR_(?:FAILED|INTERNET_DISCONNECTED)$)/;

/** `allowedOrigins` are allowed besides the service's own origin: an identity provider, for example. */
export async function openConsole(stack: { apiUrl: string }, allowedOrigins: string[] = []): Promise<ConsoleBrowser> {
  const browser = await sharedBrowser();
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  const own = new Set([stack.apiUrl, ...allowedOrigins]);
  const visitor = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext({ baseURL: stack.apiUrl, ...WIDE, ...options });
    contexts.push(context);
    context.setDefaultTimeout(20_000);
    await context.addInitScript(REPORT_VIOLATIONS);
    context.on('page', (page) => listen(page, complaints, own));
    return context.newPage();
  };
  return {
    visitor,
    async person(userId, address = '/', options) {
      const page = await visitor(options);
      await signInByLink(page, stack as TestStack, userId, address);
      return page;
    },
    assertClean: () => assert.deepEqual(complaints, []),
    async photograph(title) {
      const pages = contexts.flatMap((context) => context.pages());
      const folder = process.env['SCREENSHOTS'] ?? path.join(tmpdir(), 'console-failures');
      const name = title.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 100);
      for (const [index, page] of pages.entries()) {
        const file = path.join(folder, `${name}-${index}.png`);
        await page.screenshot({ path: file, timeout: 10_000 }).then(
          () => process.stderr.write(`      ${page.url()}: ${file}\n`),
          (error: unknown) => process.stderr.write(`      ${page.url()}: ${String(error)}\n`),
        );
      }
    },
    close: () => Promise.all(contexts.map((context) => context.close())),
  };
}

export interface ConsoleWorld {
  stack: TestStack;
  browser: ConsoleBrowser;
}

/**
 * Prepares what the tests of a `describe` share: the shared stack, the console's browser, and the result of `make`. The
 * returned object is filled before the tests. After them, each of its values that has a method `close` is closed.
 */
export function useConsole<Made extends object = object>(
  make: (stack: TestStack) => Promise<Made | undefined> = () => Promise.resolve(undefined),
): ConsoleWorld & Made {
  const world = {} as ConsoleWorld & Made;
  before(async () => {
    const stack = await sharedStack();
    Object.assign(world, { stack, browser: await openConsole(stack) }, await make(stack));
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await world.browser.photograph(this.currentTest.fullTitle());
  });
  after(() => Promise.all(Object.values(world).map((part?: { close?: () => unknown }) => part?.close?.())));
  return world;
}

/** Creates a user who owns a new project of this name. */
export async function createOwner(stack: TestStack, name: string): Promise<{ account: Account; projectId: number }> {
  const account = await createAccount(stack);
  return { account, projectId: await account.api.createProject(name) };
}

/** The interval is longer than the view needs to begin a movement. */
const AT_REST = { intervalMs: 100 };

/** Returns the box of an element of the canvas once the view has stopped moving. */
export async function boxAtRest(what: Locator) {
  let last: Awaited<ReturnType<Locator['boundingBox']>> = null;
  await eventually(async () => {
    const [before, now] = [last, await what.boundingBox()];
    last = now;
    return now !== null && JSON.stringify(before) === JSON.stringify(now);
  }, AT_REST);
  return last!;
}

/** Takes a screenshot for people if `SCREENSHOTS` names a folder. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder !== undefined) await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}

/** Fails if the page is wider than its window. `where` names the page in the failure. */
export async function assertFits(page: Page, where?: string): Promise<void> {
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), page.viewportSize()!.width, where);
}

/** Opens `path` with the token of a new link, like a person who was sent one. */
async function signInByLink(page: Page, stack: TestStack, userId: number, address: string): Promise<void> {
  await page.goto(`${address}#token=${await createLink(stack, userId)}`);
  await page.getByRole('button', { name: 'Account' }).waitFor();
}

function listen(page: Page, complaints: string[], own: Set<string>): void {
  page.on('console', (message) => {
    if (message.type() === 'error' && !FAILED_ANSWER.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:' && !own.has(origin)) complaints.push(`asked ${request.url()}`);
  });
}

const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) => {
  console.error('the policy was broken: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile);
});`;
