import type { Subject } from '../subjects.js';
import type { Testbed } from '../testbed.js';

/** What every row is measured with. */
export interface RowContext {
  testbed: Testbed;
  /** All that are measured in turn, in this order. */
  subjects: Subject[];
  rounds: number;
  durationMs: number;
  /** How often a run is polled; `Load` says more. */
  pollMs: number | undefined;
  /** A short look: little warm-up, fewer runs. */
  isQuick: boolean;
  report: (line: string) => void;
}
