import { ApiError } from '../http/errors.js';

/** A test run is none of the runs of its workflow: `cannotBe` says what it cannot be. */
export function runIsTest(cannotBe: 'marked' | 'resumed' | 'run again'): ApiError {
  return new ApiError(400, 'run_is_test', `This is a test run, which cannot be ${cannotBe}.`);
}
