// Checks what a model says against `response_format`: for LLM nodes, and for whoever else asks a model for JSON.
import { LRUCache } from 'lru-cache';
import { writeJson } from '../../graph/json-text.js';
import type { SchemaCheck } from '../../graph/json-schema.js';
import {
  compileForm,
  invalidFormat,
  readAnswer,
  type AnswerForm,
  type CheckedAnswer,
} from '../../graph/response-format.js';
import { OutOfTimeError, withinTime } from './within-time.js';

/** Schemas of a legal size compile within a second. The worker does nothing else meanwhile. */
const CHECK_WITHIN_MS = 3_000;

/** By the schema as JSON text: a workflow uses its own again and again. Compiled, a schema is larger than its text. */
const checks = new LRUCache<string, SchemaCheck>({
  max: 100,
  maxSize: 512 * 1024,
  sizeCalculation: (_check, text) => text.length + 1,
});

/** Throws, as `checkAnswer` does, for a form by which nothing can be checked: before anybody pays for an answer. */
export function prepareForm(form: AnswerForm): void {
  bounded(() => checkOf(form));
}

/**
 * Reads an answer as JSON and checks it against its form (extensions, sections 1.2 and 7). Returns the JSON, in which
 * numbers are as they were written, or what is wrong with it in words that the model can be told. Throws a `NodeError`
 * with the code `invalid_response_format` for a schema that cannot be compiled, or not checked within three seconds.
 */
export function checkAnswer(content: string, form: AnswerForm): CheckedAnswer {
  const answer = readAnswer(content);
  if ('problem' in answer) return answer;
  const problem = bounded(() => checkOf(form)(answer.json));
  return problem === undefined ? answer : { problem };
}

function bounded<T>(work: () => T): T {
  try {
    return withinTime(CHECK_WITHIN_MS, work);
  } catch (error) {
    if (!(error instanceof OutOfTimeError || error instanceof RangeError)) throw error;
    throw invalidFormat('to check an answer against the schema takes too long');
  }
}

function checkOf(form: AnswerForm): SchemaCheck {
  if (form.schema === undefined) return compileForm(form);
  const text = writeJson(form.schema);
  const known = checks.get(text);
  if (known !== undefined) return known;
  const check = compileForm(form);
  checks.set(text, check);
  return check;
}
