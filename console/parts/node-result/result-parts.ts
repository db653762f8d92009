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

const HOLDERS = ['json', 'output'];

/**
 * Returns the variable to which the paths in the JSON of the content are appended. A path within `root` finds a field
 * of the result before a key of the content. If the content has such a key, returns the field that has the same JSON.
 */
export function rootOfContent(root: string, result: unknown, structure: unknown): string {
  if (!isObject(result) || !isObject(structure)) return root;
  if (!Object.keys(structure).some((key) => Object.hasOwn(result, key))) return root;
  const json = JSON.stringify(structure);
  const holder = HOLDERS.find((field) => JSON.stringify(result[field]) === json);
  return holder === undefined ? root : `${root}.${holder}`;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Only results of sub-workflows have exactly these fields. */
function readChildRun(rest: JsonObject): string | undefined {
  const { run_id: runId, ...others } = rest;
  const isOfChild = Object.keys(others).toSorted().join() === 'output,status';
  return isOfChild && typeof runId === 'string' && UUID.test(runId) ? runId : undefined;
}

/**
 * Returns the fields that the validation refused, each with its sentence, from the result of a refused node: a list of
 * objects from field to sentence. Returns an empty list for any other result.
 */
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

/** Returns the id of the sub-workflow's run that failed or was cancelled; undefined if the error names no such run. */
export function failedChild(error: NodeError | undefined): string | undefined {
  return error?.code === 'child_failed' ? CHILD.exec(error.message)?.[1] : undefined;
}

// Servers report errors in JSON, each in a shape of its own.

const MESSAGE_KEYS = ['message', 'error_description', 'detail', 'title', 'msg', 'reason', 'error'];

/** Returns the readable message within an error in JSON, such as `{"error": {"message": ...}}`. */
export function sentenceIn(value: unknown, depth = 0): string | undefined {
  if (depth > 3) return undefined;
  if (Array.isArray(value)) return sentenceIn(value[0], depth + 1);
  if (!isObject(value)) return undefined;
  const nested = [value['error'], value['errors']].map((each) => sentenceIn(each, depth + 1));
  const own = MESSAGE_KEYS.map((key) => value[key]);
  return [...nested, ...own].find((text): text is string => typeof text === 'string' && text.trim() !== '');
}

/** Finds a message in an answer whose end was cut off, and which is therefore no valid JSON. */
const CUT = /"(?:message|error_description|detail|title)"\s*:\s*("(?:[^"\\]|\\.)*")/;

/** Returns the sentence in an answer that the message of an error quotes, or undefined if there is none. */
export function sentenceInMessage(message: string): string | undefined {
  const start = message.search(/[[{]/);
  if (start < 0) return undefined;
  const quoted = message.slice(start);
  const whole = parseOrNone(quoted);
  if (whole !== undefined) return sentenceIn(whole);
  const text = CUT.exec(quoted)?.[1];
  const sentence = text === undefined ? undefined : parseOrNone(text);
  return typeof sentence === 'string' && sentence !== '' ? sentence : undefined;
}

/**
 * Returns the error message in the answer of an HTTP node that succeeded although the server answered with status 400
 * or more.
 */
export function sentenceOfAnswer(result: unknown): string | undefined {
  if (!isObject(result) || !(Number(result['status_code']) >= 400) || typeof result['content'] !== 'string') {
    return undefined;
  }
  return sentenceIn(result['json'] ?? parseOrNone(result['content']));
}

function parseOrNone(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
