import type { Page } from 'playwright-core';

/** Runs in the page. Drops of a script are not trusted, as `drop` of Chromium's own protocol would be. */
const LISTEN = `{
  globalThis.presses ??= 0;
  const count = () => void (globalThis.presses += 1);
  addEventListener('pointerdown', (event) => event.isTrusted && count(), { capture: true });
  addEventListener('keydown', (event) => event.isTrusted && event.key === 'Enter' && !event.shiftKey && count(), { capture: true });
  addEventListener('drop', count, { capture: true });
}`;

/** Counts what a person presses, drops, or confirms with Enter, from now on until the page is loaded anew. */
export async function countPresses(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(LISTEN);
  return () => page.evaluate<number>('globalThis.presses');
}
