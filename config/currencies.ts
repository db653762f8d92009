// Converts USD amounts for answers with the configured table.
import { readFileSync } from 'node:fs';
import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { ConfigError, type Environment } from './environment.js';

/** Maps an ISO 4217 code to the units of that currency for one USD. USD itself is always present, at 1. */
export type Currencies = ReadonlyMap<string, Decimal>;
/** Maps the codes of the table to plain decimals: `{"USD": "0.0123", "EUR": "0.0114"}`. */
type Amount = Record<string, string>;

const SAMPLE: Record<string, string> = { USD: '1', EUR: '0.92' };
// Amounts are never rounded, so that the sum of converted amounts equals the converted sum. The database's decimals and
// the rates are finite, so their products are.
const Exact = Decimal.clone({ precision: 20_000 });

const fileSchema = z.record(
  z.string().regex(/^[A-Z]{3}$/, 'currency codes have three capital letters'),
  z.string().regex(/^\d{1,9}(\.\d{1,12})?$/, 'a rate is a plain decimal given as a string'),
);

/** Throws `ConfigError`. */
export function loadCurrencies(environment: Environment): Currencies {
  const table = environment.currenciesFile === undefined ? SAMPLE : readTable(environment.currenciesFile);
  return new Map(Object.entries({ ...table, USD: '1' }).map(([code, rate]) => [code, new Decimal(rate)]));
}

/** `usd` is a decimal in the form that the database returns. */
export function toAmount(usd: string, currencies: Currencies): Amount {
  const amount: Amount = {};
  for (const [code, rate] of currencies) {
    amount[code] = new Exact(usd).times(rate).toFixed();
  }
  return amount;
}

/** Adds amounts without rounding. */
export function sumOf(amounts: readonly string[]): Decimal {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Exact(0));
}

function readTable(file: string): Record<string, string> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new ConfigError(`CURRENCIES_FILE: ${file} is not a readable JSON file.`);
  }
  const parsed = fileSchema.safeParse(content);
  if (!parsed.success) throw new ConfigError(`CURRENCIES_FILE: ${parsed.error.issues[0]!.message}.`);
  return parsed.data;
}
