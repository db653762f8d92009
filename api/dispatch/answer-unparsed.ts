import { ApiError } from '../http/errors.js';
import type { RouteDeclaration } from '../http/route.js';
import type { Step } from './step.js';

/** Replaces the `parse_error` of a body by the route's own answer. */
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
