// Compares two texts: as numbers by value if both are numbers, otherwise as text by code points.
export const COMPARISONS = ['==', '!=', '>', '<', '>=', '<='] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** `order` is negative, zero or positive if the left side is less than, equal to or greater than the right side. */
const HOLDS: Readonly<Record<Comparison, (order: number) => boolean>> = {
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
  '>': (order) => order > 0,
  '<': (order) => order < 0,
  '>=': (order) => order >= 0,
  '<=': (order) => order <= 0,
};

/** True if a comparison holds. Both sides are trimmed. Numbers may have any size and precision. */
export function compare(left: string, operator: Comparison, right: string): boolean {
  return HOLDS[operator](compareSides(left.trim(), right.trim()));
}

/** Returns a function that tests `==` between `left` and its argument. `left` is parsed only once. */
export function createEqualityTest(left: string): (right: string) => boolean {
  const leftText = left.trim();
  const leftNumber = parseDecimal(leftText);
  return (right) => {
    const rightText = right.trim();
    const rightNumber = leftNumber && parseDecimal(rightText);
    return leftNumber && rightNumber ? compareDecimals(leftNumber, rightNumber) === 0 : leftText === rightText;
  };
}

function compareSides(left: string, right: string): number {
  const leftNumber = parseDecimal(left);
  const rightNumber = leftNumber && parseDecimal(right);
  return leftNumber && rightNumber ? compareDecimals(leftNumber, rightNumber) : compareCodePoints(left, right);
}

// A number with a longer exponent counts as text, because parsing the exponent takes more than linear time.
const MAX_EXPONENT_DIGITS = 10_000;

/** The number `sign * 0.<digits> * 10^magnitude`. `digits` neither starts nor ends with a zero. */
interface Decimal {
  sign: -1 | 0 | 1;
  digits: string;
  magnitude: bigint;
}

/**
 * Scans the text by hand, because a regular expression would store a backtracking position for each of ten million
 * digits.
 */
function parseDecimal(text: string): Decimal | undefined {
  let at = text[0] === '-' || text[0] === '+' ? 1 : 0;
  const integer = digitsAt(text, at);
  at += integer.length;
  const fraction = text[at] === '.' ? digitsAt(text, at + 1) : undefined;
  if (fraction !== undefined) at += 1 + fraction.length;
  if (integer === '' && !fraction) return undefined;
  const exponent = exponentAt(text, at);
  if (exponent === undefined) return undefined;

  const all = integer + (fraction ?? '');
  const first = leadingZeros(all);
  let last = all.length;
  while (last > first && all[last - 1] === '0') last -= 1;
  if (first === last) return { sign: 0, digits: '', magnitude: 0n };
  // The number is never expanded, so 1e999999999 costs no more than its own characters.
  const magnitude = BigInt(exponent) + BigInt(integer.length - first);
  return { sign: text[0] === '-' ? -1 : 1, digits: all.slice(first, last), magnitude };
}

/** Returns the exponent's text, `0` if the text ends here, or undefined if the rest is no exponent or is too long. */
function exponentAt(text: string, at: number): string | undefined {
  if (at === text.length) return '0';
  if (text[at] !== 'e' && text[at] !== 'E') return undefined;
  const sign = text[at + 1] === '-' || text[at + 1] === '+' ? 1 : 0;
  const digits = digitsAt(text, at + 1 + sign);
  if (digits === '' || at + 1 + sign + digits.length !== text.length) return undefined;
  if (digits.length - leadingZeros(digits) > MAX_EXPONENT_DIGITS) return undefined;
  return text[at + 1] === '-' ? `-${digits}` : digits;
}

function digitsAt(text: string, start: number): string {
  let end = start;
  for (let unit = text.charCodeAt(end); unit >= 48 && unit <= 57; unit = text.charCodeAt(end)) end += 1;
  return text.slice(start, end);
}

function leadingZeros(digits: string): number {
  let count = 0;
  while (digits[count] === '0') count += 1;
  return count;
}

function compareDecimals(left: Decimal, right: Decimal): number {
  if (left.sign !== right.sign) return left.sign - right.sign;
  if (left.magnitude !== right.magnitude) return left.magnitude > right.magnitude ? left.sign : -left.sign;
  // A prefix of another fraction is the smaller fraction, as in text order, because neither has trailing zeros.
  if (left.digits === right.digits) return 0;
  return left.digits > right.digits ? left.sign : -left.sign;
}

function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  if (at === left.length && at === right.length) return 0;
  // If the texts differ in the second half of a surrogate pair, the whole character differs.
  const isInsidePair =
    isHighSurrogate(left.charCodeAt(at - 1)) &&
    (isLowSurrogate(left.charCodeAt(at)) || isLowSurrogate(right.charCodeAt(at)));
  const start = isInsidePair ? at - 1 : at;
  return (left.codePointAt(start) ?? -1) - (right.codePointAt(start) ?? -1);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
