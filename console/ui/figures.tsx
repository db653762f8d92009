import { useEffect, useState } from 'react';
import './figures.css';
import { formatDuration } from './format.js';

interface MoneyProps {
  /** As the service answers it: `{"USD": "0.00002"}`, by ISO 4217 code. Null where nothing is known yet. */
  amount: Readonly<Record<string, string>> | null | undefined;
  currency?: string;
}

/** The service's decimal exactly as it is: nothing is rounded, because small prices are most of the prices here. */
export function Money({ amount, currency = 'USD' }: MoneyProps) {
  const value = amount?.[currency];
  return <span className="figure">{value === undefined ? '–' : `${value} ${currency}`}</span>;
}

const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** A moment of the service (ISO 8601), in the person's own words and time zone. Null: not yet. */
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

/** A moment of a day that stands elsewhere, to the second. */
export function ClockTime({ at }: { at: string }) {
  const moment = new Date(at);
  return (
    <time className="figure" dateTime={at} title={EXACT.format(moment)}>
      {CLOCK.format(moment)}
    </time>
  );
}

/** Null where it is not known yet. */
export function Duration({ ms }: { ms: number | null | undefined }) {
  return <span className="figure">{ms === null || ms === undefined ? '–' : formatDuration(ms)}</span>;
}

/** The time since a moment, told anew every second. */
export function RunningFor({ since }: { since: string }) {
  const now = useNow(1_000);
  return <Duration ms={Math.max(0, now - Date.parse(since))} />;
}

/** The present moment in milliseconds since 1970, told anew every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
