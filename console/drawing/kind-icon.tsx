import './kind-icon.css';
import { looksOf } from './kind-looks.js';

/** Icon of a kind in its colour. Hidden from screen readers: the kind's name is beside it. */
export function KindIcon({ type }: { type: string }) {
  const { icon, hue } = looksOf(type);
  return (
    <span className="kind-icon" aria-hidden="true" data-plain={hue === undefined || undefined} style={{ '--hue': hue }}>
      <svg viewBox="0 0 24 24" width="16" height="16">
        <path d={icon} />
      </svg>
    </span>
  );
}
