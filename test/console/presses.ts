import type { Page } from 'playwright-core';

/** Runs in the page. Only trusted events are presses. Tests dispatch drops by script, so every drop counts. */
const LISTEN = `{
  globalThis.presses ??= 0;
  const count = () => void (globalThis.presses += 1);
  addEventListener('pointerdown', (event) => event.isTrusted && count(), { capture: true });
  addEventListener('keydown', (event) => event.isTrusted && event.key === 'Enter' && !event.shiftKey && count(), { capture: true });
  addEventListener('drop', count, { capture: true });
}`;

/** Counts presses, drops and uses of Enter until the page is loaded anew. Returns a function that reads the number. */
export async function countPresses(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(LISTEN);
  return () => page.evaluate<number>('globalThis.presses');
}
