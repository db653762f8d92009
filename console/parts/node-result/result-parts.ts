// Reads the parts of a result from its shape, because this code does not know the kinds of nodes.
import { isObject, type JsonObject } from '../../../graph/json.js';

interface ResultParts {
  /** Undefined if the result has no text. */
  content: string | undefined;
  /** True if a model wrote the content: only models report token counts. */
  isAnswer: boolean;
  childRun: string | undefined;
  /** The remaining fields, without an agent's steps, which have a view of their own. */
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

/** Only results of sub-workflows have exactly these fields. */
function readChildRun(rest: JsonObject): string | undefined {
  const { run_id: runId, ...others } = rest;
  const isOfChild = Object.keys(others).toSorted().join() === 'output,status';
  return isOfChild && typeof runId === 'string' && UUID.test(runId) ? runId : undefined;
}

/** Returns one sentence per field that the validation refused; empty if the result is not a list of fields. */
export function readRefusal(result: unknown): readonly { field: string; sentence: string }[] {
  if (!Array.isArray(result)) return [];
  return result
    .filter(isObject)
    .flatMap((fields) => Object.entries(fields).map(([field, sentence]) => ({ field, sentence: String(sentence) })));
}

// Errors contain a line number or a run id only within their message.

interface NodeError {
  code: string;
  message: string;
}

/** Returns the line of the node's code, from 1, or undefined if the error names none. */
export function lineOfError(error: NodeError | undefined): number | undefined {
  const line = error?.code === 'code_error' ? /\(line (\d{1,6})\)$/.exec(error.message)?.[1] : undefined;
  return line === undefined ? undefined : Number(line);
}

const CHILD = /^The run ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) of the sub-workflow /;

/** Returns the run id of a failed sub-workflow, or undefined if the run did not start. */
export function failedChild(error: NodeError | undefined): string | undefined {
  return error?.code === 'child_failed' ? CHILD.exec(error.message)?.[1] : undefined;
}
