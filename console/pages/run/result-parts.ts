// What a node's result consists of, read from the result itself: kinds are not known by name here.
import { isObject, ownValue, type JsonObject } from '../../drawing/json.js';

interface ResultParts {
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

// What the sentence of an error names, read from the sentence itself.

interface NodeError {
  code: string;
  message: string;
}

/** The line of the node's code, counted from 1; undefined where the error names none. */
export function lineOfError(error: NodeError | undefined): number | undefined {
  const line = error?.code === 'code_error' ? /\(line (\d{1,6})\)$/.exec(error.message)?.[1] : undefined;
  return line === undefined ? undefined : Number(line);
}

const CHILD = /^The run ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) of the sub-workflow /;

/** The id of the run of a sub-workflow that did not succeed; undefined where it did not begin. */
export function failedChild(error: NodeError | undefined): string | undefined {
  return error?.code === 'child_failed' ? CHILD.exec(error.message)?.[1] : undefined;
}

// Why the service has refused to run a workflow again.

/** Of the body of a refused re-run: `<label>, <field>: <sentence>` for each field of each node; empty for other answers. */
export function refusalsOf(body: unknown, labels: ReadonlyMap<string, string>): string[] {
  const nodes = ownValue(ownValue(body, 'data'), 'data');
  if (!isObject(nodes)) return [];
  return Object.entries(nodes).flatMap(([id, entry]) =>
    readRefusal(ownValue(entry, 'result')).map(
      ({ field, sentence }) => `${labels.get(id) ?? id}, ${field}: ${sentence}`,
    ),
  );
}
