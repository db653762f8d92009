import { useEffect, useState } from 'react';
import './figures.css';
import { formatDuration } from './format.js';

interface MoneyProps {
  /**
   * The amounts as the service returns them, by ISO 4217 code: `{"USD": "0.00002"}`. It is null if nothing is known
   * yet.
   */
  amount: Readonly<Record<string, string>> | null | undefined;
  currency?: string;
}

/** The service's decimal exactly as it is. Nothing is rounded, because most prices here are small. */
export function Money({ amount, currency = 'USD' }: MoneyProps) {
  const value = amount?.[currency];
  return <span className="figure">{value === undefined ? '–' : `${value} ${currency}`}</span>;
}

const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** A moment of the service (ISO 8601), in the person's own words and time zone. Null means not yet. */
export function Time({ at }: { at: string | null | undefined }) {
  if (at === null || at === undefined) return <span className="figure">–</span>;
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return <span className="figure">{at}</span>;
  return (
    <time className="figure" dateTime={at} title={EXACT.format(moment)}>
      {FORMAT.format(moment)}
    </time>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** The time of day to the second, for a day that is shown elsewhere. */
export function ClockTime({ at }: { at: string }) {
  const moment = new Date(at);
  return (
    <time className="figure" dateTime={at} title={EXACT.format(moment)}>
      {CLOCK.format(moment)}
    </time>
  );
}

/** A length of time. Null means that it is not known yet. */
export function Duration({ ms }: { ms: number | null | undefined }) {
  return <span className="figure">{ms === null || ms === undefined ? '–' : formatDuration(ms)}</span>;
}

/** The time since a moment, which is updated every second. */
export function RunningFor({ since }: { since: string }) {
  const now = useNow(1_000);
  return <Duration ms={Math.max(0, now - Date.parse(since))} />;
}

/** Returns the present moment in milliseconds since 1970, and updates it every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
