// Formats the rows of the table that is printed, and those of docs/operate/security.md.
import type { Attack } from './attack.js';
import type { Row } from './round.js';

const WIDTHS = [28, 7, 7, 7, 9, 7, 7];

export const HEAD = toLine(['attack', 'polls', 'starts', 'saves', 'runs', 'api', 'worker', 'holds']);
export const LEGEND =
  'p99 of the victim in ms; its runs that succeeded, of those started; peaks of memory in MiB; whether the round holds';

export function toRowLine({ attack, p99Ms, started, succeeded, peakMiB, reasons }: Row): string {
  const numbers = [p99Ms.polls, p99Ms.starts, p99Ms.saves].map((ms) => String(Math.round(ms)));
  const weights = [peakMiB.api, peakMiB.worker].map((mib) => String(Math.round(mib)));
  const verdict = reasons.length === 0 ? 'yes' : `NO: ${reasons.join('; ')}`;
  return toLine([attack, ...numbers, `${succeeded}/${started}`, ...weights, verdict]);
}

/** The outcomes that the attackers saw, the most frequent first. */
export function toOutcomes({ outcomes }: Row): string {
  const sorted = Object.entries(outcomes).toSorted(([, a], [, b]) => b - a);
  return sorted.map(([outcome, count]) => `${count} x ${outcome}`).join(', ');
}

/** A row of docs/operate/security.md. */
export function toMarkdown({ name, heldBy }: Attack, { p99Ms }: Row): string {
  const times = [p99Ms.polls, p99Ms.starts, p99Ms.saves].map((ms) => Math.round(ms)).join(', ');
  return `| \`${name}\` | ${heldBy} | ${times} |`;
}

function toLine(cells: string[]): string {
  return cells
    .map((cell, index) => (index === 0 ? cell.padEnd(WIDTHS[0]!) : cell.padStart(WIDTHS[index] ?? 0)))
    .join('  ');
}
