// A real browser for tests of pages: Chromium, as one package brings it, without a window.
import chromium from '@sparticuz/chromium';
import { chromium as driver, type Browser } from 'playwright-core';

/** The package's own arguments put the whole browser into one process, and web security away. */
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

/** `CHROMIUM` names another one, for systems that the package's does not fit. */
async function executable(): Promise<string> {
  return process.env['CHROMIUM'] || chromium.executablePath();
}

export async function startBrowser(): Promise<Browser> {
  return driver.launch({ executablePath: await executable(), args: ARGS, headless: true });
}
