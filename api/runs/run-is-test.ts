import { ApiError } from '../http/errors.js';

export function runIsTest(cannotBe: 'marked' | 'resumed' | 'run again'): ApiError {
  return new ApiError(400, 'run_is_test', `This is a test run, which cannot be ${cannotBe}.`);
}
