// A headless Chromium for tests of pages, which an npm package installs.
import { chromium as driver, type Browser } from 'playwright-core';
import { chromiumPath } from '../../harness/browser/chromium.js';
import { beforeLeaving } from './shared-stack.js';

/** The package's own arguments put the whole browser into one process, and turn web security off. */
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

let shared: Promise<Browser> | undefined;

/** The browser of this process, which serves all its test files. A browser that has exited is replaced. */
export async function sharedBrowser(): Promise<Browser> {
  if (shared === undefined) beforeLeaving(async () => (await shared?.catch(() => undefined))?.close());
  const known = await shared?.catch(() => undefined);
  if (known?.isConnected() !== true) shared = startBrowser();
  return shared!;
}

export async function startBrowser(): Promise<Browser> {
  return driver.launch({ executablePath: await chromiumPath(), args: ARGS, headless: true });
}
