// What the gateway tells the twin's workflow. Types only.
import type { Shape } from '../graphs.js';

export type TwinVariant = 'normal' | 'local';

export interface TwinJob {
  variant: TwinVariant;
  shape: Shape;
  size: number;
  /** How many items of a list are worked on side by side. */
  concurrency: number;
  targetUrl: string;
  tag: string;
  delayMs: number;
}

export interface TwinAnswer {
  well: string;
}
