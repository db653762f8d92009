export type Closer = () => Promise<void>;

/** Closes one after the other, in reverse order. Throws the first failure after all have been closed. */
export async function closeAll(closers: Closer[]): Promise<void> {
  let failure: { reason: unknown } | undefined;
  for (const close of closers.splice(0).toReversed()) {
    await close().catch((reason: unknown) => (failure ??= { reason }));
  }
  if (failure !== undefined) throw failure.reason;
}
