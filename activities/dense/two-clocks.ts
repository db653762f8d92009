/**
 * Whether less than `ms` have passed since the call, by two clocks: one goes on while the process stands still, the other
 * while the whole machine does.
 */
export function startWindow(ms: number): () => boolean {
  const [steady, wall] = [performance.now(), Date.now()];
  return () => performance.now() - steady < ms && Date.now() - wall < ms;
}
