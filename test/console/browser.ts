// The console as people use it: one Chromium a test file, everything found by role and name, and a record of what a page
// must never do.
import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { createLink } from '../api/sessions/people.js';
import { startBrowser } from '../support/browser.js';
import type { TestStack } from '../support/stack.js';

export interface ConsoleBrowser {
  /** A browser of its own: nobody is signed in, and nothing is kept. */
  visitor: (options?: BrowserContextOptions) => Promise<Page>;
  /** The same, signed in by a link, at `path`. */
  person: (userId: number, path?: string, options?: BrowserContextOptions) => Promise<Page>;
  /** Fails where a page broke its policy, threw, wrote an error to its log, or asked another origin. */
  assertClean: () => void;
  close: () => Promise<void>;
}

export const NARROW = { viewport: { width: 390, height: 844 }, hasTouch: true } as const;
const WIDE = { viewport: { width: 1280, height: 900 } } as const;
/** What Chromium itself logs of every answer from 400 on and of every lost connection: tests provoke both. */
const FAILED_ANSWER =
  /^Failed to load resource: (?:the server responded with a status of [45]\d\d|net::ERR_(?:FAILED|INTERNET_DISCONNECTED)$)/;

/** `allowedOrigins` beside the service's own: an identity provider, for example. */
export async function openConsole(stack: { apiUrl: string }, allowedOrigins: string[] = []): Promise<ConsoleBrowser> {
  const browser = await startBrowser();
  const complaints: string[] = [];
  const own = new Set([stack.apiUrl, ...allowedOrigins]);
  const visitor = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext({ baseURL: stack.apiUrl, ...WIDE, ...options });
    context.setDefaultTimeout(20_000);
    await context.addInitScript(REPORT_VIOLATIONS);
    context.on('page', (page) => listen(page, complaints, own));
    return context.newPage();
  };
  return {
    visitor,
    async person(userId, path = '/', options) {
      const page = await visitor(options);
      await signInByLink(page, stack as TestStack, userId, path);
      return page;
    },
    assertClean: () => assert.deepEqual(complaints, []),
    close: () => browser.close(),
  };
}

/** Opens `path` with the token of a new link, as a person does who was sent one. */
export async function signInByLink(page: Page, stack: TestStack, userId: number, path = '/'): Promise<void> {
  await page.goto(`${path}#token=${await createLink(stack, userId)}`);
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
