import type { Usage } from './usage.js';

const ROW = 44;
/** Of the width: the rest is for the figure behind the longest bar. */
const LONGEST = 70;
const MOST_LETTERS = 100;

interface RankPictureProps {
  label: string;
  /** The most expensive first. */
  rows: readonly Usage[];
  currency: string;
}

/** A bar a row, as long as its cost is to the greatest one. It is as wide as its place, and its letters stay as they are. */
export function RankPicture({ label, rows, currency }: RankPictureProps) {
  const costs = rows.map(({ amount }) => Number(amount[currency] ?? 0));
  const most = Math.max(0, ...costs) || 1;
  return (
    <svg role="img" aria-label={label} className="costs-picture" width="100%" height={ROW * rows.length}>
      {rows.map((row, at) => {
        const length = Math.max(0.2, (LONGEST * (costs[at] ?? 0)) / most);
        const figure = `${row.amount[currency] ?? '0'} ${currency}`;
        return (
          <svg key={JSON.stringify([row.key, row.label])} y={at * ROW} width="100%" height={ROW}>
            <title>{`${row.label}: ${figure}`}</title>
            <text y="15" className="costs-name">
              {row.label.slice(0, MOST_LETTERS)}
            </text>
            <rect y="21" width={`${length}%`} height="14" rx="3" className="costs-bar" />
            <text x={`${length}%`} y="32" dx="8" className="costs-mark">
              {figure}
            </text>
          </svg>
        );
      })}
    </svg>
  );
}
