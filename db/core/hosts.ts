// The servers of a database: one of them takes writes, after a failover another one.
import { toHostUrls } from '../../config/host-urls.js';

/** The SQLSTATE with which a replica, or a server that is read-only, refuses a change. */
export const READ_ONLY = '25006';

export class ReadOnlyServerError extends Error {
  override name = 'ReadOnlyServerError';
  readonly code = READ_ONLY;

  constructor() {
    super('the database server takes no writes');
  }
}

export class Hosts {
  readonly #urls: string[];
  /** How often each server has been found to take no writes. */
  readonly #refusals = new Map<string, number>();
  #current = 0;

  /** `url` lists one host or several (docs/operate/replica.md). */
  constructor(url: string) {
    this.#urls = toHostUrls(url);
  }

  get count(): number {
    return this.#urls.length;
  }

  /** The address for the next connection. */
  get url(): string {
    return this.#urls[this.#current]!;
  }

  /** If `url` is the current server, later connections are opened to the next server of the list. */
  leave(url: string): void {
    if (url === this.url) this.#current = (this.#current + 1) % this.count;
  }

  /** Call it if the server takes no writes. */
  refuse(url: string): void {
    if (this.count === 1) return; // There is no other server, and this one still answers reads.
    this.#refusals.set(url, this.refusals(url) + 1);
    this.leave(url);
  }

  /** A connection is not used any more if this number has grown since the connection was created. */
  refusals(url: string): number {
    return this.#refusals.get(url) ?? 0;
  }
}
