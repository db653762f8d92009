// Prepares the inputs of code as JSON text. Code gets integers that are not safe (`Number.isSafeInteger`) as BigInt,
// because a double may change them; JSON has no BigInt, so they are marked strings.
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
 * Returns the inputs as JSON text, in which a marked string stands for an integer that is not safe; the sandbox
 * converts it to a BigInt. All such integers below 1e21 are marked, and larger ones if no double represents them
 * exactly. Any other number becomes the nearest double, also an inexact one that is written with an exponent.
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
      return isUnsafeInteger(leaf) ? mark(String(leaf)) : leaf;
    }),
  );
  return { inputs, marker, hasMarks };
}

function isUnsafeInteger(leaf: unknown): leaf is number {
  if (typeof leaf !== 'number' || Math.abs(leaf) >= FIRST_WITH_EXPONENT) return false;
  return Number.isInteger(leaf) && !Number.isSafeInteger(leaf);
}
