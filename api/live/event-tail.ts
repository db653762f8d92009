import type { RunEvent } from '../../db/runs/run-events-repository.js';

/** The events that are kept of all followed runs together take less memory than one large answer. */
const MAX_BYTES = 32 * 1024;

/**
 * The latest events of a run, which all streams of it share. A stream whose place is before `from` is too far behind and
 * reads what it lacks from the database: so what is kept does not depend on how slow anybody reads.
 */
export class EventTail {
  #events: RunEvent[] = [];
  #bytes = 0;
  #from: number;
  #version: number;

  /** `version`: the last one that there is; nothing before it is kept. */
  constructor(version: number) {
    this.#from = version;
    this.#version = version;
  }

  get version(): number {
    return this.#version;
  }

  /** Events that follow the last one. */
  append(events: RunEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += event.bytes;
      this.#version = event.version;
    }
    while (this.#bytes > MAX_BYTES) {
      const dropped = this.#events.shift()!;
      this.#bytes -= dropped.bytes;
      this.#from = dropped.version;
    }
  }

  /** Keeps nothing of what is up to `version`. */
  skipTo(version: number): void {
    this.#events = [];
    this.#bytes = 0;
    this.#from = version;
    this.#version = version;
  }

  /** The events after the version; undefined where some of them are no longer kept. */
  after(version: number): RunEvent[] | undefined {
    return version < this.#from ? undefined : this.#events.filter((event) => event.version > version);
  }
}
