// How a process of the stack is doing, by its own metrics.
import { eventually } from '../../support/eventually.js';

export interface Figures {
  rssMb: number;
  heapMb: number;
  /** The longest that the event loop was held since the last look. */
  lagSeconds: number;
  openConnections: number;
}

export async function readFigures(apiUrl: string): Promise<Figures> {
  const text = await (await fetch(`${apiUrl}/metrics`)).text();
  const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    rssMb: value('process_resident_memory_bytes') / 2 ** 20,
    heapMb: value('nodejs_heap_size_used_bytes') / 2 ** 20,
    lagSeconds: value('nodejs_eventloop_lag_max_seconds'),
    openConnections: Number(/^nodejs_active_resources\{type="TCPSocketWrap"\} (\S+)$/m.exec(text)?.[1] ?? 0),
  };
}

/** The least that the heap comes down to: garbage goes when something is done, so small requests are made meanwhile. */
export function settledFigures(apiUrl: string, limitMb: number): Promise<Figures> {
  return eventually(
    async () => {
      for (let round = 0; round < 20; round += 1) await (await fetch(`${apiUrl}/api/v1/openapi.json`)).text();
      const figures = await readFigures(apiUrl);
      if (figures.heapMb <= limitMb) return figures;
      throw new Error(`the heap still holds ${figures.heapMb.toFixed(0)} MB, over ${limitMb.toFixed(0)}`);
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  );
}
