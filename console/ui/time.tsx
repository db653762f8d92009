import './figures.css';

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
