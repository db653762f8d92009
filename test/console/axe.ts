// Runs axe-core on a page. It must find no violation of WCAG 2.2 AA that it calls serious or critical.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RUN = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.map(({ html }) => html).join(' | ')))`;

/** `where` names the page in the failure. */
export async function assertAccessible(page: Page, where: string): Promise<void> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(SOURCE);
  assert.deepEqual(await page.evaluate(RUN), [], where);
}
