import './kind-icon.css';
import { looksOf } from './kind-looks.js';

/** The icon of a kind of nodes, in the kind's colour. Screen readers pass over it: the kind is named beside it. */
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
