// Tracks the event streams that each user has open in this process, and ends them when the user becomes inactive.
import type { Readable } from 'node:stream';

interface OpenStream {
  userId: number;
  body: Readable;
  /** Ends the source of the body, as if the caller had hung up. */
  hangUp: () => void;
}

/** A stream whose caller reads nothing cannot end by itself, so it is destroyed after this time. */
const CUT_AFTER_MS = 1_000;

export class OpenStreams {
  readonly #ofUser = new Map<number, Set<OpenStream>>();

  /** Returns a function to call when the stream has ended. */
  enter(stream: OpenStream): () => void {
    const streams = this.#ofUser.get(stream.userId) ?? new Set();
    this.#ofUser.set(stream.userId, streams.add(stream));
    return () => {
      streams.delete(stream);
      if (streams.size === 0 && this.#ofUser.get(stream.userId) === streams) this.#ofUser.delete(stream.userId);
    };
  }

  endThoseOf(userId: number): void {
    for (const { body, hangUp } of this.#ofUser.get(userId) ?? []) {
      hangUp();
      const cut = setTimeout(() => body.destroy(), CUT_AFTER_MS);
      body.once('close', () => clearTimeout(cut));
    }
  }
}
