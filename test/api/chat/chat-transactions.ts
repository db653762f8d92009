// What calls of the chat proxy are charged.

export interface ChatTransaction {
  id: string;
  status: string;
  amount: Record<string, string>;
  is_estimated: boolean;
  reason: string;
}

/** At 1 and 2 USD a million. */
export function price(input: number, output: number): number {
  return Number(((input + 2 * output) / 1e6).toFixed(9));
}
