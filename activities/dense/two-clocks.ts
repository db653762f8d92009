/**
 * Returns whether less than `ms` has passed. Checks the monotonic and the wall clock: one catches a paused process, the
 * other a suspended machine.
 */
export function startWindow(ms: number): () => boolean {
  const [steady, wall] = [performance.now(), Date.now()];
  return () => performance.now() - steady < ms && Date.now() - wall < ms;
}
