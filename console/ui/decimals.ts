// Exact sums of the service's decimals (`0.00002`), which doubles would round.
import { pushTo } from '../../graph/push-to.js';

type Amount = Readonly<Record<string, string>>;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** Returns the sum by currency. Ignores amounts that are not plain decimals. */
export function sumAmounts(amounts: readonly Amount[]): Amount {
  const values = new Map<string, string[]>();
  for (const [currency, value] of amounts.flatMap((amount) => Object.entries(amount))) {
    if (DECIMAL.test(value)) pushTo(values, currency, value);
  }
  return Object.fromEntries([...values].map(([currency, texts]) => [currency, sumDecimals(texts)]));
}

/** Returns the sum without trailing zeros. Throws a TypeError if a text is not a plain decimal. */
export function sumDecimals(texts: readonly string[]): string {
  const parts = texts.map(parse);
  const scale = Math.max(0, ...parts.map(({ decimals }) => decimals));
  let sum = 0n;
  for (const { digits, decimals } of parts) sum += digits * 10n ** BigInt(scale - decimals);
  return write(sum, scale);
}

function parse(text: string): { digits: bigint; decimals: number } {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) throw new TypeError(`${text} is no plain decimal`);
  return { digits: BigInt(`${sign}${whole}${fraction}`), decimals: fraction.length };
}

function write(sum: bigint, scale: number): string {
  const digits = (sum < 0n ? -sum : sum).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${sum < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const SHOWN_DECIMALS = 2;
const SHOWN_DIGITS = 2;

/**
 * Returns the decimal with at most two decimals, and a small one with its first two digits: `0.000055` for
 * `0.00005505`. A half is rounded away from zero. Anything but a plain decimal stays as it is.
 */
export function roundDecimal(text: string): string {
  if (!DECIMAL.test(text)) return text;
  const { digits, decimals } = parse(text);
  const length = (digits < 0n ? -digits : digits).toString().length;
  // How many decimals stay: two, or as many as the first two digits need.
  const kept = Math.max(SHOWN_DECIMALS, decimals - length + SHOWN_DIGITS);
  if (kept >= decimals) return write(digits, decimals);
  const unit = 10n ** BigInt(decimals - kept);
  const half = digits < 0n ? -(unit / 2n) : unit / 2n;
  return write((digits + half) / unit, kept);
}
