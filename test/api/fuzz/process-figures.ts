// Reads the memory and the event-loop delay of a process of the stack from its own metrics.

export interface Figures {
  rssMb: number;
  heapMb: number;
  /** The longest delay of the event loop since the last reading. */
  lagSeconds: number;
}

export async function readFigures(apiUrl: string): Promise<Figures> {
  const text = await (await fetch(`${apiUrl}/metrics`)).text();
  const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    rssMb: value('process_resident_memory_bytes') / 2 ** 20,
    heapMb: value('nodejs_heap_size_used_bytes') / 2 ** 20,
    lagSeconds: value('nodejs_eventloop_lag_max_seconds'),
  };
}
