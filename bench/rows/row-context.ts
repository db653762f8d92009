import type { PolledSubject } from '../subjects.js';
import type { Testbed } from '../testbed.js';

/** The settings of every row. */
export interface RowContext {
  testbed: Testbed;
  /** Measured one after the other, in this order. */
  subjects: PolledSubject[];
  rounds: number;
  durationMs: number;
  /** True for a short look with little warm-up and fewer runs. */
  isQuick: boolean;
  report: (line: string) => void;
}
