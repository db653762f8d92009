// Sums of the service's decimal strings, exactly.

type Amount = Readonly<Record<string, string>>;

/** The sum by currency; what is no plain decimal counts as nothing. */
export function sumAmounts(amounts: readonly Amount[]): Amount {
  const sums = new Map<string, string>();
  for (const amount of amounts) {
    for (const [currency, value] of Object.entries(amount)) {
      sums.set(currency, addDecimals(sums.get(currency) ?? '0', value));
    }
  }
  return Object.fromEntries(sums);
}

export function addDecimals(left: string, right: string): string {
  return combine(left, right, (a, b) => a + b);
}

export function subtractDecimals(left: string, right: string): string {
  return combine(left, right, (a, b) => a - b);
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

function combine(left: string, right: string, act: (a: bigint, b: bigint) => bigint): string {
  const scale = Math.max(placesOf(left), placesOf(right));
  return write(act(read(left, scale), read(right, scale)), scale);
}

function placesOf(text: string): number {
  return DECIMAL.exec(text)?.[3]?.length ?? 0;
}

function read(text: string, scale: number): bigint {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return 0n;
  const units = BigInt(whole + fraction.padEnd(scale, '0'));
  return sign === '-' ? -units : units;
}

function write(units: bigint, scale: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
