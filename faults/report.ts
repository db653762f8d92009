// The invariants and their violations.
export const INVARIANTS = [
  'ends once',
  'data',
  'billing',
  'sums',
  'finished stays',
  'repeats',
  'one child',
  'one answer',
  'accepted',
  'answers',
  'fault',
] as const;
export type Invariant = (typeof INVARIANTS)[number];

export interface Violation {
  invariant: Invariant;
  message: string;
}

export type Report = (invariant: Invariant, message: string) => void;
