// Parses ids in paths, queries and bodies. A malformed id is a 404 in a path and a 400 elsewhere.
import { z } from 'zod';
import { documentedAs } from './documented-as.js';

/** The maximum of the database's `integer`. */
export const MAX_ID = 2_147_483_647;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const pathId = documentedAs(
  z
    .string()
    .regex(/^\d{1,10}$/)
    .transform(Number)
    .refine((id) => id <= MAX_ID),
  { type: 'integer', minimum: 0, maximum: MAX_ID },
);

/** A UUID of any version and case. Becomes lower case, as the database returns it. */
export const uuid = documentedAs(
  z
    .string()
    .regex(UUID, 'Must be a valid UUID.')
    .transform((id) => id.toLowerCase()),
  { type: 'string', format: 'uuid' },
);

export const idParams = z.object({ id: pathId });
export const runParams = z.object({ id: pathId, run_id: uuid });

const MAX_PATH = 2000;
/** No drawing has a longer path (graph/compile-plan.ts), and indexes could not hold one. */
const MAX_PATH_BYTES = 1_600;
/** Checks only the innermost index, because a path of any other form names no stored iteration. */
const ITERATION = /^[^\0]+\[(?:0|[1-9]\d{0,8})\]$/;

export function isIterationPath(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES && ITERATION.test(path);
}

/** The `path` in queries and bodies: the iteration that encloses a node. */
export const iterationPath = documentedAs(
  z.string().max(MAX_PATH, { abort: true }).refine(isIterationPath, 'Must be like `LOOP[3]/INNER[0]`.'),
  { type: 'string', maxLength: MAX_PATH, description: 'The enclosing iteration, such as `LOOP[3]/INNER[0]`' },
);

export const nodeId = z
  .string()
  .min(1)
  .max(200)
  .refine((id) => !id.includes('\0'));
