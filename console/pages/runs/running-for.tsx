import { useNow } from '../../live/use-now.js';
import { Duration } from '../../ui/duration.js';

/** The time since a moment, told anew every second. */
export function RunningFor({ since }: { since: string }) {
  const now = useNow(1_000);
  return <Duration ms={Math.max(0, now - Date.parse(since))} />;
}
