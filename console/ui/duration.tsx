import { formatDuration } from './format-duration.js';
import './figures.css';

/** Null where it is not known yet. */
export function Duration({ ms }: { ms: number | null | undefined }) {
  return <span className="figure">{ms === null || ms === undefined ? '–' : formatDuration(ms)}</span>;
}
