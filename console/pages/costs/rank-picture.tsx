import type { Usage } from './usage.js';

const WIDTH = 960;
const ROW = 30;
const NAMES = 300;
const FIGURES = 170;
const MOST_LETTERS = 40;

interface RankPictureProps {
  label: string;
  /** The most expensive first. */
  rows: readonly Usage[];
  currency: string;
}

/** A bar a row, as long as its cost is to the greatest one. */
export function RankPicture({ label, rows, currency }: RankPictureProps) {
  const costs = rows.map(({ amount }) => Number(amount[currency] ?? 0));
  const most = Math.max(0, ...costs) || 1;
  const length = WIDTH - NAMES - FIGURES;
  return (
    <svg role="img" aria-label={label} className="costs-picture" viewBox={`0 0 ${WIDTH} ${ROW * rows.length}`}>
      {rows.map((row, at) => (
        <g key={JSON.stringify([row.key, row.label])} transform={`translate(0 ${at * ROW})`}>
          <title>{`${row.label}: ${row.amount[currency] ?? '0'} ${currency}`}</title>
          <text x={NAMES - 12} y={ROW / 2 + 4} textAnchor="end" className="costs-name">
            {shortened(row.label)}
          </text>
          <rect
            x={NAMES}
            y="5"
            width={Math.max(2, (length * (costs[at] ?? 0)) / most)}
            height={ROW - 10}
            rx="3"
            className="costs-bar"
          />
          <text x={NAMES + Math.max(2, (length * (costs[at] ?? 0)) / most) + 8} y={ROW / 2 + 4} className="costs-mark">
            {row.amount[currency] ?? '0'} {currency}
          </text>
        </g>
      ))}
    </svg>
  );
}

function shortened(text: string): string {
  const letters = Array.from(text.slice(0, 4 * MOST_LETTERS));
  return letters.length <= MOST_LETTERS ? text : `${letters.slice(0, MOST_LETTERS - 1).join('')}…`;
}
