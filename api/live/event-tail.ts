import type { RunEvent } from '../../db/runs/run-events-repository.js';

/** The limit per followed run: the tails of 3,000 runs (`MAX_READERS`) take about 94 MiB. */
const MAX_BYTES = 32 * 1024;

/**
 * The latest events of a run, shared by all of its streams. A stream that needs earlier ones reads them from the
 * database, so slow readers do not make this buffer grow.
 */
export class EventTail {
  #events: RunEvent[] = [];
  #bytes = 0;
  /** The version after which the tail has every event. */
  #from: number;
  #version: number;

  /** `version`: the latest version of the run; the tail starts empty after it. */
  constructor(version: number) {
    this.#from = version;
    this.#version = version;
  }

  get version(): number {
    return this.#version;
  }

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

  /** Drops all events and continues after `version`. */
  skipTo(version: number): void {
    this.#events = [];
    this.#bytes = 0;
    this.#from = version;
    this.#version = version;
  }

  /** Returns the events after the version; undefined if the tail may lack some of them. */
  after(version: number): RunEvent[] | undefined {
    return version < this.#from ? undefined : this.#events.filter((event) => event.version > version);
  }
}
