import { useEffect, useState } from 'react';
import { roundDecimal } from './decimals.js';
import './figures.css';
import { formatDuration } from './format.js';

interface MoneyProps {
  /** Amounts by ISO 4217 code as the service returns them: `{"USD": "0.00002"}`. Null if unknown. */
  amount: Readonly<Record<string, string>> | null | undefined;
  currency?: string;
}

/** Shows an amount rounded, because most are small and have many digits. The exact one is its title. */
export function Money({ amount, currency = 'USD' }: MoneyProps) {
  const value = amount?.[currency];
  if (value === undefined) return <span className="figure">–</span>;
  const rounded = roundDecimal(value);
  return (
    <span className="figure" title={Number(rounded) === Number(value) ? undefined : `${value} ${currency}`}>
      {`${rounded} ${currency}`}
    </span>
  );
}

const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** Shows a time of the service (ISO 8601) in the person's language and time zone, or a dash if there is none. */
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

const SOON = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const LATER = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 3600 * 1000;

/** A future time where there is little room: the weekday and the time within a week, else the day. */
export function ComingTime({ at }: { at: string }) {
  const moment = new Date(at);
  const isSoon = moment.getTime() - useNow(MINUTE_MS) < WEEK_MS;
  return (
    <time className="figure" dateTime={at} title={EXACT.format(moment)}>
      {(isSoon ? SOON : LATER).format(moment)}
    </time>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** Time of day with seconds, where the day is shown elsewhere. */
export function ClockTime({ at }: { at: string }) {
  const moment = new Date(at);
  return (
    <time className="figure" dateTime={at} title={EXACT.format(moment)}>
      {CLOCK.format(moment)}
    </time>
  );
}

/** Null means not known yet. */
export function Duration({ ms }: { ms: number | null | undefined }) {
  return <span className="figure">{ms === null || ms === undefined ? '–' : formatDuration(ms)}</span>;
}

/** Elapsed time since `since`, updated every second. */
export function RunningFor({ since }: { since: string }) {
  const now = useNow(1_000);
  return <Duration ms={Math.max(0, now - Date.parse(since))} />;
}

/** Returns the current time in milliseconds since 1970, updated every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
