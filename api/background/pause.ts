/** Waits for `durationMs`, or until `stopped` is aborted. */
export async function pause(durationMs: number, stopped: AbortSignal): Promise<void> {
  if (stopped.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, durationMs);
    function done(): void {
      clearTimeout(timer);
      stopped.removeEventListener('abort', done);
      resolve();
    }
    stopped.addEventListener('abort', done);
  });
}
