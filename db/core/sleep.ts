/** Resolves after `durationMs`, or as soon as `stopped` is aborted. */
export function sleep(durationMs: number, stopped?: AbortSignal): Promise<void> {
  if (stopped?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stopped?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    stopped?.addEventListener('abort', done);
  });
}
