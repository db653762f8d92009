// The input in a body of run and re-run: flat with an API key, wrapped with a session token. Specification, "Running
// workflows"; decisions.md section 6.
import { z } from 'zod';
import { parseApiKeyInput, parseSessionInput, type RunInput } from '../../graph/input.js';
import type { AppContext } from '../http/app-state.js';
import { parseFields } from '../http/field-errors.js';
import { parseExactJsonBody } from '../http/json-body.js';
import { readJsonBody, readTextBody } from '../http/middleware/read-body.js';

const wrapper = z.object({ input_data: z.unknown().optional() });

/** For `body` of a route whose `bodyFormat` is `run-input`: not copied by zod, for `__proto__` is a key like any other. */
export const runInputBody = z.unknown() as z.ZodType<RunInput | undefined>;

/**
 * Undefined when no input was sent: an empty body, or a wrapper without `input_data`; run takes that as `{}`, re-run
 * as the original run's input. With a key any text of any media type is an input; with a session token what is no
 * JSON object is a 400, and another media type a 415.
 */
export async function readRunInput(ctx: AppContext, limitBytes: number): Promise<RunInput | undefined> {
  if (ctx.state.caller?.credential === 'session') {
    const { input_data: inputData } = parseFields(wrapper, await readJsonBody(ctx, limitBytes, parseExactJsonBody));
    return inputData === undefined ? undefined : parseSessionInput(inputData);
  }
  const text = await readTextBody(ctx, limitBytes);
  return text.trim() === '' ? undefined : parseApiKeyInput(text);
}
