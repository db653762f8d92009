import './loading.css';

/** In place of what is being loaded: `aria-busy`, and visible after a moment only, so that quick answers do not flicker. */
export function Loading({ label = 'Loading' }: { label?: string }) {
  return (
    <div className="loading" aria-busy="true">
      <span className="loading-ring" aria-hidden="true" />
      <span>{label}…</span>
    </div>
  );
}
