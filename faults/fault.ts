import type { Struck } from './service.js';
import type { Stage } from './stage.js';
import type { World } from './world.js';

export interface Fault<Where extends Struck = World> {
  /** The name for `--only`. */
  name: string;
  /** The first column of the table. */
  title: string;
  /** The second half of the load is started during this many milliseconds after the start of the fault. */
  spreadMs?: number;
  /** Applies the fault under load. Resolves when everything works again. */
  apply: (stage: Stage<Where>) => Promise<void>;
}
