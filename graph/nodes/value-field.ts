import { z } from 'zod';

/** `value`: any JSON; its strings may hold variables. */
export const valueField = z
  .unknown()
  .refine((value) => value !== undefined, { error: 'Field required' })
  .describe('Any JSON; strings in it may hold variables, and one that is exactly a variable keeps its type');

/** The result of the kinds that have one. */
export const valueOutputSchema = z.looseObject({
  content: z.string().describe('The value, as JSON text where it is no text'),
  value: z.unknown().describe('The value with its variables filled in'),
});
