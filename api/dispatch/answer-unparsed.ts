import { ApiError } from '../http/errors.js';
import type { RouteDeclaration } from '../http/route.js';
import type { Step } from './step.js';

/** Lets the route answer a body that cannot be parsed. */
export function answerUnparsed(toResult: NonNullable<RouteDeclaration['answerUnparsed']>): Step {
  return async ({ state }, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'parse_error') throw error;
      state.result = toResult(error);
    }
  };
}
