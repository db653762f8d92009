// What a thread can be asked, and its answers (child.ts).
import { LRUCache } from 'lru-cache';
import { answerQuestions, type Question, type QuestionMode } from '../graph/judge.js';
import { compileSchema, schemaProblem, type SchemaCheck } from '../graph/json-schema.js';
import { parseJson } from '../graph/json-text.js';
import { NodeError } from '../graph/node-error.js';

export type Work =
  /** Which of the questions of one node hold. */
  | { kind: 'questions'; questions: readonly Question[]; mode: QuestionMode }
  /** Whether a value fits a schema, both as JSON text; without a value, whether the schema can be used. */
  | { kind: 'schema'; schema: string; value?: string };

export type Reply =
  /** The indexes of the questions that hold. */
  | { kind: 'held'; held: number[] }
  /** `problem`: the first thing that does not fit. */
  | { kind: 'checked'; problem: string | undefined }
  /** Nothing can be checked by the schema, for this reason. */
  | { kind: 'unusable'; reason: string }
  /** The node fails. */
  | { kind: 'failed'; code: string; message: string };

/** By the schema as JSON text: a workflow uses its own again and again. Compiled, a schema is larger than its text. */
const checks = new LRUCache<string, SchemaCheck>({
  max: 50,
  maxSize: 256 * 1024,
  sizeCalculation: (_check, text) => text.length + 1,
});

export function perform(work: Work): Reply {
  if (work.kind === 'schema') return checkBySchema(work);
  try {
    return { kind: 'held', held: answerQuestions(work.questions, work.mode) };
  } catch (error) {
    if (error instanceof NodeError) return { kind: 'failed', code: error.code, message: error.message };
    throw error;
  }
}

function checkBySchema({ schema, value }: Work & { kind: 'schema' }): Reply {
  try {
    const check = checkOf(schema);
    return { kind: 'checked', problem: value === undefined ? undefined : check(parseJson(value)) };
  } catch (error) {
    // The stack overflows where a schema refers to itself without end.
    return { kind: 'unusable', reason: error instanceof Error ? error.message : 'the schema cannot be compiled' };
  }
}

function checkOf(text: string): SchemaCheck {
  const known = checks.get(text);
  if (known !== undefined) return known;
  const schema = parseJson(text);
  const problem = schemaProblem(schema);
  if (problem !== undefined) throw new Error(problem);
  const check = compileSchema(schema as object);
  checks.set(text, check);
  return check;
}
