import '../../../ui/figures.css';

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** A moment of a day that stands elsewhere, to the second. */
export function ClockTime({ at }: { at: string }) {
  const moment = new Date(at);
  return (
    <time className="figure" dateTime={at} title={EXACT.format(moment)}>
      {CLOCK.format(moment)}
    </time>
  );
}
