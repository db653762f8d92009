import { classNames } from '../../ui/class-names.js';
import { runWord, type StoredStatus } from '../../live/run-word.js';
import './latest-runs.css';

/** Bar chart of a workflow's last runs, the newest on the right. Bars of failed runs are the highest. */
export function LatestRuns({ statuses }: { statuses: readonly StoredStatus[] | undefined }) {
  if (statuses === undefined || statuses.length === 0) return <span className="figure">–</span>;
  const words = statuses.map((status) => runWord({ status, run_started_at: '' }));
  const newestLast = words.toReversed();
  return (
    <span role="img" aria-label={inWords(words)} title={inWords(words)} className="latest-runs">
      {newestLast.map((word, index) => (
        // Only the position identifies a run here.
        // oxlint-disable-next-line react/no-array-index-key
        <span key={index} className={classNames('latest-run', `latest-run-${word.replace(' ', '-')}`)} />
      ))}
    </span>
  );
}

/** Returns `Last 3 runs: 2 succeeded, 1 failed; the newest succeeded`. */
function inWords(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const parts = [...counts].map(([word, count]) => `${count} ${word}`);
  if (words.length === 1) return `One run: ${words[0]}`;
  return `Last ${words.length} runs: ${parts.join(', ')}; the newest ${words[0]}`;
}
