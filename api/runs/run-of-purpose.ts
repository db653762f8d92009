import { ApiError } from '../http/errors.js';

/** Returns the 400 for a test run or an answer of the assistant that was to be marked, resumed or run again. */
export function refusePurpose(purpose: 'test' | 'assistant', cannotBe: 'marked' | 'resumed' | 'run again'): ApiError {
  if (purpose === 'test') return new ApiError(400, 'run_is_test', `This is a test run, which cannot be ${cannotBe}.`);
  const detail = `This is an answer of the assistant in the editor, which cannot be ${cannotBe}.`;
  return new ApiError(400, 'run_is_assistant', detail);
}
