// A real browser for tests of pages: Chromium, as one package brings it, without a window.
import chromium from '@sparticuz/chromium';
import { chromium as driver, type Browser } from 'playwright-core';
import { beforeLeaving } from './shared-stack.js';

/** The package's own arguments put the whole browser into one process, and web security away. */
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

/** `CHROMIUM` names another one, for systems that the package's does not fit. */
async function executable(): Promise<string> {
  return process.env['CHROMIUM'] || chromium.executablePath();
}

let shared: Promise<Browser> | undefined;

/** The browser of this process, which serves all its test files. A browser that has died is replaced. */
export async function sharedBrowser(): Promise<Browser> {
  if (shared === undefined) beforeLeaving(async () => (await shared)?.close());
  const known = await shared?.catch(() => undefined);
  if (known?.isConnected() !== true) shared = startBrowser();
  return shared!;
}

export async function startBrowser(): Promise<Browser> {
  return driver.launch({ executablePath: await executable(), args: ARGS, headless: true });
}
