/** A source of bytes that records its own failure, so that a caller can distinguish it from a failure of its reader. */
export interface WatchedSource {
  bytes: AsyncGenerator<Uint8Array>;
  /** The error of the source, if it has one. */
  broken(): { error: unknown } | undefined;
}

export function watchSource(source: AsyncIterable<Uint8Array>): WatchedSource {
  let broken: { error: unknown } | undefined;
  const read = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* source;
    } catch (error) {
      broken = { error };
      throw error;
    }
  };
  return { bytes: read(), broken: () => broken };
}
