// Transactions of the chat proxy, as the API lists them.

export interface ChatTransaction {
  id: string;
  status: string;
  amount: Record<string, string>;
  is_estimated: boolean;
  reason: string;
}

/** The price in USD at 1 USD a million input tokens and 2 USD a million output tokens. */
export function price(input: number, output: number): number {
  return Number(((input + 2 * output) / 1e6).toFixed(9));
}
