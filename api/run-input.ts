// The one place where the body of run and re-run becomes an input. Specification, "Running workflows".
import { parseApiKeyInput, type RunInput } from '../graph/input.js';
import type { Caller } from './route.js';

/**
 * Undefined when the body is empty: a run takes `{}` then, a re-run what the original run was given. With a session token
 * the body is `{input_data}`, which `parseSessionInput` of graph/input.ts takes.
 */
export function readRunInput(_caller: Caller, body: string): RunInput | undefined {
  return body.trim() === '' ? undefined : parseApiKeyInput(body);
}
