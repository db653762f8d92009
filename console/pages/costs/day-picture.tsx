import { marksOf } from './nice-scale.js';
import { daysOf, type Span } from './span.js';
import type { Usage } from './usage.js';

const WIDTH = 960;
const HEIGHT = 220;
const LEFT = 76;
const BOTTOM = 24;
const TOP = 10;
const FORMAT = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const MOST_LABELS = 8;

interface DayPictureProps {
  label: string;
  rows: readonly Usage[];
  span: Span;
  currency: string;
}

/** A bar for each day of the span; days without costs have none. The table beside it has the same figures. */
export function DayPicture({ label, rows, span, currency }: DayPictureProps) {
  const days = daysOf(span);
  const costs = new Map(rows.map(({ key, amount }) => [key, amount[currency] ?? '0']));
  const marks = marksOf(Math.max(0, ...[...costs.values()].map(Number)));
  const most = marks.at(-1)?.value || 1;
  const slot = (WIDTH - LEFT) / Math.max(1, days.length);
  const bar = Math.max(1, Math.min(36, slot * 0.7));
  const y = (value: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  const every = Math.ceil(days.length / MOST_LABELS);
  return (
    <svg role="img" aria-label={label} className="costs-picture" viewBox={`0 0 ${WIDTH} ${HEIGHT}`}>
      {marks.map(({ value, text }) => (
        <g key={text}>
          <line x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} className="costs-grid" />
          <text x={LEFT - 8} y={y(value) + 4} textAnchor="end" className="costs-mark">
            {text}
          </text>
        </g>
      ))}
      {days.map((day, at) => {
        const cost = costs.get(day) ?? '0';
        const [left, top] = [LEFT + slot * (at + 0.5), y(Number(cost))];
        return (
          <g key={day}>
            <rect x={left - bar / 2} y={top} width={bar} height={Math.max(0, y(0) - top)} rx="2" className="costs-bar">
              <title>{`${day}: ${cost} ${currency}`}</title>
            </rect>
            {at % every === 0 && (
              <text x={left} y={HEIGHT - 6} textAnchor="middle" className="costs-mark">
                {FORMAT.format(new Date(`${day}T00:00:00Z`))}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}
