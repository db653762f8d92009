import type { Step } from './step.js';

export function countUnless304(): Step {
  return async ({ state }, next) => {
    const { settle } = state;
    if (settle === undefined) {
      await next();
      return;
    }
    try {
      await next();
    } catch (error) {
      await settle(true);
      throw error;
    }
    const { result } = state;
    state.result = { ...result, headers: { ...result.headers, ...(await settle(result.status !== 304)) } };
  };
}
