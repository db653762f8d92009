// A real browser for tests of pages: Chromium, as one package brings it, without a window.
import chromium from '@sparticuz/chromium';
import { chromium as driver, type Browser } from 'playwright-core';

export async function startBrowser(): Promise<Browser> {
  return driver.launch({ executablePath: await chromium.executablePath(), args: chromium.args, headless: true });
}
