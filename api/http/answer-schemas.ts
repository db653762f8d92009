// Answers that many routes share. decisions.md section 1.
import { z } from 'zod';

export const nothing = z.null();

export const detailSchema = z.object({ detail: z.string(), code: z.string() });

/** Of what belongs to a node. */
export const pathSchema = z
  .string()
  .describe('The iteration that encloses the node, such as `LOOP[3]/INNER[0]`; empty outside loops');

export const badRequestSchema = z.union([detailSchema, z.record(z.string(), z.array(z.string()))]);

/** What every route with an API key may answer; the 429 only to a key, never to a session token. */
export const keyErrors = { 401: detailSchema, 403: detailSchema, 429: detailSchema };
