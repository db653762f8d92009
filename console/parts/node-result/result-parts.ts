// The parts of a node's result are read from the result itself, because kinds are not known by name here.
import { isObject, type JsonObject } from '../../ui/json.js';

interface ResultParts {
  /** The text is undefined if the result has none. */
  content: string | undefined;
  /** Whether a model has written the content: only models report how many tokens they have used. */
  isAnswer: boolean;
  /** The id of the run that the node has started. */
  childRun: string | undefined;
  /** The other fields of the result. The steps of an agent are left out, because they are shown by themselves. */
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

/**
 * Returns a sentence for each field that the validation has refused. There is none if the result is no list of fields.
 */
export function readRefusal(result: unknown): readonly { field: string; sentence: string }[] {
  if (!Array.isArray(result)) return [];
  return result
    .filter(isObject)
    .flatMap((fields) => Object.entries(fields).map(([field, sentence]) => ({ field, sentence: String(sentence) })));
}

// The line or the run that an error names is read from its sentence.

interface NodeError {
  code: string;
  message: string;
}

/** Returns the line of the node's code, counted from 1, or undefined if the error names none. */
export function lineOfError(error: NodeError | undefined): number | undefined {
  const line = error?.code === 'code_error' ? /\(line (\d{1,6})\)$/.exec(error.message)?.[1] : undefined;
  return line === undefined ? undefined : Number(line);
}

const CHILD = /^The run ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) of the sub-workflow /;

/** Returns the id of the run of a sub-workflow that did not succeed, or undefined if it did not begin. */
export function failedChild(error: NodeError | undefined): string | undefined {
  return error?.code === 'child_failed' ? CHILD.exec(error.message)?.[1] : undefined;
}
