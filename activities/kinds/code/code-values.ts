// Converts numbers for the inputs of code. JavaScript represents integers beyond 2^53 as
// BigInt, which JSON cannot express.
import { randomBytes } from 'node:crypto';
import { ExactNumber } from '../../../graph/exact-number.js';
import { mapLeaves } from '../../../graph/json.js';

const DIGITS = /^-?\d+$/;
/** JavaScript writes integers from this value on with an exponent. */
const FIRST_WITH_EXPONENT = 1e21;

interface MarkedInputs {
  /** JSON text. A string in it that begins with `marker` represents a BigInt. */
  inputs: string;
  marker: string;
  hasMarks: boolean;
}

/**
 * Converts integers beyond 2^53 that are written in digits to BigInt, even if a double can represent them. Any other
 * number becomes the nearest double.
 */
export function toMarkedInputs(value: unknown): MarkedInputs {
  const marker = randomBytes(8).toString('hex');
  let hasMarks = false;
  const mark = (digits: string): string => {
    hasMarks = true;
    return `${marker}${digits}`;
  };
  const inputs = JSON.stringify(
    mapLeaves(value, (leaf) => {
      if (leaf instanceof ExactNumber) return DIGITS.test(String(leaf)) ? mark(String(leaf)) : Number(leaf);
      return isBeyondSafety(leaf) ? mark(String(leaf)) : leaf;
    }),
  );
  return { inputs, marker, hasMarks };
}

function isBeyondSafety(leaf: unknown): leaf is number {
  if (typeof leaf !== 'number' || Math.abs(leaf) >= FIRST_WITH_EXPONENT) return false;
  return Number.isInteger(leaf) && !Number.isSafeInteger(leaf);
}
