/** A page that nobody looks at has no frames. */
const HIDDEN_MS = 250;

/** Acts when the next picture is drawn. */
export function scheduleFrame(act: () => void): void {
  if (document.visibilityState === 'hidden') setTimeout(act, HIDDEN_MS);
  else requestAnimationFrame(act);
}
