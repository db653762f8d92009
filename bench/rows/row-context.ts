import type { Variant } from '../results.js';
import type { Subject } from '../subjects.js';
import type { Testbed } from '../testbed.js';

/** What every row is measured with. */
export interface RowContext {
  testbed: Testbed;
  variant: Variant;
  /** The service, and the twins that this variant is compared with, in the order in which they take turns. */
  subjects: Subject[];
  rounds: number;
  durationMs: number;
  warmUpMs: number;
  /** A short look: fewer sizes, fewer runs. */
  isQuick: boolean;
  report: (line: string) => void;
}
