// The kinds of work of a process, and its replies.
import { LRUCache } from 'lru-cache';
import { withCheckBudget } from '../graph/check-budget.js';
import type { JsonObject } from '../graph/json.js';
import { TooLargeFile, translateN8n } from '../n8n/translate-n8n.js';
import { mapCombined, type Combined } from '../graph/combined.js';
import { answerQuestions, type ComparedTexts, type Question, type QuestionMode } from '../graph/judge.js';
import { compileSchema, schemaProblem, type SchemaCheck } from '../graph/json-schema.js';
import { parseJson } from '../graph/json-text.js';
import { NodeError } from '../graph/node-error.js';
import { DocumentError, readDocument, type DocumentFormat } from './read-document.js';
import { readOpenapiWork, type OpenapiReply, type OpenapiWork } from './read-openapi.js';

export type Work =
  /**
   * Finds questions whose answer is true, as `mode` says. `left` and `right` are indexes of `texts`, so that the
   * message contains each text once.
   */
  | { kind: 'questions'; texts: string[]; questions: Combined<PackedTexts>[]; mode: QuestionMode }
  /** Checks a value against a schema, both as JSON text. Without a value, checks if the schema can be used. */
  | { kind: 'schema'; schema: string; value?: string }
  /** Translates a file of n8n. The file and the answer are JSON text. */
  | { kind: 'n8n'; file: string }
  | ({ kind: 'openapi' } & OpenapiWork)
  | { kind: 'document'; format: DocumentFormat; bytes: Uint8Array };

interface PackedTexts extends Pick<ComparedTexts, 'operator'> {
  left: number;
  right: number;
}

export function questionsWork(questions: readonly Question[], mode: QuestionMode): Work {
  const indexes = new Map<string, number>();
  const indexOf = (text: string): number => {
    const index = indexes.get(text) ?? indexes.size;
    indexes.set(text, index);
    return index;
  };
  const packed = questions.map((question) =>
    mapCombined(question, ({ left, operator, right }) => {
      return { left: indexOf(left), operator, right: indexOf(right) };
    }),
  );
  return { kind: 'questions', texts: [...indexes.keys()], questions: packed, mode };
}

export type Reply =
  /** The indexes of the questions that were found. */
  | { kind: 'held'; held: number[] }
  /** `problem` describes the first mismatch. */
  | { kind: 'checked'; problem: string | undefined }
  /** The schema cannot be used. */
  | { kind: 'unusable'; reason: string }
  | { kind: 'text'; text: string }
  | OpenapiReply
  /** The work has failed. For a document, the message completes a sentence, for example `is encrypted`. */
  | { kind: 'failed'; code: string; message: string };

/**
 * Compiled schemas by their JSON text, because a workflow uses its schema repeatedly. The limit on the size of the
 * texts is low, because a compiled schema is larger than its text.
 */
const checks = new LRUCache<string, SchemaCheck>({
  max: 50,
  maxSize: 256 * 1024,
  sizeCalculation: (_check, text) => text.length + 1,
});

export function perform(work: Work): Reply | Promise<Reply> {
  if (work.kind === 'document') return readText(work);
  if (work.kind === 'openapi') return readOpenapiWork(work);
  if (work.kind === 'schema') return checkBySchema(work);
  if (work.kind === 'n8n') return translate(work);
  const { texts, mode } = work;
  const questions = work.questions.map((question) =>
    mapCombined(question, ({ left, operator, right }) => {
      return { left: texts[left]!, operator, right: texts[right]! };
    }),
  );
  try {
    return { kind: 'held', held: answerQuestions(questions, mode) };
  } catch (error) {
    if (error instanceof NodeError) return { kind: 'failed', code: error.code, message: error.message };
    throw error;
  }
}

async function readText({ format, bytes }: Work & { kind: 'document' }): Promise<Reply> {
  try {
    return { kind: 'text', text: await readDocument(format, bytes) };
  } catch (error) {
    if (error instanceof DocumentError) return { kind: 'failed', code: error.code, message: error.message };
    return { kind: 'failed', code: 'invalid_document', message: 'is broken' };
  }
}

function translate({ file }: Work & { kind: 'n8n' }): Reply {
  try {
    const translated = withCheckBudget(() => translateN8n(JSON.parse(file) as JsonObject));
    return { kind: 'text', text: JSON.stringify(translated) };
  } catch (error) {
    if (error instanceof TooLargeFile) return { kind: 'failed', code: 'too_large', message: error.message };
    throw error;
  }
}

function checkBySchema({ schema, value }: Work & { kind: 'schema' }): Reply {
  try {
    const check = checkOf(schema);
    return { kind: 'checked', problem: value === undefined ? undefined : check(parseJson(value)) };
  } catch (error) {
    // This also catches the stack overflow that a schema causes if it refers to itself endlessly.
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
