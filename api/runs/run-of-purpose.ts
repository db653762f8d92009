import { ApiError } from '../http/errors.js';

/** The error of a run of another purpose, which cannot be what a run of the workflow can. */
export function refusePurpose(purpose: 'test' | 'assistant', cannotBe: 'marked' | 'resumed' | 'run again'): ApiError {
  if (purpose === 'test') return new ApiError(400, 'run_is_test', `This is a test run, which cannot be ${cannotBe}.`);
  const detail = `This is an answer of the assistant in the editor, which cannot be ${cannotBe}.`;
  return new ApiError(400, 'run_is_assistant', detail);
}
