// Measures how smoothly a page is drawn, by Chromium's own tracing.
import type { Page } from 'playwright-core';

interface TraceEvent {
  name: string;
  ts: number;
}

export interface Frames {
  perSecond: number;
  /** The longest time between two frames. */
  longestMs: number;
  /** Half of the times between two frames are shorter. */
  medianMs: number;
}

/** Measures the frames that Chromium draws while `act` runs. */
export async function measureFrames(page: Page, act: () => Promise<void>): Promise<Frames> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => void events.push(...(value as unknown as TraceEvent[])));
  const categories = ['disabled-by-default-devtools.timeline.frame', 'devtools.timeline.frame'];
  await session.send('Tracing.start', { traceConfig: { includedCategories: categories } });
  await act();
  const done = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await done;
  await session.detach();
  const drawn = events
    .filter(({ name }) => name === 'DrawFrame')
    .map(({ ts }) => ts / 1000)
    .toSorted((a, b) => a - b);
  const first = drawn[0];
  const last = drawn.at(-1);
  if (first === undefined || last === undefined || last === first) throw new Error('Chromium has drawn no frames');
  const gaps = drawn.slice(1).map((at, index) => at - (drawn[index] ?? at));
  const medianMs = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)]!;
  return { perSecond: ((drawn.length - 1) * 1000) / (last - first), longestMs: Math.max(...gaps), medianMs };
}
