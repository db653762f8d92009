import { classNames } from '../../../ui/class-names.js';
import { useNow } from '../../../ui/figures.js';
import { formatDuration } from '../../../ui/format.js';
import type { AttemptSpan } from './timeline-layout.js';

interface AttemptBarProps {
  label: string;
  attempt: AttemptSpan;
  originMs: number;
  isReused: boolean;
  onSelect: () => void;
}

/**
 * A button named `<label>, attempt N, <status>, <duration>`; of an attempt that goes on, the duration grows. A result of an
 * earlier run took no attempt: `<label>, <status>, reused`.
 */
export function AttemptBar({ label, attempt, originMs, isReused, onSelect }: AttemptBarProps) {
  const { number, word, fromMs, toMs, waits } = attempt;
  const head = isReused ? `${label}, ${word}, reused` : `${label}, attempt ${number}, ${word}`;
  return (
    <button
      type="button"
      className={classNames(
        'timeline-bar',
        `timeline-bar-${word.replace(' ', '-')}`,
        isReused && 'timeline-bar-reused',
      )}
      style={{ '--from': fromMs, '--to': toMs ?? 'var(--span)' }}
      title={head}
      onClick={onSelect}
    >
      {waits.map((wait) => (
        <span
          key={wait.fromMs}
          className="timeline-wait"
          style={{
            '--bar-from': fromMs,
            '--bar-to': toMs ?? 'var(--span)',
            '--from': wait.fromMs,
            '--to': wait.toMs ?? 'var(--span)',
          }}
        />
      ))}
      <span className="hidden-text">
        {head}
        {!isReused && ', '}
        {!isReused && (toMs === null ? <Growing fromMs={originMs + fromMs} /> : formatDuration(toMs - fromMs))}
      </span>
    </button>
  );
}

function Growing({ fromMs }: { fromMs: number }) {
  return formatDuration(useNow(1_000) - fromMs);
}
