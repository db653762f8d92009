// Schemas of answers that many routes share.
import { z } from 'zod';

export const nothing = z.null();

export const detailSchema = z.object({ detail: z.string(), code: z.string() }).meta({ id: 'Error' });

export const pathSchema = z
  .string()
  .describe('The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops');

export const badRequestSchema = z
  .union([detailSchema, z.record(z.string(), z.array(z.string()))])
  .meta({ id: 'BadRequest' });
