import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import type { RunTransaction } from '../../db/spending/billing-repository.js';
import { pathSchema } from '../http/answer-schemas.js';
import { amountSchema } from '../projects/project-view.js';

export const transactionSchema = z.object({
  id: z.string(),
  operation: z.string(),
  status: z.enum(['Succeeded', 'Error']),
  amount: amountSchema,
  is_estimated: z
    .boolean()
    .describe('Nobody has reported the tokens: they were reckoned from the number of characters'),
  reason: z.string(),
  description: z.string(),
  run_id: z.string(),
  path: pathSchema,
  user_id: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export function toTransaction<RunId extends string | null>(
  { amount_usd: amountUsd, ...rest }: Omit<RunTransaction, 'run_id'> & { run_id: RunId },
  currencies: Currencies,
): Omit<z.infer<typeof transactionSchema>, 'run_id'> & { run_id: RunId } {
  return {
    ...rest,
    amount: toAmount(amountUsd, currencies),
    created_at: rest.created_at.toISOString(),
    updated_at: rest.updated_at.toISOString(),
  };
}
