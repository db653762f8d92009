import { z } from 'zod';
import { isObject, type JsonObject } from './json.js';

/**
 * A JSON object whose keys users choose: ids of nodes or of fields. Zod's own records drop the key `__proto__`, so the
 * value of a node or field with this id would get lost.
 */
export const anyObject = z
  .unknown()
  .check(({ value, issues }) => {
    if (!isObject(value)) issues.push({ code: 'invalid_type', expected: 'record', input: value });
  })
  .meta({ type: 'object', additionalProperties: {} }) as unknown as z.ZodType<JsonObject, JsonObject>;
