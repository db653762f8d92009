// The input in a body of run and re-run: flat with an API key, wrapped with a session token. Specification, "Running
// workflows".
import { z } from 'zod';
import { parseApiKeyInput, parseSessionInput, type RunInput } from '../../graph/input.js';
import type { AppContext } from './app-state.js';
import { parseFields } from './field-errors.js';
import { parseExactJsonBody } from './json-body.js';
import { readJsonBody, readTextBody, type BodyBounds } from './middleware/read-body.js';

const wrapper = z.object({ input_data: z.unknown().optional() });

/**
 * The `body` of a route whose `bodyFormat` is `run-input`. zod must not copy it, because `__proto__` is an ordinary key
 * here.
 */
export const runInputBody = z.unknown() as z.ZodType<RunInput | undefined>;

/**
 * Returns undefined when no input was sent: an empty body, or a wrapper without `input_data`. Run treats that as `{}`,
 * re-run as the original run's input. With an API key, text of any media type is an input; with a session token,
 * anything but a JSON object is a 400, and another media type a 415.
 */
export async function readRunInput(ctx: AppContext, bounds: BodyBounds): Promise<RunInput | undefined> {
  if (ctx.state.caller?.credential === 'session') {
    const { input_data: inputData } = parseFields(wrapper, await readJsonBody(ctx, bounds, parseExactJsonBody));
    return inputData === undefined ? undefined : parseSessionInput(inputData);
  }
  const text = await readTextBody(ctx, bounds);
  return text.trim() === '' ? undefined : parseApiKeyInput(text);
}
