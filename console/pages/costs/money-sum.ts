// Adds plain decimals as the service writes them (`0.00002`), exactly: doubles would not.

/** The sum with as many decimals as it needs. Throws for what is no plain decimal. */
export function sumDecimals(texts: readonly string[]): string {
  const parts = texts.map(parse);
  const scale = Math.max(0, ...parts.map(({ decimals }) => decimals));
  let sum = 0n;
  for (const { digits, decimals } of parts) sum += digits * 10n ** BigInt(scale - decimals);
  return write(sum, scale);
}

function parse(text: string): { digits: bigint; decimals: number } {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) throw new TypeError(`${text} is no plain decimal`);
  return { digits: BigInt(`${sign}${whole}${fraction}`), decimals: fraction.length };
}

function write(sum: bigint, scale: number): string {
  const digits = (sum < 0n ? -sum : sum).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${sum < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
