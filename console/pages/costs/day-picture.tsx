import { marksOf } from './nice-scale.js';
import { daysOf, type Span } from './span.js';
import type { Usage } from './usage.js';

const HEIGHT = 220;
const BOTTOM = 24;
const TOP = 10;
const FORMAT = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
/** Every other one is left out on narrow screens. */
const MOST_LABELS = 8;

interface DayPictureProps {
  label: string;
  rows: readonly Usage[];
  span: Span;
  currency: string;
}

/**
 * A bar for each day of the span; days without costs have none. It is as wide as its place, and the marks of its axis stand
 * before it. The table beside it has the same figures.
 */
export function DayPicture({ label, rows, span, currency }: DayPictureProps) {
  const days = daysOf(span);
  const costs = new Map(rows.map(({ key, amount }) => [key, amount[currency] ?? '0']));
  const marks = marksOf(Math.max(0, ...[...costs.values()].map(Number)));
  const most = marks.at(-1)?.value || 1;
  const slot = 100 / Math.max(1, days.length);
  const every = Math.ceil(days.length / MOST_LABELS);
  const y = (value: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  return (
    <svg role="img" aria-label={label} className="costs-picture costs-picture-days" height={HEIGHT}>
      {marks.map(({ value, text }) => (
        <g key={text}>
          <line x1="0" x2="100%" y1={y(value)} y2={y(value)} className="costs-grid" />
          <text x="-8" y={y(value) + 4} textAnchor="end" className="costs-mark">
            {text}
          </text>
        </g>
      ))}
      {days.map((day, at) => {
        const cost = costs.get(day) ?? '0';
        const top = y(Number(cost));
        return (
          <g key={day}>
            <rect
              x={`${slot * (at + 0.15)}%`}
              y={top}
              width={`${slot * 0.7}%`}
              height={Math.max(0, y(0) - top)}
              rx="2"
              className="costs-bar"
            >
              <title>{`${day}: ${cost} ${currency}`}</title>
            </rect>
            {at % every === 0 && (
              <text
                x={`${slot * (at + 0.5)}%`}
                y={HEIGHT - 6}
                textAnchor="middle"
                className={(at / every) % 2 === 0 ? 'costs-mark' : 'costs-mark costs-mark-wide'}
              >
                {FORMAT.format(new Date(`${day}T00:00:00Z`))}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}
