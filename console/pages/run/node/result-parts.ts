// What a node's result consists of, read from the result itself: kinds are not known by name here.
import { isObject, type JsonObject } from '../../../drawing/json.js';

export interface ResultParts {
  /** Undefined where the result has no text. */
  content: string | undefined;
  /** A model has written the content: only models tell how many tokens they have used. */
  isAnswer: boolean;
  /** The id of the run that the node has started. */
  childRun: string | undefined;
  /** Everything else that the result holds, but the steps of an agent, which are shown by themselves. */
  rest: JsonObject;
}

export function readResult(result: unknown): ResultParts {
  if (!isObject(result)) return { content: undefined, isAnswer: false, childRun: undefined, rest: {} };
  const { content, steps, ...rest } = result;
  const isAnswer = isObject(rest['usage']);
  const isOfAgent = isAnswer && Array.isArray(steps) && steps.every(isObject);
  return {
    content: typeof content === 'string' ? content : undefined,
    isAnswer,
    childRun: readChildRun(rest),
    rest: {
      ...rest,
      ...(typeof content === 'string' || content === undefined ? {} : { content }),
      ...(isOfAgent || steps === undefined ? {} : { steps }),
    },
  };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Only the result of a sub-workflow has these fields and no others. */
function readChildRun(rest: JsonObject): string | undefined {
  const { run_id: runId, ...others } = rest;
  const isOfChild = Object.keys(others).toSorted().join() === 'output,status';
  return isOfChild && typeof runId === 'string' && UUID.test(runId) ? runId : undefined;
}

/** A sentence for each field that the validation has refused; empty where the result is no list of fields. */
export function readRefusal(result: unknown): readonly { field: string; sentence: string }[] {
  if (!Array.isArray(result)) return [];
  return result
    .filter(isObject)
    .flatMap((fields) => Object.entries(fields).map(([field, sentence]) => ({ field, sentence: String(sentence) })));
}
