// The result of a scenario: figures to read, and claims that must hold.
import type { Peaks, Weight } from './measure.js';

export interface Findings {
  scenario: string;
  figures: Record<string, number | string>;
  /** A claim that does not hold makes the command fail. */
  claims: Record<string, boolean>;
}

export function printFindings({ scenario, figures, claims }: Findings): void {
  const rows = [
    ...Object.entries(figures).map(([name, value]) => [name, typeof value === 'number' ? shortened(value) : value]),
    ...Object.entries(claims).map(([claim, holds]) => [claim, holds ? 'holds' : 'DOES NOT HOLD']),
  ];
  const width = Math.max(...rows.map(([name]) => name!.length));
  console.log(`\n${scenario}`);
  for (const [name, value] of rows) console.log(`  ${name!.padEnd(width)}  ${value}`);
}

export function weightFigures(when: string, weight: Weight): Record<string, string> {
  const { apiRssMiB, apiHeapMiB, workerRssMiB, workerHeapMiB } = weight;
  return {
    [`API, ${when}`]: `RSS ${Math.round(apiRssMiB)} MiB, heap ${Math.round(apiHeapMiB)} MiB`,
    [`worker, ${when}`]: `RSS ${Math.round(workerRssMiB)} MiB, heap ${Math.round(workerHeapMiB)} MiB`,
  };
}

export function peakFigures(peaks: Peaks): Record<string, number | string> {
  return {
    ...weightFigures('peak', peaks),
    'database connections, peak': peaks.databaseConnections,
    'Temporal backlog, peak': peaks.backlog,
  };
}

function shortened(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 0);
}
