// Amounts of money are plain decimals as text, because a double represents neither 0.1 nor 18 decimals exactly.

/** True if a plain decimal, such as `0.000`, is zero. */
export function isZeroDecimal(text: string): boolean {
  return !/[1-9]/.test(text);
}
