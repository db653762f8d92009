// The stopwatch of the editor: each press of the pointer is one, and so is each key that acts. Typing and Tab are none.
import type { Page } from 'playwright-core';

const COUNT = `
  const add = () => sessionStorage.setItem('presses', Number(sessionStorage.getItem('presses') ?? 0) + 1);
  addEventListener('pointerdown', (event) => event.isTrusted && add(), true);
  addEventListener('keydown', (event) => {
    const isTyped = event.key === ' ' && event.target.matches('input:not([type=checkbox]), textarea, [contenteditable]');
    if (event.isTrusted && !isTyped && (event.key === 'Enter' || event.key === ' ')) add();
  }, true);
`;

/** Counts from the page's next load, which this causes. Returns the number so far. */
export async function countPresses(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(COUNT);
  await page.reload();
  return async () => Number(await page.evaluate("sessionStorage.getItem('presses') ?? 0"));
}
