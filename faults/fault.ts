import type { Stage } from './stage.js';

export interface Fault {
  /** For `--only`. */
  name: string;
  /** The row of the table. */
  title: string;
  /** The second half of the load is started during so many milliseconds after the fault's beginning. */
  spreadMs?: number;
  /** Strikes, while the load runs. Resolves when everything works again. */
  apply: (stage: Stage) => Promise<void>;
}
