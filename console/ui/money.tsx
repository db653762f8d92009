import './figures.css';

interface MoneyProps {
  /** As the service answers it: `{"USD": "0.00002"}`, by ISO 4217 code. Null where nothing is known yet. */
  amount: Readonly<Record<string, string>> | null | undefined;
  currency?: string;
}

/** The service's decimal exactly as it is: nothing is rounded, because small prices are most of the prices here. */
export function Money({ amount, currency = 'USD' }: MoneyProps) {
  const value = amount?.[currency];
  return <span className="figure">{value === undefined ? '–' : `${value} ${currency}`}</span>;
}
